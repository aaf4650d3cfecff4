"""One run inside a worker, from the request to the outcome."""

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scrubjay.features.sandbox.artifacts import ENGINE, STRIPPER, create_engine, load_module
from scrubjay.features.sandbox.guest import Guest, GuestError, GuestEvents, create_guest
from scrubjay.features.sandbox.source import remove_imports, strip_types
from scrubjay.features.sandbox.time_limits import EpochClock, TimeBudget
from scrubjay.features.sandbox.wasm_module import WasmTemplate, WasmTrap

MAX_RESULT_BYTES: Final = 1_000_000
MAX_CONSOLE_BYTES: Final = 256 * 1024
MAX_DENIED: Final = 100
_MB: Final = 1024 * 1024
_MEMORY_ERRORS: Final = ("out of memory",)
_SIZE_ERRORS: Final = ("string too long", "invalid array buffer length", "invalid array length")
_NO_STACK: Final = "call stack exhausted"
_UNRESOLVED: Final = "Error resolving module '"


@dataclass(slots=True)
class ConsoleBuffer:
    """Console output that is not sent yet; output beyond the limit of a run is dropped."""

    send: Callable[[dict[str, Any]], None]
    bytes_left: int = MAX_CONSOLE_BYTES
    truncated: bool = False
    pending: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def write(self, stream: str, text: str, length: int) -> None:
        content = text.encode()
        if length > self.bytes_left or length > len(content):
            self.truncated = True
            text = content[: self.bytes_left].decode("utf-8", "ignore")
        self.bytes_left = max(0, self.bytes_left - len(content))
        if text:
            self.pending.append((stream, text))

    def flush(self) -> None:
        if self.pending:
            lines, self.pending = self.pending, []
            self.send({"console": lines})


class SandboxRuntime:
    """The compiled modules and the clock that all runs of a worker share."""

    def __init__(self, folder: Path) -> None:
        self.engine = create_engine()
        self.quickjs = WasmTemplate(self.engine, load_module(ENGINE, folder, self.engine))
        self.stripper = WasmTemplate(self.engine, load_module(STRIPPER, folder, self.engine))
        self.prelude = Path(__file__).with_name("prelude.js").read_text("utf-8")
        self.epoch_clock: EpochClock | None = None

    def start_clock(self) -> None:
        self.epoch_clock = EpochClock(self.engine)


