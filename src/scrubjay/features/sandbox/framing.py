"""How the server and a worker talk: a length, then so many bytes of JSON."""

import json
import struct
from typing import Any, Final

LENGTH: Final = struct.Struct("<I")
# A text of a megabyte in JSON within JSON, each of its signs written as an escape.
MOST_BYTES: Final = 16 * 1024 * 1024


def frame(message: dict[str, Any]) -> bytes:
    content = json.dumps(message, separators=(",", ":")).encode()
    return LENGTH.pack(len(content)) + content
