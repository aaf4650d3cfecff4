"""One run in a worker, from a program to how it ended."""

import json
import select
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scrubjay.features.sandbox.artifacts import ENGINE, STRIPPER, engine, loaded
from scrubjay.features.sandbox.guest import BrokenWorld, Guest, Listener, guest_within
from scrubjay.features.sandbox.source import without_imports, without_types
from scrubjay.features.sandbox.time_limits import Allowance, Clockwork
from scrubjay.features.sandbox.wasm_module import Template, Trapped

MOST_RESULT_BYTES: Final = 1_000_000
MOST_CONSOLE_BYTES: Final = 256 * 1024
MOST_DENIED: Final = 100
_MB: Final = 1024 * 1024
_MEMORY_ERRORS: Final = ("out of memory",)
_SIZE_ERRORS: Final = ("string too long", "invalid array buffer length", "invalid array length")
_NO_STACK: Final = "call stack exhausted"
_UNRESOLVED: Final = "Error resolving module '"


@dataclass(slots=True)
class Console:
    """What the program said and nobody was told yet; of the whole, no more than there may be."""

    send: Callable[[dict[str, Any]], None]
    left: int = MOST_CONSOLE_BYTES
    truncated: bool = False
    waiting: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def say(self, stream: str, text: str, length: int) -> None:
        content = text.encode()
        if length > self.left or length > len(content):
            self.truncated = True
            text = content[: self.left].decode("utf-8", "ignore")
        self.left = max(0, self.left - len(content))
        if text:
            self.waiting.append((stream, text))

    def flush(self) -> None:
        if self.waiting:
            waiting, self.waiting = self.waiting, []
            self.send({"said": waiting})


class Machine:
    """What all runs of a worker share: the compiled modules, and the clock."""

    def __init__(self, folder: Path) -> None:
        self.engine = engine()
        self.guest = Template(self.engine, loaded(ENGINE, folder, self.engine))
        self.stripper = Template(self.engine, loaded(STRIPPER, folder, self.engine))
        self.prelude = Path(__file__).with_name("prelude.js").read_text("utf-8")
        self.clockwork: Clockwork | None = None

    def start_clock(self) -> None:
        self.clockwork = Clockwork(self.engine)