class ProgramRun:
    """One run of a program within its limits."""

    def __init__(
        self,
        runtime: SandboxRuntime,
        request: dict[str, Any],
        send: Callable[[dict[str, Any]], None],
        receive: Callable[[float], dict[str, Any]],
    ) -> None:
        """Prepare a run. `receive` returns the next answer to a tool call, or raises `TimeoutError` after a timeout."""
        self._runtime = runtime
        self._request = request
        self._send = send
        self._receive = receive
        self._console = ConsoleBuffer(send)
        self._denied: list[dict[str, str]] = []
        self._ending: tuple[str, str, int] | None = None
        self._calls = self._pending_calls = 0
        self._refused_calls: deque[tuple[str, str]] = deque()
        self._events = GuestEvents(self._on_message)
        self._guest: Guest | None = None
        self._budget = TimeBudget(
            seconds=request["seconds"], cpu_share=request["cpu_share"], on_tick=self._console.flush
        )

    def execute(self) -> dict[str, Any]:
        """Run the program and return the message with its outcome and resource usage."""
        try:
            ended = self._run()
        except WasmTrap as trapped:
            ended = self._trapped(str(trapped))
        except GuestError as broken:
            ended = self._guest_failure(str(broken))
        finally:
            size = 0
            if self._guest is not None:
                size = self._guest.size
                self._guest.close()
        for module in self._events.requested_modules:
            self._deny(self._violation_of(module), f"import {module}")
        self._console.flush()
        return {
            **ended,
            "elapsed_ms": round(self._budget.elapsed * 1000),
            "cpu_ms": round(self._budget.cpu * 1000, 1),
            "memory_bytes": size,
            "denied": self._denied,
            "truncated": self._console.truncated,
        }

    def _run(self) -> dict[str, Any]:
        code: str = self._request["code"]
        source = strip_types(self._runtime.stripper, code, self._budget)
        self._guest = js = create_guest(
            self._runtime.quickjs,
            self._request["memory_bytes"],
            self._budget.watch,
            self._runtime.prelude,
            self._request["settings"],
            self._events,
        )
        js.drive("start", source.text)
        while self._ending is None:
            if self._budget.remaining <= 0:
                return {"end": "timeout"}
            if self._refused_calls:
                js.drive("reject", *self._refused_calls.popleft())
                continue
            next_timer = js.drive("fire")
            if self._ending is None and not self._refused_calls and not self._wait(next_timer):
                if self._is_full:  # the engine silently drops the continuation of a promise that it has no memory for
                    return self._memory_violation()
                return _error("Runtime", "the program waits for a promise that never resolves", "")
        kind, text, length = self._ending
        if kind == "x":
            return self._failure(code, source.lines_differ, json.loads(text))
        if length > MAX_RESULT_BYTES:
            return _error("Resource", f"the result has too many bytes; the maximum is {MAX_RESULT_BYTES}", "")
        return {"end": "success", "output": text}

    def _wait(self, next_timer: str) -> bool:
        """Wait for a timer, an answer or the time limit; return False if there is nothing to wait for."""
        if not next_timer and not self._pending_calls:
            return False
        remaining = max(0.0, self._budget.remaining)
        if next_timer and not next_timer.isdecimal():
            raise GuestError("the program changed its timers into something else")
        seconds = min(remaining, int(next_timer) / 1000) if next_timer else remaining
        self._console.flush()
        if not self._pending_calls:
            time.sleep(seconds)
            return True
        try:
            answer = self._receive(seconds)
        except TimeoutError:
            return True
        self._pending_calls -= 1
        if self._guest is not None:
            self._guest.drive("resolve" if answer["ok"] else "reject", str(answer["answer"]), answer["text"])
        return True

    # -- messages of the program --------------------------------------------------------------------------------

    def _on_message(self, kind: str, text: str, length: int) -> None:
        if kind == "o" or kind == "e":
            self._console.write("out" if kind == "o" else "err", text, length)
        elif kind == "t":
            self._console.truncated = True
        elif kind == "c":
            self._call(text, length)
        elif kind == "d":
            denial = json.loads(text)
            self._deny(str(denial["kind"]), str(denial["what"])[:200])
        elif self._ending is None and kind in "rx":
            self._ending = kind, text, length

    def _call(self, text: str, length: int) -> None:
        number, name, arguments = text.split(" ", 2)
        self._calls += 1
        if self._calls > self._request["max_calls"]:
            problem = {"code": "rate_limited", "message": f"a run may make at most {self._request['max_calls']} calls"}
        elif length > MAX_RESULT_BYTES:
            problem = {"code": "too_large", "message": f"arguments may have at most {MAX_RESULT_BYTES} bytes"}
        else:
            self._pending_calls += 1
            self._console.flush()
            self._send({"call": int(number), "name": name, "arguments": arguments})
            return
        self._refused_calls.append((number, json.dumps({**problem, "hint": None})))

    def _deny(self, kind: str, what: str) -> None:
        if len(self._denied) < MAX_DENIED:
            self._denied.append({"kind": kind, "what": what})

    def _violation_of(self, module: str) -> str:
        modules: dict[str, str] = self._request["settings"]["modules"]
        return modules.get(module.removeprefix("node:"), "Permission")

    # -- failures -------------------------------------------------------------------------------------------------

    def _trapped(self, trap: str) -> dict[str, Any]:
        if self._budget.remaining <= 0:
            return {"end": "timeout"}
        if _NO_STACK in trap:
            return _error("Resource", "stack overflow: function calls are nested too deeply", "")
        if self._is_full:
            return self._memory_violation()
        return _error("Resource", f"the engine failed: {trap.strip().splitlines()[-1].strip()[:200]}", "")

    @property
    def _is_full(self) -> bool:
        return self._guest is not None and self._guest.size + _MB > self._request["memory_bytes"]

    def _guest_failure(self, problem: str) -> dict[str, Any]:
        if any(known in problem for known in _MEMORY_ERRORS):
            return self._memory_violation()
        return _error("Runtime", problem, "")

    def _failure(self, code: str, lines_differ: bool, thrown: dict[str, Any]) -> dict[str, Any]:
        name, message = str(thrown["name"]), str(thrown["message"])
        if thrown["isSyntax"]:
            return self._syntax_error(code, message)
        if thrown["isRefusal"] and self._denied:
            return self._refusal(self._denied[-1]["kind"], message)
        if message.startswith(_UNRESOLVED) and self._events.requested_modules:
            module = next(
                (one for one in self._events.requested_modules if f"'{one}'" in message),
                self._events.requested_modules[-1],
            )
            return self._refusal(self._violation_of(module), f"the module '{module}' is not available in the sandbox")
        # Without free memory the engine cannot create the error and throws null.
        if (name == "InternalError" and message in _MEMORY_ERRORS) or (message == "null" and self._is_full):
            return self._memory_violation()
        if thrown["code"]:
            name = f"{name} ({thrown['code']})"
        kind = "Resource" if message in _SIZE_ERRORS else "Permission" if thrown["code"] == "forbidden" else "Runtime"
        where = "" if lines_differ else _program_frames(str(thrown["stack"]))
        return _error(kind, f"{name}: {message}" if name and name != "Error" else message, where)

    def _refusal(self, kind: str, message: str) -> dict[str, Any]:
        if kind == "Permission":
            return _error("Permission", message, "")
        return {"end": "violation", "kind": kind, "reason": message}

    def _memory_violation(self) -> dict[str, Any]:
        max_mb = self._request["memory_bytes"] // _MB
        return {
            "end": "violation",
            "kind": "MemoryLimit",
            "reason": f"the program needs more than {max_mb} MB of memory",
        }

    def _syntax_error(self, code: str, message: str) -> dict[str, Any]:
        """Return a syntax error, or the refusal of an import if imports are the only invalid syntax."""
        rest, modules = remove_imports(code)
        if modules and self._can_parse(rest):
            for module in modules:
                self._deny(self._violation_of(module), f"import {module}")
            kinds = [self._violation_of(module) for module in modules]
            worst = next((index for index in range(len(kinds)) if kinds[index] != "Permission"), 0)
            return self._refusal(kinds[worst], f"the module '{modules[worst]}' is not available in the sandbox")
        return _error("Syntax", f"SyntaxError: {message}", "")

    def _can_parse(self, program: str) -> bool:
        source = strip_types(self._runtime.stripper, program, self._budget)
        return self._guest is not None and self._guest.can_parse(source.text)


def _error(kind: str, message: str, where: str) -> dict[str, Any]:
    return {"end": "error", "kind": kind, "message": message, "where": where}


def _program_frames(stack: str) -> str:
    """Return the stack frames that are in the program itself."""
    lines = [line.strip() for line in stack.splitlines() if "<input>" in line]
    return "\n".join(f"    {line.replace('<input>', 'program')}" for line in lines[:10])
