"""Start a Python child process, exchange frames with it, and end it.

    worker = Worker(["-P", "-c", "from scrubjay.some.worker_main import serve; serve()"], name="parser")
    try:
        worker.send(request)
        answer = worker.receive()
    finally:
        worker.close()

The child calls `connect_to_parent` (`isolation/channel.py`). Callers define their own messages, as bytes.
"""

import fcntl
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import IO, Final, cast

import anyio
import anyio.lowlevel

from scrubjay.core.errors import Unavailable
from scrubjay.core.secrets import masked
from scrubjay.isolation.channel import MAX_FRAME_BYTES, FrameChannel, FrameTooLarge, framed
from scrubjay.isolation.limits import Bounds, supervised

# Seconds a supervisor may need to kill its program with everything that it started.
END_SECONDS: Final = 6.0
# Maximum number of bytes reported from a child's standard error.
STDERR_BYTES: Final = 2_000
# Linux's F_SETPIPE_SZ, which `fcntl` does not define on every Python.
_F_SETPIPE_SZ: Final = 1031


class WorkerExited(Exception):
    """The child process has exited, or sent a frame that is too large. Do not use it again."""


class Worker:
    """A child process that answers requests.

    `send` and `receive` block; call them in a thread, or use `send_async` and `receive_async`. `kill` may be called
    from any thread and ends waiting calls at once. Nothing of the child runs after `close`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        name: str,
        bounds: Bounds | None = None,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
        pass_fds: Collection[int] = (),
        pipe_bytes: int | None = None,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        """Start Python with these arguments; `name` appears in errors. Raises `Unavailable` when that is impossible.

        With `bounds`, a supervisor applies them and kills the child, with all its descendants, when this process dies.
        Without, the child limits itself (`connect_to_parent`) and must exit when its input ends.
        """
        self.name = name
        self._stderr: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by `close`
        self._lifeline: socket.socket | None = None
        try:
            self._process = self._start([*arguments], bounds, environment, folder, [*pass_fds])
        except OSError as error:
            self._stderr.close()
            reason = error.strerror or str(error)
            raise Unavailable(f"cannot start a {name} process ({reason})", hint="stop other processes") from error
        self._pipes = cast("tuple[IO[bytes], IO[bytes]]", (self._process.stdin, self._process.stdout))
        writer, reader = (pipe.fileno() for pipe in self._pipes)
        if pipe_bytes is not None:
            for pipe in (reader, writer):
                with suppress(OSError):  # the user's total pipe memory may be exhausted, or this is not Linux
                    fcntl.fcntl(pipe, _F_SETPIPE_SZ, pipe_bytes)
        # A forked descendant may keep the child's pipes open, so its death alone would not end a waiting call.
        self._interrupt, self._interrupting = os.pipe()
        self._channel = FrameChannel(reader, writer, max_frame_bytes=max_frame_bytes, interrupt=self._interrupt)
        self._killing, self._sending, self._receiving = threading.Lock(), threading.Lock(), threading.Lock()
        self._is_killed = self._is_closed = False

    def _start(
        self,
        arguments: list[str],
        bounds: Bounds | None,
        environment: Mapping[str, str] | None,
        folder: str | None,
        pass_fds: list[int],
    ) -> subprocess.Popen[bytes]:
        command, theirs = [sys.executable, *arguments], None
        if bounds is not None:
            self._lifeline, theirs = socket.socketpair()
            command = supervised(theirs.fileno(), bounds, sys.executable, arguments)
            pass_fds = [*pass_fds, theirs.fileno()]
        try:
            return subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=environment,
                cwd=folder,
                start_new_session=bounds is not None,
                pass_fds=pass_fds,
            )
        except OSError:
            if self._lifeline is not None:
                self._lifeline.close()
            raise
        finally:
            if theirs is not None:
                theirs.close()

    @property
    def pid(self) -> int:
        """Process id of the child, or of its supervisor."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code, None while it runs. Killed by a signal: its negative number; 128 plus the number if supervised."""
        return self._process.poll()

    @property
    def is_alive(self) -> bool:
        """False once the child has closed its pipes or exited; known before its exit code is."""
        if self._is_closed or self.exit_code is not None:
            return False
        poll = select.poll()
        poll.register(self._channel.reader, 0)  # a hang-up is always reported
        return not poll.poll(0)

    @property
    def stderr(self) -> str:
        """The end of what the child wrote to standard error, without secrets."""
        if self._is_closed:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        tail = os.pread(self._stderr.fileno(), STDERR_BYTES, max(0, size - STDERR_BYTES))
        return masked(tail.decode("utf-8", "replace")).strip()

    def send(self, content: bytes) -> None:
        """Send a frame. Raises `WorkerExited`."""
        with self._sending:
            try:
                self._check_open()
                self._channel.send(content)
            except (EOFError, OSError) as error:
                raise self._exited() from error

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next frame, at most `timeout` seconds. Raises `WorkerExited` or `TimeoutError`."""
        with self._receiving:
            try:
                self._check_open()
                return self._channel.receive(timeout)
            except TimeoutError:
                raise
            except (EOFError, OSError, FrameTooLarge) as error:
                raise self._exited(error) from error

    async def send_async(self, content: bytes) -> None:
        """Like `send`, without blocking the event loop. One task at a time."""
        left = framed(content)
        try:
            self._check_open()
            while left := self._channel.write_available(left):
                await anyio.wait_writable(self._channel.writer)
        except (EOFError, OSError, anyio.ClosedResourceError) as error:
            raise self._exited() from error

    async def receive_async(self) -> bytes:
        """Like `receive`, without blocking the event loop. One task at a time."""
        # A child that floods the pipe must not keep the loop from other tasks and from cancellation.
        await anyio.lowlevel.checkpoint()
        try:
            self._check_open()
            while (content := self._channel.receive_available()) is None:
                await anyio.wait_readable(self._channel.reader)
        except (EOFError, OSError, FrameTooLarge, anyio.ClosedResourceError) as error:
            raise self._exited(error) from error
        return content

    def kill(self) -> None:
        """Start to kill the child; calls that wait for it end."""
        with self._killing:
            if self._is_killed:
                return
            self._is_killed = True
            os.close(self._interrupting)
        if self._lifeline is None:
            self._process.kill()
        else:
            with suppress(OSError):
                self._lifeline.send(b"K")
                self._lifeline.shutdown(socket.SHUT_WR)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the child has exited and return its exit code. Raises `TimeoutError`."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None

    def close(self) -> int:
        """Kill the child, wait until it is gone, release its pipes and return its exit code.

        A supervised child that is just exiting may be reported as killed; call `wait` first if the code matters.
        """
        self.kill()
        try:
            self.wait(None if self._lifeline is None else END_SECONDS)
        except TimeoutError:  # the supervisor itself hangs
            self._process.kill()
        code = self.wait()
        self._release()
        return code

    async def close_async(self) -> int:
        """Like `close`, without blocking the event loop. Cannot be cancelled."""
        with anyio.CancelScope(shield=True):
            self.kill()
            deadline, pause = anyio.current_time() + END_SECONDS, 0.001
            while self.exit_code is None:
                if anyio.current_time() > deadline:
                    self._process.kill()
                await anyio.sleep(pause)
                pause = min(0.02, pause * 1.5)
            self._release()
        return self.wait()

    def _release(self) -> None:
        # A thread that still waits was interrupted: it leaves its lock before the descriptors can be reused.
        with self._sending, self._receiving:
            if self._is_closed:
                return
            self._is_closed = True
            for pipe in (*self._pipes, self._stderr):
                pipe.close()
            os.close(self._interrupt)
            if self._lifeline is not None:
                self._lifeline.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise EOFError

    def _exited(self, error: BaseException | None = None) -> WorkerExited:
        if isinstance(error, FrameTooLarge):
            return WorkerExited(f"it sent {error}")
        stderr = self.stderr
        return WorkerExited(f"it has exited: {stderr}" if stderr else "it has exited")
