"""Escape characters with which text could control a terminal."""

import re

# Control characters (C0 except newline and tab, DEL, C1), line and paragraph separators, bidirectional marks and
# overrides, and lone surrogates. C1 matters: U+009B starts a control sequence on UTF-8 terminals.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return the text with every character that could control a terminal escaped, as in `\\x1b`."""
    return _UNSAFE.sub(_written_out, text.replace("\r\n", "\n"))


def visible_json(document: str) -> str:
    """Like `visible`, for a JSON document: such characters occur only in strings, so the data stays the same."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", document)


def one_line(text: str) -> str:
    """Return the text on one line, with line breaks and tabs escaped."""
    return text.replace("\n", "\\n").replace("\t", "\\t")


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
