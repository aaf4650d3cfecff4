"""Python files that are plain enough are read by what is compiled, where there was a compiler: the same, sooner."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from scrubjay.code_index.facts.facts_json import facts_as_written
from scrubjay.code_index.models import FileFacts
from scrubjay.native.library import library

_OUTLINE, _USES, _FLOW = range(3)
_POINTER, _INT64, _INT32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32


def read(content: bytes) -> FileFacts | None:
    """What a file says; None when it is not plain enough, or nothing was compiled."""
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
        return facts_as_written(outline, uses, flow)

    return read_by_it


def _part(part: Callable[..., int], reading: int, which: int) -> bytes:
    length = _INT64()
    return ctypes.string_at(part(reading, which, ctypes.byref(length)), length.value)
