"""What a text names that could be code: paths, qualified names, and whatever stands between backticks."""

import re

# More of a text are not looked up.
MOST = 50
# Every repetition has an end, or a long text of such parts would be looked through once for each of them.
_NAME = r"[A-Za-z_$][\w$]{0,100}"
_QUALIFIED = rf"{_NAME}(?:(?:\.|::|#|->){_NAME}){{1,10}}"
_FOLDER = r"(?:[\w@.+-]{1,100}/)"
# A path may go on with the name of what is defined in it.
_FILE = rf"{_FOLDER}{{0,30}}[\w@+-][\w@.+-]{{0,100}}\.\w{{1,10}}(?:::{_NAME}(?:\.{_NAME}){{0,10}})?"
_PATH = rf"{_FILE}|{_FOLDER}{{1,30}}[\w@+-]{{1,100}}"
_BACKTICKED = re.compile(r"`([^`\n]{1,300})`")
_PLAIN = re.compile(rf"(?<![\w/.@`-])(?:{_PATH}|{_QUALIFIED})(?![\w/@-])")
_CODE = re.compile(rf"{_PATH}|{_QUALIFIED}|{_NAME}")


def mentions(text: str) -> list[str]:
    """What could be the name of code, each once, in the order of the text; whether there is such code is not asked."""
    found: dict[str, None] = {}
    for match in _BACKTICKED.finditer(text):
        name = match[1].strip().removesuffix("()")
        if _CODE.fullmatch(name):
            found[name] = None
    for match in _PLAIN.finditer(_BACKTICKED.sub(" ", text)):
        found[match[0].rstrip(".")] = None
    return list(found)[:MOST]
