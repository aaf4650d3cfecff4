"""A WebAssembly instance: its functions, its memory, and handwritten host functions in place of WASI.

None of the host functions takes a path, an address or a program.
"""

import ctypes
import os
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import wasmtime

# Private API: the public one checks the types of all arguments at each call and takes ten times as long.
from wasmtime import _ffi

_ffi_any: Final = cast(Any, _ffi)

# WASI error codes: success, and bad file descriptor (EBADF).
_OK: Final = 0
_BAD_DESCRIPTOR: Final = 8
_CLOCK_REALTIME: Final = 0
# Bytes per call of `random_get`; larger requests fail.
_MAX_RANDOM_BYTES: Final = 64 * 1024

HostFunction = Callable[..., int | None]


class WasmTrap(Exception):
    """The guest cannot continue, usually because its time, stack or memory is exhausted."""


class WasmTemplate:
    """A compiled module, linked once. Host calls are dispatched to the instance that is active."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        self.engine = engine
        self.active: WasmInstance | None = None
        self.result_counts: dict[str, int] = {
            entry.name: len(entry.type.results) for entry in module.exports if isinstance(entry.type, wasmtime.FuncType)
        }
        """Number of results of each exported function."""
        linker = wasmtime.Linker(engine)
        for entry in module.imports:
            key = entry.module, entry.name or ""
            linker.define_func(*key, cast(wasmtime.FuncType, entry.type), self._dispatching(key))
        self._instance_pre = linker.instantiate_pre(module)

    def _dispatching(self, key: tuple[str, str]) -> HostFunction:
        def answer(*numbers: int) -> int | None:
            return self.active.host_functions[key](*numbers) if self.active is not None else None

        return answer

    def instance(self, store: wasmtime.Store) -> wasmtime.Instance:
        return self._instance_pre.instantiate(store)


class WasmInstance:
    """One instance of a module in its own store, used for one run."""

    def __init__(
        self, template: WasmTemplate, store: wasmtime.Store, answers: Mapping[tuple[str, str], HostFunction]
    ) -> None:
        self._store = store
        self._template = template
        self._open_context: Any = cast(Any, store)._context()
        self.host_functions = {**self._wasi(), **answers}
        self._functions: dict[str, tuple[Any, int]] = {}
        template.active = self
        try:
            self._instance: Any = cast(Any, template.instance(store))._instance
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            raise WasmTrap(str(error)) from error
        self._memory = self._export("memory").of.memory

    @property
    def _context(self) -> Any:
        if self._open_context is None:
            raise WasmTrap("the store is closed")
        return self._open_context

    def close(self) -> None:
        """Free the instance; later calls raise `WasmTrap`."""
        self._open_context = None
        self._store.close()

    @property
    def size(self) -> int:
        return int(_ffi_any.wasmtime_memory_data_size(self._context, ctypes.byref(self._memory)))

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function with 32-bit integers and return its result, 0 without one."""
        function, results = self._functions.get(name) or self._function(name)
        values = (_ffi_any.wasmtime_val_t * len(arguments))()
        for slot, value in zip(values, arguments, strict=True):
            slot.kind = 0
            slot.of.i32 = value
        answer = (_ffi_any.wasmtime_val_t * 1)()
        trap: Any = cast(Any, ctypes.POINTER(_ffi_any.wasm_trap_t))()
        error = _ffi_any.wasmtime_func_call(
            self._context, ctypes.byref(function), values, len(arguments), answer, results, ctypes.byref(trap)
        )
        if error:
            raise WasmTrap(str(cast(Any, wasmtime.WasmtimeError)._from_ptr(error)))
        if trap:
            raise WasmTrap(str(cast(Any, wasmtime.Trap)._from_ptr(trap)))
        return int(answer[0].of.i32) if results else 0

    def read(self, start: int, length: int) -> bytes:
        return ctypes.string_at(self._address(start, length), length)

    def write(self, start: int, content: bytes) -> None:
        ctypes.memmove(self._address(start, len(content)), content, len(content))

    def _address(self, start: int, length: int) -> int:
        """Return the host address of a range of guest memory; raise `WasmTrap` if the range is out of bounds."""
        start &= 0xFFFFFFFF  # pointers are passed as signed integers
        if length < 0 or start + length > self.size:
            raise WasmTrap("a guest pointer is out of bounds")
        begin = _ffi_any.wasmtime_memory_data(self._context, ctypes.byref(self._memory))
        return ctypes.addressof(begin.contents) + start

    def _function(self, name: str) -> tuple[Any, int]:
        found = self._functions[name] = self._export(name).of.func, self._template.result_counts[name]
        return found

    def _export(self, name: str) -> Any:
        written, item = name.encode(), _ffi_any.wasmtime_extern_t()
        buffer = ctypes.create_string_buffer(written)
        if not _ffi_any.wasmtime_instance_export_get(
            self._context, ctypes.byref(self._instance), buffer, len(written), ctypes.byref(item)
        ):
            raise WasmTrap(f"the module does not export {name}")
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
            "proc_exit": lambda *_: None,  # the guest traps after it returns
        }
        return {("wasi_snapshot_preview1", name): function for name, function in named.items()}

    def _random(self, start: int, length: int) -> int:
        if not 0 <= length <= _MAX_RANDOM_BYTES:
            return _BAD_DESCRIPTOR
        return self._write_result(start, os.urandom(length))

    def _no_variables(self, count: int, size: int) -> int:
        return self._write_result(count, bytes(4)) or self._write_result(size, bytes(4))

    def _clock(self, kind: int, precision: int, start: int) -> int:
        nanoseconds = time.time_ns() if kind == _CLOCK_REALTIME else time.monotonic_ns()
        # Milliseconds only: timing attacks on caches need a finer clock, programs do not.
        return self._write_result(start, struct.pack("<Q", nanoseconds // 1_000_000 * 1_000_000))

    def _write_result(self, start: int, content: bytes) -> int:
        try:
            self.write(start, content)
        except WasmTrap:
            return _BAD_DESCRIPTOR
        return _OK


def create_store(engine: wasmtime.Engine, memory_bytes: int) -> wasmtime.Store:
    store = wasmtime.Store(engine)
    store.set_limits(memory_size=memory_bytes, table_elements=100_000, instances=1, tables=4, memories=1)
    return store
