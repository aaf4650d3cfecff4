"""Names in a text that may refer to code: paths, qualified names, and anything in backticks."""

import re

# Further names of a text are ignored.
MAX_MENTIONS = 50
# Every repetition is bounded: otherwise a long text of such parts takes quadratic time.
_NAME = r"[A-Za-z_$][\w$]{0,100}"
_QUALIFIED = rf"{_NAME}(?:(?:\.|::|#|->){_NAME}){{1,10}}"
_FOLDER = r"(?:[\w@.+-]{1,100}/)"
# A path may continue with `::` and a definition in it.
_FILE = rf"{_FOLDER}{{0,30}}[\w@+-][\w@.+-]{{0,100}}\.\w{{1,10}}(?:::{_NAME}(?:\.{_NAME}){{0,10}})?"
_PATH = rf"{_FILE}|{_FOLDER}{{1,30}}[\w@+-]{{1,100}}"
_BACKTICKED = re.compile(r"`([^`\n]{1,300})`")
_PLAIN = re.compile(rf"(?<![\w/.@`-])(?:{_PATH}|{_QUALIFIED})(?![\w/@-])")
_CODE = re.compile(rf"{_PATH}|{_QUALIFIED}|{_NAME}")


def code_mentions(text: str) -> list[str]:
    """Return possible names of code, in text order and without duplicates; they may not exist."""
    found: dict[str, None] = {}
    for match in _BACKTICKED.finditer(text):
        name = match[1].strip().removesuffix("()")
        if _CODE.fullmatch(name):
            found[name] = None
    for match in _PLAIN.finditer(_BACKTICKED.sub(" ", text)):
        found[match[0].rstrip(".")] = None
    return list(found)[:MAX_MENTIONS]
