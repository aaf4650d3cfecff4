"""Reads plain Python files with the C library, if it is available: the same facts, faster."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from scrubjay.code_index.facts.facts_json import deserialize_facts
from scrubjay.code_index.models import FileFacts
from scrubjay.native.library import library

_OUTLINE, _USES, _FLOW = range(3)
_POINTER, _INT64, _INT32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32


def read(content: bytes) -> FileFacts | None:
    """Return the facts of a file; None if the C library is missing or declines the file."""
    native = library()
    return _reader(native)(content) if native is not None else None


@cache
def _reader(native: ctypes.CDLL) -> Callable[[bytes], FileFacts | None]:
    started: Any = native.scrubjay_python_read
    started.restype, started.argtypes = _POINTER, (ctypes.c_char_p, _INT64)
    part: Any = native.scrubjay_python_part
    part.restype, part.argtypes = _POINTER, (_POINTER, _INT32, _POINTER)
    ended: Any = native.scrubjay_python_free
    ended.restype, ended.argtypes = None, (_POINTER,)

    def read_by_it(content: bytes) -> FileFacts | None:
        reading = started(content, len(content))
        if reading is None:
            return None
        try:
            outline, uses, flow = (_part(part, reading, which) for which in (_OUTLINE, _USES, _FLOW))
        finally:
            ended(reading)
        return deserialize_facts(outline, uses, flow)

    return read_by_it


def _part(part: Callable[..., int], reading: int, which: int) -> bytes:
    length = _INT64()
    return ctypes.string_at(part(reading, which, ctypes.byref(length)), length.value)