class Run:
    """One program, its limits, and its world."""

    def __init__(
        self,
        machine: Machine,
        asked: dict[str, Any],
        send: Callable[[dict[str, Any]], None],
        receive: Callable[[], dict[str, Any]],
        answers: int,
    ) -> None:
        """Answers to its calls come from `receive`, when the descriptor `answers` can be read."""
        self._machine = machine
        self._asked = asked
        self._send = send
        self._receive = receive
        self._answers = answers
        self._console = Console(send)
        self._denied: list[dict[str, str]] = []
        self._ending: tuple[str, str, int] | None = None
        self._calls = self._open_calls = 0
        self._refused: deque[tuple[str, str]] = deque()
        self._hears = Listener(self._hear)
        self._guest: Guest | None = None
        self._allowance = Allowance(
            seconds=asked["seconds"], cpu_share=asked["cpu_share"], each_tick=self._console.flush
        )

    def outcome(self) -> dict[str, Any]:
        """How it ended, and what it took."""
        try:
            ended = self._run()
        except Trapped as trapped:
            ended = self._ended_by(str(trapped))
        except BrokenWorld as broken:
            ended = self._broken(str(broken))
        finally:
            size = 0
            if self._guest is not None:
                size = self._guest.size
                self._guest.close()
        for module in self._hears.asked_for:
            self._deny(self._kind_of(module), f"import {module}")
        self._console.flush()
        return {
            **ended,
            "elapsed_ms": round(self._allowance.elapsed * 1000),
            "cpu_ms": round(self._allowance.cpu * 1000, 1),
            "memory_bytes": size,
            "denied": self._denied,
            "truncated": self._console.truncated,
        }

    def _run(self) -> dict[str, Any]:
        code: str = self._asked["code"]
        source = without_types(self._machine.stripper, code, self._allowance)
        self._guest = guest = guest_within(
            self._machine.guest,
            self._asked["memory_bytes"],
            self._allowance.watch,
            self._machine.prelude,
            self._asked["given"],
            self._hears,
        )
        guest.drive("start", source.text)
        while self._ending is None:
            if self._allowance.left <= 0:
                return {"end": "timeout"}
            if self._refused:
                guest.drive("refused", *self._refused.popleft())
                continue
            soon = guest.drive("fire")
            if self._ending is None and not self._refused and not self._wait(soon):
                return _error("Runtime", "the program waits for something that never comes", "")
        kind, text, length = self._ending
        if kind == "x":
            return self._failed(code, source.has_lines_of_its_own, json.loads(text))
        if length > MOST_RESULT_BYTES:
            return _error("Resource", f"the result has {length} bytes; {MOST_RESULT_BYTES} are the most", "")
        return {"end": "success", "output": text}

    def _wait(self, soon: str) -> bool:
        """Until a timer is due, an answer has come, or the time is over; whether there is anything to wait for."""
        if not soon and not self._open_calls:
            return False
        left = max(0.0, self._allowance.left)
        seconds = min(left, int(soon) / 1000) if soon else left
        self._console.flush()
        if not self._open_calls:
            select.select([], [], [], seconds)
        elif select.select([self._answers], [], [], seconds)[0]:
            answer = self._receive()
            self._open_calls -= 1
            if self._guest is not None:
                self._guest.drive("kept" if answer["kept"] else "refused", str(answer["answer"]), answer["text"])
        return True

    # -- what it tells ------------------------------------------------------------------------------------------

    def _hear(self, kind: str, text: str, length: int) -> None:
        if kind == "o" or kind == "e":
            self._console.say("out" if kind == "o" else "err", text, length)
        elif kind == "c":
            self._call(text, length)
        elif kind == "d":
            told = json.loads(text)
            self._deny(str(told["kind"]), str(told["what"])[:200])
        elif self._ending is None and kind in "rx":
            self._ending = kind, text, length

    def _call(self, text: str, length: int) -> None:
        number, name, arguments = text.split(" ", 2)
        self._calls += 1
        if self._calls > self._asked["most_calls"]:
            problem = {"code": "rate_limited", "message": f"a run has {self._asked['most_calls']} calls at most"}
        elif length > MOST_RESULT_BYTES:
            problem = {"code": "too_large", "message": f"arguments have {MOST_RESULT_BYTES} bytes at most"}
        else:
            self._open_calls += 1
            self._console.flush()
            self._send({"call": int(number), "name": name, "arguments": arguments})
            return
        self._refused.append((number, json.dumps({**problem, "hint": None})))

    def _deny(self, kind: str, what: str) -> None:
        if len(self._denied) < MOST_DENIED:
            self._denied.append({"kind": kind, "what": what})

    def _kind_of(self, module: str) -> str:
        modules: dict[str, str] = self._asked["given"]["modules"]
        return modules.get(module.removeprefix("node:"), "Permission")

    # -- how it failed --------------------------------------------------------------------------------------------

    def _ended_by(self, trap: str) -> dict[str, Any]:
        if self._allowance.left <= 0:
            return {"end": "timeout"}
        if _NO_STACK in trap:
            return _error("Resource", "the stack is used up: functions call each other too deeply", "")
        if self._is_full:
            return self._memory_violation()
        return _error("Resource", f"the engine gave up: {trap.strip().splitlines()[-1].strip()[:200]}", "")

    @property
    def _is_full(self) -> bool:
        return self._guest is not None and self._guest.size + _MB > self._asked["memory_bytes"]

    def _broken(self, problem: str) -> dict[str, Any]:
        if any(known in problem for known in _MEMORY_ERRORS):
            return self._memory_violation()
        return _error("Runtime", problem, "")

    def _failed(self, code: str, has_lines_of_its_own: bool, told: dict[str, Any]) -> dict[str, Any]:
        name, message = str(told["name"]), str(told["message"])
        if told["isSyntax"]:
            return self._unreadable(code, message)
        if told["isRefusal"] and self._denied:
            return self._refusal(self._denied[-1]["kind"], message)
        if message.startswith(_UNRESOLVED) and self._hears.asked_for:
            module = next((one for one in self._hears.asked_for if f"'{one}'" in message), self._hears.asked_for[-1])
            return self._refusal(self._kind_of(module), f"the module '{module}' is not available in the sandbox")
        # With no memory left not even the error is made, and null is thrown.
        if (name == "InternalError" and message in _MEMORY_ERRORS) or (message == "null" and self._is_full):
            return self._memory_violation()
        if told["code"]:
            name = f"{name} ({told['code']})"
        kind = "Resource" if message in _SIZE_ERRORS else "Permission" if told["code"] == "forbidden" else "Runtime"
        where = "" if has_lines_of_its_own else _where(str(told["stack"]))
        return _error(kind, f"{name}: {message}" if name and name != "Error" else message, where)

    def _refusal(self, kind: str, message: str) -> dict[str, Any]:
        if kind == "Permission":
            return _error("Permission", message, "")
        return {"end": "violation", "kind": kind, "reason": message}

    def _memory_violation(self) -> dict[str, Any]:
        most = self._asked["memory_bytes"] // _MB
        return {"end": "violation", "kind": "MemoryLimit", "reason": f"the program needs more than {most} MB of memory"}

    def _unreadable(self, code: str, message: str) -> dict[str, Any]:
        """A syntax error; unless it is only that a program cannot import anything here."""
        rest, modules = without_imports(code)
        if modules and self._can_be_read(rest):
            for module in modules:
                self._deny(self._kind_of(module), f"import {module}")
            kinds = [self._kind_of(module) for module in modules]
            worst = next((own for own in range(len(kinds)) if kinds[own] != "Permission"), 0)
            return self._refusal(kinds[worst], f"the module '{modules[worst]}' is not available in the sandbox")
        return _error("Syntax", f"SyntaxError: {message}", "")

    def _can_be_read(self, program: str) -> bool:
        source = without_types(self._machine.stripper, program, self._allowance)
        return self._guest is not None and self._guest.can_be_read(source.text)


def _error(kind: str, message: str, where: str) -> dict[str, Any]:
    return {"end": "error", "kind": kind, "message": message, "where": where}


def _where(stack: str) -> str:
    """The lines of a stack that are in the program."""
    lines = [line.strip() for line in stack.splitlines() if "<input>" in line]
    return "\n".join(f"    {line.replace('<input>', 'program')}" for line in lines[:10])
