"""A JavaScript world with one program in it: QuickJS in WebAssembly, and the few ways between it and its host."""

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import wasmtime

from scrubjay.features.sandbox.wasm_module import Instance, Template, Trapped, store_within

# The engine refuses a little before the memory itself ends, so that its own error can still be made.
_SPARE_BYTES: Final = 4 * 1024 * 1024
_OK: Final = 0
_TELL: Final = b"tell"
MOST_TOLD_BYTES: Final = 1_200_000


@dataclass(slots=True)
class Listener:
    """Who hears what the program tells: the kind, and as much of the text as may be."""

    tell: Callable[[str, str, int], None]
    """Kind, text, and how many bytes the whole text has."""
    asked_for: list[str] = field(default_factory=list[str])
    """Modules that it tried to import."""


class BrokenWorld(Exception):
    """The program made its own world unusable; nothing more can be done in it."""


class Guest:
    """One world. When anything here raises `Trapped`, only `close` is left to do."""

    def __init__(
        self,
        template: Template,
        store: wasmtime.Store,
        memory_bytes: int,
        prelude: str,
        given: str,
        hears: Listener,
    ) -> None:
        self._hears = hears
        self._instance = Instance(
            template,
            store,
            {
                ("env", "host_call"): self._host_call,
                ("env", "host_interrupt"): lambda: 0,  # the epochs see to that, and to what asks no more
                ("env", "host_module_normalize"): self._normalize,
                ("env", "host_module_load"): lambda *_: 0,
            },
        )
        self._instance.call("set_memory_limit", memory_bytes - _SPARE_BYTES)
        place = self._placed(_TELL)
        tell = self._instance.call("new_function", place, len(_TELL))
        made = self._evaluated(prelude)
        self._drive = self._called(made, [tell, self._text(given)])

    @property
    def size(self) -> int:
        return self._instance.size

    def drive(self, kind: str, one: str = "", two: str = "") -> str:
        """Have the prelude do something, then all that follows from it."""
        answer = self._string(self._called(self._drive, [self._text(kind), self._text(one), self._text(two)]))
        self.run_jobs()
        return answer

    def run_jobs(self) -> None:
        """All that promises have left to do; each call does a part of it."""
        while (done := self._instance.call("execute_pending_jobs")) > 0:
            pass
        if done < 0:
            raise BrokenWorld("what the program left to do cannot be done")

    def can_be_read(self, source: str) -> bool:
        """Whether it is JavaScript; nothing of it is run."""
        content = f"() => {source}".encode("utf-8", "replace")
        out = self._instance.call("qjs_alloc", 4)
        return self._instance.call("eval_code", self._placed(content), len(content), out) == _OK

    def close(self) -> None:
        self._instance.close()

    # -- into the world -------------------------------------------------------------------------------------

    def _placed(self, content: bytes) -> int:
        place = self._instance.call("qjs_alloc", len(content))
        if place == 0:
            raise Trapped("no memory")
        self._instance.write(place, content)
        return place

    def _text(self, text: str) -> int:
        content = text.encode("utf-8", "replace")
        place = self._placed(content or b"\0")
        handle = self._instance.call("new_string", place, len(content))
        self._instance.call("qjs_free", place, len(content) or 1)
        if handle == 0:
            raise Trapped("no memory")
        return handle

    def _evaluated(self, source: str) -> int:
        content = source.encode()
        out = self._instance.call("qjs_alloc", 4)
        status = self._instance.call("eval_code", self._placed(content), len(content), out)
        if status != _OK:
            raise BrokenWorld(f"the prelude failed: {self._exception()}")
        return self._instance.number(out)

    def _called(self, function: int, arguments: list[int]) -> int:
        undefined = self._instance.call("new_undefined")
        values = self._placed(struct.pack(f"<{len(arguments)}i", *arguments))
        out = self._instance.call("qjs_alloc", 4)
        status = self._instance.call("call_function", function, undefined, values, len(arguments), out)
        handle = self._instance.number(out)
        for own in (undefined, *arguments):
            self._instance.call("free_value", own)
        self._instance.call("qjs_free", values, 4 * len(arguments))
        self._instance.call("qjs_free", out, 4)
        if status != _OK:
            raise BrokenWorld(self._exception())
        return handle

    # -- out of the world -----------------------------------------------------------------------------------

    def _string(self, handle: int, most: int = MOST_TOLD_BYTES) -> str:
        text, _ = self._cut_string(handle, most)
        self._instance.call("free_value", handle)
        return text

    def _cut_string(self, handle: int, most: int) -> tuple[str, int]:
        if self._instance.call("get_string", handle) != _OK:
            return "", 0
        length = self._instance.call("qjs_last_len")
        content = self._instance.read(self._instance.call("qjs_last_ptr"), min(length, most)) if length > 0 else b""
        self._instance.call("qjs_result_free")
        return content.decode("utf-8", "ignore"), length

    def _exception(self) -> str:
        out = self._instance.call("qjs_alloc", 4)
        if self._instance.call("last_exception", out) != _OK:
            return "it failed, and does not say why"
        thrown, name = self._instance.number(out), b"message"
        if self._instance.call("get_prop", thrown, self._placed(name), len(name), out) != _OK:
            return "it failed, and does not say why"
        return self._string(self._instance.number(out), 10_000) or "it failed, and does not say why"

    def _host_call(self, name: int, name_length: int, this: int, count: int, values: int) -> int:
        """What the program tells. Nothing may be raised here: the engine would have no way to go on."""
        try:
            if count >= 1:
                told, length = self._cut_string(self._instance.number(values), MOST_TOLD_BYTES)
                if told:
                    self._hears.tell(told[0], told[1:], length - 1)
            return self._instance.call("new_undefined")
        except Exception:
            return -1

    def _normalize(self, base: int, base_length: int, name: int, name_length: int, out: int) -> int:
        """An import: noted, and never found."""
        try:
            if len(self._hears.asked_for) < 100:
                self._hears.asked_for.append(self._instance.read(name, min(name_length, 200)).decode("utf-8", "ignore"))
        except Exception:  # noqa: S110 - as above
            pass
        return 0


def guest_within(
    template: Template,
    memory_bytes: int,
    watch: Callable[[wasmtime.Store], None],
    prelude: str,
    given: dict[str, Any],
    hears: Listener,
) -> Guest:
    store = store_within(template.engine, memory_bytes)
    watch(store)
    try:
        return Guest(template, store, memory_bytes, prelude, json.dumps(given), hears)
    except BaseException:
        store.close()
        raise
