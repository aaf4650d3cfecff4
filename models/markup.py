"""Reads prose out of Markdown and reStructuredText."""

import re
from collections.abc import Iterator

_FENCES = ("```", "~~~")
_UNDERLINES = set("=-~^")
# Blocks that begin like this are code, tables or directives.
_NOT_PROSE = (">>>", "$", "|", "..")
_MARKS = str.maketrans(dict.fromkeys("`*#>|", " "))


def paragraphs(markup: str) -> Iterator[tuple[str, str]]:
    """The readable paragraphs; the first one under a heading comes with it."""
    heading = ""
    for block in _blocks(markup):
        if block[0].startswith("#"):
            heading = plain(block[0])
            continue
        if block[0].startswith("    ") or block[0].lstrip().startswith(_NOT_PROSE):
            continue
        paragraph = plain("\n".join(block))
        if _readable(paragraph):
            yield heading if 2 <= len(heading.split()) <= 12 else "", paragraph
            heading = ""


def _blocks(markup: str) -> Iterator[list[str]]:
    """Lines that stand together; a heading stands alone and begins with `#`, however it was written."""
    block: list[str] = []
    for line in [*without_code(markup).splitlines(), ""]:
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


def without_code(markup: str) -> str:
    """The text outside of fenced blocks; one that is never closed goes to the end."""
    kept: list[str] = []
    fenced = False
    for line in markup.splitlines():
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
            kept.append("")
        elif not fenced:
            kept.append(line)
    return "\n".join(kept)


def without_links(markup: str) -> str:
    """Links as their words, images as nothing."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", markup)
    return re.sub(r"\[([^\][]*)\](?:\([^)]*\)|\[[^\]]*\])?", r"\1", text)


def plain(markup: str) -> str:
    """One line of words: no links, tags, addresses, roles or marks."""
    text = re.sub(r"<[^<>]*>|\w+://\S*|:[\w-]+:(?=`)", " ", without_links(markup))
    text = re.sub(r"^\s*[-+] ", " ", text)
    return " ".join(text.translate(_MARKS).split())


def _readable(paragraph: str) -> bool:
    words = paragraph.split()
    letters = sum(word.strip(".,;:()\"'").isalpha() for word in words)
    return 8 <= len(words) <= 250 and paragraph.isascii() and letters > 0.7 * len(words)
