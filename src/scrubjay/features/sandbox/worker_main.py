"""The worker process of the sandbox: run one program after the other, confined by Landlock and seccomp."""

import json
import os
import resource
import sys
import threading
from pathlib import Path
from typing import Any

from scrubjay.features.sandbox.artifacts import THREAD_STACK_BYTES, ArtifactError
from scrubjay.features.sandbox.runner import ProgramRun, SandboxRuntime
from scrubjay.isolation.channel import connect_to_parent
from scrubjay.isolation.landlock import confine, version
from scrubjay.isolation.seccomp import compute_only

# Lower priority, so that a busy program does not slow down the server.
_NICENESS = 5
_NO_ACCESS: dict[str, Any] = {
    "reads": (),
    "lists": (),
    "writes": (),
    "executes": (),
    "ports": (),
    "signals": False,
}
_SELF_TEST: dict[str, Any] = {
    "code": "const whole: number = context.input; console.log(whole); return await Promise.resolve(whole)",
    "seconds": 10.0,
    "cpu_share": 1.0,
    "memory_bytes": 64 * 1024 * 1024,
    "max_calls": 0,
    "settings": {"modules": {}, "families": [], "can_read_files": False, "context": {"task": "", "input": 42}},
}


class ProgramServer:
    """Receives programs from the server and sends their outcomes."""

    def __init__(self, folder: Path) -> None:
        self._channel = connect_to_parent()
        self._folder = folder

    def serve(self) -> None:
        try:
            runtime = SandboxRuntime(self._folder)
        except (ArtifactError, ImportError, OSError) as error:
            self._send({"unusable": str(error) or type(error).__name__})
            return
        for output in (1, 2):  # a program that takes over this process must not write to the server's temporary file
            os.dup2(0, output)
        landlock = version()
        os.nice(_NICENESS)
        confine(_NO_ACCESS)
        threading.stack_size(THREAD_STACK_BYTES)
        # After Landlock, which is for a thread and those that it starts.
        runtime.start_clock()
        server = threading.Thread(target=self._work, args=(runtime, landlock), daemon=True)
        server.start()
        server.join()

    def _work(self, runtime: SandboxRuntime, landlock: int) -> None:
        try:
            # Triggers the lazy initialisation of Python and the engine, which would fail after the confinement.
            tried = self._run(runtime, _SELF_TEST, quiet=True)
            if tried.get("output") != "42":
                self._send({"unusable": f"the self-test failed: {tried}"[:500]})
                return
            _drop_limits()
            self._send({"ready": True, "landlock": landlock, "seccomp": compute_only()})
            while True:
                request = self._receive()
                if "code" in request:  # otherwise it is the answer to a call of a program that has ended
                    self._send(self._run(runtime, request))
        except EOFError:  # the server closed the channel or exited
            pass

    def _run(self, runtime: SandboxRuntime, request: dict[str, Any], *, quiet: bool = False) -> dict[str, Any]:
        if runtime.epoch_clock is None:
            raise TypeError("the epoch clock is not running")
        runtime.epoch_clock.start()
        try:
            return ProgramRun(runtime, request, (lambda _: None) if quiet else self._send, self._receive).execute()
        finally:
            runtime.epoch_clock.pause()

    def _send(self, message: dict[str, Any]) -> None:
        self._channel.send(json.dumps(message, separators=(",", ":")).encode())

    def _receive(self, timeout: float | None = None) -> dict[str, Any]:
        return json.loads(self._channel.receive(timeout))


def _drop_limits() -> None:
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
        resource.setrlimit(limit, (0, 0))


if __name__ == "__main__":
    ProgramServer(Path(sys.argv[1])).serve()
