"""Blanks TypeScript syntax that the grammar does not support, so that the rest of the file can be parsed."""

import re

_TYPE_OF_EXPORT = re.compile(rb"\bexport(\s+type)(?=\s*\*)")
_VARIANCE = re.compile(rb"[<,]\s*((?:in\s+out|in|out)\s+)(?=[A-Za-z_$])")


def blank_unsupported_syntax(content: bytes) -> bytes:
    """Blank the `type` of `export type *` and the `in` and `out` of type parameters; no byte moves."""
    if b"export" in content:
        content = _TYPE_OF_EXPORT.sub(_blank, content)
    if b"out " in content or b"<in " in content:
        content = _VARIANCE.sub(_blank, content)
    return content


def _blank(match: re.Match[bytes]) -> bytes:
    whole, start = match.group(), match.start()
    first, last = match.start(1) - start, match.end(1) - start
    return whole[:first] + re.sub(rb"[^\s]", b" ", whole[first:last]) + whole[last:]
