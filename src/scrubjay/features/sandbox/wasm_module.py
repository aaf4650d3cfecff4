"""A module at work: its functions, its memory, and what it asks of its host, all of it answered by hand.

No file, no socket and no program can be named by any of the answers: there is no WASI behind them.
"""

import ctypes
import os
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import wasmtime

# Not public: calls by the public way look at the types of each argument anew, and take ten times as long.
from wasmtime import _ffi

_ffi_any: Final = cast(Any, _ffi)

# WASI's numbers for "all went well" and "there is no such descriptor".
_OK: Final = 0
_BAD_DESCRIPTOR: Final = 8
_CLOCK_REALTIME: Final = 0
# Nobody needs more chance at once; a guest that asks for more gets none.
_MOST_RANDOM: Final = 64 * 1024

HostFunction = Callable[..., int | None]


class Trapped(Exception):
    """The guest cannot go on: its time, its stack or its memory is used up."""


class Template:
    """A module whose instances all ask the same host functions; those of the instance that runs now are called."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        self.engine = engine
        self.now: Instance | None = None
        self.results: dict[str, int] = {
            own.name: len(own.type.results) for own in module.exports if isinstance(own.type, wasmtime.FuncType)
        }
        """How many numbers each function answers with."""
        linker = wasmtime.Linker(engine)
        for own in module.imports:
            key = own.module, own.name or ""
            linker.define_func(*key, cast(wasmtime.FuncType, own.type), self._answering(key))
        self._ready = linker.instantiate_pre(module)

    def _answering(self, key: tuple[str, str]) -> HostFunction:
        def answer(*numbers: int) -> int | None:
            return self.now.answers[key](*numbers) if self.now is not None else None

        return answer

    def instance(self, store: wasmtime.Store) -> wasmtime.Instance:
        return self._ready.instantiate(store)


class Instance:
    """One module in one store, made for one run and thrown away with it."""

    def __init__(
        self, template: Template, store: wasmtime.Store, answers: Mapping[tuple[str, str], HostFunction]
    ) -> None:
        self._store = store
        self._template = template
        self._open: Any = cast(Any, store)._context()
        self.answers = {**self._wasi(), **answers}
        self._functions: dict[str, tuple[Any, int]] = {}
        template.now = self
        try:
            self._instance: Any = cast(Any, template.instance(store))._instance
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            raise Trapped(str(error)) from error
        self._memory = self._export("memory").of.memory

    @property
    def _context(self) -> Any:
        if self._open is None:
            raise Trapped("its store is closed")
        return self._open

    def close(self) -> None:
        """Throw all of it away; what is called afterwards raises `Trapped`."""
        self._open = None
        self._store.close()

    @property
    def size(self) -> int:
        return int(_ffi_any.wasmtime_memory_data_size(self._context, ctypes.byref(self._memory)))

    def call(self, name: str, *arguments: int) -> int:
        """What a function answers; all arguments are numbers of 32 bits."""
        function, results = self._functions.get(name) or self._function(name)
        given = (_ffi_any.wasmtime_val_t * len(arguments))()
        for place, own in zip(given, arguments, strict=True):
            place.kind = 0
            place.of.i32 = own
        answer = (_ffi_any.wasmtime_val_t * 1)()
        trap: Any = cast(Any, ctypes.POINTER(_ffi_any.wasm_trap_t))()
        error = _ffi_any.wasmtime_func_call(
            self._context, ctypes.byref(function), given, len(arguments), answer, results, ctypes.byref(trap)
        )
        if error:
            raise Trapped(str(cast(Any, wasmtime.WasmtimeError)._from_ptr(error)))
        if trap:
            raise Trapped(str(cast(Any, wasmtime.Trap)._from_ptr(trap)))
        return int(answer[0].of.i32) if results else 0

    def read(self, start: int, length: int) -> bytes:
        return ctypes.string_at(self._address(start, length), length)

    def write(self, start: int, content: bytes) -> None:
        ctypes.memmove(self._address(start, len(content)), content, len(content))

    def _address(self, start: int, length: int) -> int:
        """Where in our own memory so many bytes of the guest's are, if they are all of it."""
        start &= 0xFFFFFFFF  # pointers come as signed numbers
        if length < 0 or start + length > self.size:
            raise Trapped("the guest pointed outside of its memory")
        begin = _ffi_any.wasmtime_memory_data(self._context, ctypes.byref(self._memory))
        return ctypes.addressof(begin.contents) + start

    def _function(self, name: str) -> tuple[Any, int]:
        found = self._functions[name] = self._export(name).of.func, self._template.results[name]
        return found

    def _export(self, name: str) -> Any:
        written, item = name.encode(), _ffi_any.wasmtime_extern_t()
        buffer = ctypes.create_string_buffer(written)
        if not _ffi_any.wasmtime_instance_export_get(
            self._context, ctypes.byref(self._instance), buffer, len(written), ctypes.byref(item)
        ):
            raise Trapped(f"there is no {name}")
        return item

    def number(self, start: int) -> int:
        return int(struct.unpack("<i", self.read(start, 4))[0])

    def _wasi(self) -> dict[tuple[str, str], HostFunction]:
        named: dict[str, HostFunction] = {
            "random_get": self._random,
            "environ_sizes_get": self._no_variables,
            "environ_get": lambda *_: _OK,
            "clock_time_get": self._clock,
            "fd_write": lambda *_: _BAD_DESCRIPTOR,
            "fd_close": lambda *_: _BAD_DESCRIPTOR,
            "fd_fdstat_get": lambda *_: _BAD_DESCRIPTOR,
            "fd_seek": lambda *_: _BAD_DESCRIPTOR,
            "proc_exit": lambda *_: None,  # what comes after it is a trap
        }
        return {("wasi_snapshot_preview1", name): function for name, function in named.items()}

    def _random(self, start: int, length: int) -> int:
        if not 0 <= length <= _MOST_RANDOM:
            return _BAD_DESCRIPTOR
        return self._answered(start, os.urandom(length))

    def _no_variables(self, count: int, size: int) -> int:
        return self._answered(count, bytes(4)) or self._answered(size, bytes(4))

    def _clock(self, kind: int, precision: int, start: int) -> int:
        told = time.time_ns() if kind == _CLOCK_REALTIME else time.monotonic_ns()
        # A program needs no finer clock, and what spies on caches does.
        return self._answered(start, struct.pack("<Q", told // 1_000_000 * 1_000_000))

    def _answered(self, start: int, content: bytes) -> int:
        try:
            self.write(start, content)
        except Trapped:
            return _BAD_DESCRIPTOR
        return _OK


def store_within(engine: wasmtime.Engine, memory_bytes: int) -> wasmtime.Store:
    store = wasmtime.Store(engine)
    store.set_limits(memory_size=memory_bytes, table_elements=100_000, instances=1, tables=4, memories=1)
    return store
