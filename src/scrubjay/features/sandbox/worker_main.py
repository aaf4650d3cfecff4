"""A worker: a process of its own that runs one program after the other, and can do nothing else."""

import json
import os
import resource
import sys
import threading
from pathlib import Path
from typing import Any

from scrubjay.features.sandbox.artifacts import THREAD_STACK_BYTES, Unusable
from scrubjay.features.sandbox.framing import LENGTH, frame
from scrubjay.features.sandbox.runner import Machine, Run
from scrubjay.isolation.landlock import confine, version
from scrubjay.isolation.seccomp import compute_only

# So that a program that computes does not slow down the server that waits for it.
_NICENESS = 5
_NOTHING_GIVEN: dict[str, Any] = {
    "reads": (),
    "lists": (),
    "writes": (),
    "executes": (),
    "ports": (),
    "signals": False,
}
_TRIAL: dict[str, Any] = {
    "code": "const whole: number = context.input; console.log(whole); return await Promise.resolve(whole)",
    "seconds": 10.0,
    "cpu_share": 1.0,
    "memory_bytes": 64 * 1024 * 1024,
    "most_calls": 0,
    "given": {"modules": {}, "families": [], "reads": False, "context": {"task": "", "input": 42}},
}


class Worker:
    """Reads what to run from standard input; nobody else has these descriptors."""

    def __init__(self, folder: Path) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for usual in (0, 1, 2):
            os.dup2(nothing, usual)
        os.close(nothing)
        self._folder = folder

    def serve(self) -> None:
        try:
            machine = Machine(self._folder)
        except (Unusable, ImportError, OSError) as error:
            self._send({"unusable": str(error) or type(error).__name__})
            return
        landlock = version()
        os.nice(_NICENESS)
        confine(_NOTHING_GIVEN)
        threading.stack_size(THREAD_STACK_BYTES)
        # After Landlock, which is for a thread and those that it starts.
        machine.start_clock()
        server = threading.Thread(target=self._work, args=(machine, landlock), daemon=True)
        server.start()
        server.join()

    def _work(self, machine: Machine, landlock: int) -> None:
        try:
            # Whatever Python or the engine make at their first use is made now: later it could not be.
            tried = self._run(machine, _TRIAL, quiet=True)
            if tried.get("output") != "42":
                self._send({"unusable": f"the engine does not compute as it should: {tried}"[:500]})
                return
            _give_up_rights()
            self._send({"ready": True, "landlock": landlock, "seccomp": compute_only()})
            while True:
                asked = self._receive()
                if "code" in asked:  # else it answers a call of a program that has ended meanwhile
                    self._send(self._run(machine, asked))
        except EOFError:  # the server has gone, or needs this worker no longer
            pass

    def _run(self, machine: Machine, asked: dict[str, Any], *, quiet: bool = False) -> dict[str, Any]:
        if machine.clockwork is None:
            raise TypeError("the clock does not run")
        machine.clockwork.begin()
        try:
            return Run(machine, asked, (lambda _: None) if quiet else self._send, self._receive, self._in).outcome()
        finally:
            machine.clockwork.rest()

    def _send(self, message: dict[str, Any]) -> None:
        content = memoryview(frame(message))
        while content:
            content = content[os.write(self._out, content) :]

    def _receive(self) -> dict[str, Any]:
        (length,) = LENGTH.unpack(self._read(LENGTH.size))
        return json.loads(self._read(length))

    def _read(self, length: int) -> bytes:
        content = bytearray()
        while len(content) < length:
            some = os.read(self._in, length - len(content))
            if not some:
                raise EOFError
            content += some
        return bytes(content)


def _give_up_rights() -> None:
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
        resource.setrlimit(limit, (0, 0))


if __name__ == "__main__":
    Worker(Path(sys.argv[1])).serve()
