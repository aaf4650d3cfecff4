"""A JavaScript context for one program: QuickJS in WebAssembly, and the messages between it and its host."""

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import wasmtime

from scrubjay.features.sandbox.wasm_module import WasmInstance, WasmTemplate, WasmTrap, create_store

# The engine's limit is below the memory's limit, so that it can still create its out-of-memory error.
_SPARE_BYTES: Final = 4 * 1024 * 1024
_OK: Final = 0
_EMIT: Final = b"emit"
_NO_MESSAGE: Final = "the program failed without an error message"
MAX_MESSAGE_BYTES: Final = 1_200_000


@dataclass(slots=True)
class GuestEvents:
    """Receives the messages of a program and records its imports."""

    on_message: Callable[[str, str, int], None]
    """Called with the kind, the text (possibly cut) and the full length of the text in bytes."""
    requested_modules: list[str] = field(default_factory=list[str])
    """Modules that the program tried to import."""


class GuestError(Exception):
    """The program made its own JavaScript context unusable."""


class Guest:
    """One JavaScript context. After a method raised `WasmTrap`, only `close` may be called."""

    def __init__(
        self,
        template: WasmTemplate,
        store: wasmtime.Store,
        memory_bytes: int,
        prelude: str,
        settings: str,
        events: GuestEvents,
    ) -> None:
        self._events = events
        self._instance = WasmInstance(
            template,
            store,
            {
                ("env", "host_call"): self._host_call,
                ("env", "host_interrupt"): lambda: 0,  # epochs interrupt it, even in code that never asks
                ("env", "host_module_normalize"): self._normalize_module,
                ("env", "host_module_load"): lambda *_: 0,
            },
        )
        self._instance.call("set_memory_limit", memory_bytes - _SPARE_BYTES)
        address = self._copy_in(_EMIT)
        emit = self._instance.call("new_function", address, len(_EMIT))
        driver = self._evaluate(prelude)
        self._drive = self._call_function(driver, [emit, self._new_string(settings)])

    @property
    def size(self) -> int:
        return self._instance.size

    def drive(self, kind: str, one: str = "", two: str = "") -> str:
        """Send a command to the prelude, run the pending promise jobs, and return the answer of the command."""
        answer = self._take_string(
            self._call_function(self._drive, [self._new_string(kind), self._new_string(one), self._new_string(two)])
        )
        self.run_jobs()
        return answer

    def run_jobs(self) -> None:
        """Run all pending promise jobs."""
        while (done := self._instance.call("execute_pending_jobs")) > 0:
            pass
        if done < 0:
            raise GuestError("the pending promise jobs of the program failed")

    def can_parse(self, source: str) -> bool:
        """Return True if the source is valid JavaScript, without running it."""
        content = f"() => {source}".encode("utf-8", "replace")
        out = self._instance.call("qjs_alloc", 4)
        return self._instance.call("eval_code", self._copy_in(content), len(content), out) == _OK

    def close(self) -> None:
        self._instance.close()

    # -- host to guest --------------------------------------------------------------------------------------

    def _copy_in(self, content: bytes) -> int:
        address = self._instance.call("qjs_alloc", len(content))
        if address == 0:
            raise WasmTrap("no memory")
        self._instance.write(address, content)
        return address

    def _new_string(self, text: str) -> int:
        content = text.encode("utf-8", "replace")
        address = self._copy_in(content or b"\0")
        handle = self._instance.call("new_string", address, len(content))
        self._instance.call("qjs_free", address, len(content) or 1)
        if handle == 0:
            raise WasmTrap("no memory")
        return handle

    def _evaluate(self, source: str) -> int:
        content = source.encode()
        out = self._instance.call("qjs_alloc", 4)
        status = self._instance.call("eval_code", self._copy_in(content), len(content), out)
        if status != _OK:
            raise GuestError(f"the prelude failed: {self._exception_message()}")
        return self._instance.number(out)

    def _call_function(self, function: int, arguments: list[int]) -> int:
        undefined = self._instance.call("new_undefined")
        values = self._copy_in(struct.pack(f"<{len(arguments)}i", *arguments))
        out = self._instance.call("qjs_alloc", 4)
        status = self._instance.call("call_function", function, undefined, values, len(arguments), out)
        handle = self._instance.number(out)
        for value in (undefined, *arguments):
            self._instance.call("free_value", value)
        self._instance.call("qjs_free", values, 4 * len(arguments))
        self._instance.call("qjs_free", out, 4)
        if status != _OK:
            raise GuestError(self._exception_message())
        return handle

    # -- guest to host --------------------------------------------------------------------------------------

    def _take_string(self, handle: int, max_bytes: int = MAX_MESSAGE_BYTES) -> str:
        text, _ = self._read_string(handle, max_bytes)
        self._instance.call("free_value", handle)
        return text

    def _read_string(self, handle: int, max_bytes: int) -> tuple[str, int]:
        if self._instance.call("get_string", handle) != _OK:
            return "", 0
        length = self._instance.call("qjs_last_len")
        content = (
            self._instance.read(self._instance.call("qjs_last_ptr"), min(length, max_bytes)) if length > 0 else b""
        )
        self._instance.call("qjs_result_free")
        return content.decode("utf-8", "ignore"), length

    def _exception_message(self) -> str:
        out = self._instance.call("qjs_alloc", 4)
        if self._instance.call("last_exception", out) != _OK:
            return _NO_MESSAGE
        thrown, name = self._instance.number(out), b"message"
        if self._instance.call("get_prop", thrown, self._copy_in(name), len(name), out) != _OK:
            return _NO_MESSAGE
        return self._take_string(self._instance.number(out), 10_000) or _NO_MESSAGE

    def _host_call(self, name: int, name_length: int, this: int, count: int, values: int) -> int:
        """Receive a message of the program. Must not raise: an exception cannot pass through the engine."""
        try:
            if count >= 1:
                message, length = self._read_string(self._instance.number(values), MAX_MESSAGE_BYTES)
                if message:
                    self._events.on_message(message[0], message[1:], length - 1)
            return self._instance.call("new_undefined")
        except Exception:
            return -1

    def _normalize_module(self, base: int, base_length: int, name: int, name_length: int, out: int) -> int:
        """Record an import; the module is never found."""
        try:
            if len(self._events.requested_modules) < 100:
                self._events.requested_modules.append(
                    self._instance.read(name, min(name_length, 200)).decode("utf-8", "ignore")
                )
        except Exception:  # noqa: S110 - as above
            pass
        return 0


def create_guest(
    template: WasmTemplate,
    memory_bytes: int,
    watch: Callable[[wasmtime.Store], None],
    prelude: str,
    settings: dict[str, Any],
    events: GuestEvents,
) -> Guest:
    store = create_store(template.engine, memory_bytes)
    watch(store)
    try:
        return Guest(template, store, memory_bytes, prelude, json.dumps(settings), events)
    except BaseException:
        store.close()
        raise
