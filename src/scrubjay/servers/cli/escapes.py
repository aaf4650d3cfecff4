"""Text that cannot do anything to a terminal but be read."""

import re

# Control characters (C0 but newline and tab, DEL, C1), line and paragraph separators, marks and overrides that reorder
# what is read, and halves of surrogate pairs. C1 matters: U+009B begins a command on terminals that speak UTF-8.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with every character that could steer a terminal written out, as in `\\x1b`."""
    return _UNSAFE.sub(_written_out, text.replace("\r\n", "\n"))


def visible_json(document: str) -> str:
    """The same for a JSON document, in which such characters can only stand in strings: it stays the same JSON."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", document)


def one_line(text: str) -> str:
    """The text on a single line, its line breaks and tabs written out."""
    return text.replace("\n", "\\n").replace("\t", "\\t")


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
