"""Source code without the secrets in it, every byte of the rest where it was."""

import re

from recollect.domain.secrets import find_secrets

_NO_LINE_END = re.compile(rb"[^\r\n]")
# What is hidden may show that what was next to it is a secret as well.
_MOST_TIMES = 3


def hidden(content: bytes) -> bytes:
    """The content with each secret overwritten by as many letters, so that syntax, places and lines stay as they are.

    The whole file is looked at: of a part alone it cannot be told that it is from the middle of a key.
    """
    for _ in range(_MOST_TIMES):
        text = content.decode("utf-8", "surrogateescape")
        found = find_secrets(text)
        if not found:
            break
        parts: list[bytes] = []
        end = 0
        for secret in found:
            parts += [_bytes(text[end : secret.start]), _NO_LINE_END.sub(b"x", _bytes(text[secret.start : secret.end]))]
            end = secret.end
        content = b"".join([*parts, _bytes(text[end:])])
    return content


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
