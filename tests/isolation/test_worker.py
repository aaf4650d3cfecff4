"""Workers are real child processes here."""

import os
import signal
import subprocess
import sys
import threading
import time

import anyio
import pytest

from scrubjay.core.errors import Unavailable
from scrubjay.isolation.limits import Bounds
from scrubjay.isolation.worker import Worker, WorkerExited
from tests.liveness import is_alive

BOUND = 30
ECHO = """
import os, resource, sys, time
from scrubjay.isolation.channel import connect_to_parent
channel = connect_to_parent(memory_bytes=500_000_000)
try:
    while True:
        request = channel.receive()
        if request.startswith(b"!"):
            exec(request[1:])
        else:
            channel.send(request)
except (EOFError, BrokenPipeError):
    os._exit(0)
"""


def start_worker(*, bounds: Bounds | None = None, max_frame_bytes: int = 10_000_000) -> Worker:
    return Worker(["-P", "-c", ECHO], name="test", bounds=bounds, max_frame_bytes=max_frame_bytes)


def wait_for_end(pid: int) -> bool:
    deadline = time.monotonic() + BOUND
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(params=[None, Bounds()], ids=["plain", "supervised"])
def worker(request: pytest.FixtureRequest):
    worker = start_worker(bounds=request.param)
    yield worker
    worker.close()


def pid_of(worker: Worker) -> int:
    """Return the process id of the child itself, which is not `worker.pid` when it is supervised."""
    worker.send(b"!channel.send(str(os.getpid()).encode())")
    return int(worker.receive(BOUND))


def test_frames_of_any_size_come_back_unchanged(worker: Worker):
    for content in (b"", b"a", os.urandom(3_000_000)):
        sender = threading.Thread(target=worker.send, args=(content,))
        sender.start()
        assert worker.receive(BOUND) == content
        sender.join()


async def test_async_callers_exchange_the_same_frames(worker: Worker):
    content = os.urandom(3_000_000)
    with anyio.fail_after(BOUND):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.send_async, content)
            assert await worker.receive_async() == content
        await worker.close_async()


def test_a_timeout_loses_no_frame(worker: Worker):
    with pytest.raises(TimeoutError):
        worker.receive(0.01)
    worker.send(b"later")
    assert worker.receive(BOUND) == b"later"


def test_output_of_the_child_does_not_mix_with_frames_and_is_part_of_the_error(worker: Worker):
    worker.send(b"!print('out', flush=True); sys.stderr.write('the reason'); sys.stderr.flush(); os._exit(3)")
    with pytest.raises(WorkerExited, match=r"(?s)out.*the reason"):
        worker.receive(BOUND)
    assert worker.wait(BOUND) == 3  # `close` at once could be faster than the supervisor's own wait


def test_kill_ends_a_waiting_receive_even_if_a_fork_keeps_the_pipes(worker: Worker):
    worker.send(b"!os.fork() or time.sleep(2)")
    failures: list[BaseException] = []

    def receive() -> None:
        try:
            worker.receive(BOUND)
        except WorkerExited as exited:
            failures.append(exited)

    receiver = threading.Thread(target=receive)
    receiver.start()
    began = time.monotonic()
    worker.kill()
    receiver.join(BOUND)
    assert (len(failures), time.monotonic() - began < 1.5) == (1, True)


def test_a_closed_worker_refuses_calls_and_leaves_nothing_running(worker: Worker):
    child = pid_of(worker)
    worker.close()
    worker.close()
    assert wait_for_end(child)
    for call in (lambda: worker.send(b"x"), worker.receive):
        with pytest.raises(WorkerExited):
            call()


async def test_cancelling_a_receive_leaves_the_worker_usable(worker: Worker):
    with anyio.move_on_after(0.05):
        await worker.receive_async()
    await worker.send_async(b"still there")
    with anyio.fail_after(BOUND):
        assert await worker.receive_async() == b"still there"


def test_a_frame_above_the_limit_is_refused_before_it_is_read():
    worker = start_worker(max_frame_bytes=10)
    worker.send(b"x" * 11)
    with pytest.raises(WorkerExited, match="a frame of 11 bytes; at most 10"):
        worker.receive(BOUND)
    worker.close()


def test_a_killed_child_is_not_alive_even_before_its_exit_code_is_known(worker: Worker):
    child = pid_of(worker)
    assert worker.is_alive
    os.kill(child, signal.SIGKILL)
    with pytest.raises(WorkerExited):
        worker.receive(BOUND)
    assert not worker.is_alive


def test_the_memory_limit_holds(worker: Worker):
    worker.send(b"!bytearray(3_000_000_000)")
    with pytest.raises(WorkerExited, match="MemoryError"):
        worker.receive(BOUND)


def test_a_signal_is_the_negative_exit_code():
    worker = start_worker()
    worker.send(b"!os.kill(os.getpid(), 9)")
    with pytest.raises(WorkerExited):
        worker.receive(BOUND)
    assert worker.close() == -signal.SIGKILL


def test_a_program_that_cannot_be_started_is_unavailable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(Unavailable, match=r"cannot start a test process \(No such file"):
        start_worker()


@pytest.mark.parametrize("bounds", ["None", "Bounds()"])
def test_no_child_outlives_a_parent_that_is_killed(bounds: str):
    parent = f"""
import time
from scrubjay.isolation.limits import Bounds
from tests.isolation.test_worker import pid_of, start_worker
worker = start_worker(bounds={bounds})
print(pid_of(worker), flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.kill()
    assert wait_for_end(child)


def test_no_descriptor_stays_open():
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counts descriptors, its own included
    for bounds in (None, Bounds()):
        start_worker(bounds=bounds).close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
