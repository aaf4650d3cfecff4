"""Extract prose from Markdown and reStructuredText."""

import re
from collections.abc import Iterator

_FENCES = ("```", "~~~")
_UNDERLINES = set("=-~^")
# Blocks that start with one of these are code, tables or directives.
_NOT_PROSE = (">>>", "$", "|", "..")
_MARKS = str.maketrans(dict.fromkeys("`*#>|", " "))


def paragraphs(markup: str) -> Iterator[tuple[str, str]]:
    """Yield (heading, paragraph) for each paragraph of prose. Only the first paragraph of a section has a heading."""
    heading = ""
    for block in _blocks(markup):
        if block[0].startswith("#"):
            heading = plain_text(block[0])
            continue
        if block[0].startswith("    ") or block[0].lstrip().startswith(_NOT_PROSE):
            continue
        paragraph = plain_text("\n".join(block))
        if _is_prose(paragraph):
            yield heading if 2 <= len(heading.split()) <= 12 else "", paragraph
            heading = ""


def _blocks(markup: str) -> Iterator[list[str]]:
    """Yield blocks of consecutive lines. A heading is a block of its own and starts with `#`, also if underlined."""
    block: list[str] = []
    for line in [*remove_code(markup).splitlines(), ""]:
        text = line.strip()
        if len(text) >= 3 and len(set(text)) == 1 and text[0] in _UNDERLINES:
            if block:
                yield [f"# {block[-1].strip()}"]
        elif text and not line.startswith("#"):
            block.append(line)
            continue
        elif block:
            yield block
        block = []
        if line.startswith("#"):
            yield [line]


def remove_code(markup: str) -> str:
    """Return the text without fenced code blocks. An unclosed fence extends to the end."""
    kept: list[str] = []
    fenced = False
    for line in markup.splitlines():
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
            kept.append("")
        elif not fenced:
            kept.append(line)
    return "\n".join(kept)


def remove_links(markup: str) -> str:
    """Replace links by their text and remove images."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", markup)
    return re.sub(r"\[([^\][]*)\](?:\([^)]*\)|\[[^\]]*\])?", r"\1", text)


def plain_text(markup: str) -> str:
    """Return the text on one line without links, HTML tags, URLs, roles and formatting characters."""
    text = re.sub(r"<[^<>]*>|\w+://\S*|:[\w-]+:(?=`)", " ", remove_links(markup))
    text = re.sub(r"^\s*[-+] ", " ", text)
    return " ".join(text.translate(_MARKS).split())


def _is_prose(paragraph: str) -> bool:
    words = paragraph.split()
    letters = sum(word.strip(".,;:()\"'").isalpha() for word in words)
    return 8 <= len(words) <= 250 and paragraph.isascii() and letters > 0.7 * len(words)
