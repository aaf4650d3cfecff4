"""A pool of digest worker processes: parsing is CPU-bound, and a malformed file can kill its process."""

import pickle
import signal
import threading
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import chain
from types import TracebackType
from typing import Self

import anyio.to_thread

from scrubjay.code_index.index.digest_worker import (
    MANY_BYTES,
    PLAIN,
    DigestRequest,
    ParseMode,
    make_digest,
)
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.isolation.worker import Worker, WorkerExited
from scrubjay.native.library import is_wanted

# Batch size of a worker: small enough for visible progress, large enough to amortise the transfer.
BATCH_BYTES = 256 * 1024
BATCH_FILES = 40
# Pipe capacity: lets a worker continue before its previous batch is read.
PIPE_BYTES = 512 * 1024
# Up to this many files of this size are digested in this process, faster than a worker starts. No parser takes long
# for files this small; 20,000 bytes of garbage can take seconds, which would block this process.
FEW_FILES = 24
FEW_BYTES = 4_000
# Seconds between empty batches while a digest takes long, so that the caller can cancel.
POLL_SECONDS = 0.2
# -P: do not import modules from the working directory, which may be an untrusted repository.
PROGRAM = ("-P", "-c", "from scrubjay.code_index.index.digest_worker import serve; serve()")
TOO_LONG = "took too long"

Unread = tuple[Content, bytes]
Read = tuple[Content, bytes]
"""A content and its packed digest."""


class DigestWorker(Worker):
    """A process that parses files (`digest_worker.py`)."""

    def __init__(self, file_seconds: float, memory_bytes: int) -> None:
        options = () if is_wanted() else (PLAIN,)
        arguments = [*PROGRAM, str(file_seconds), str(memory_bytes), *options]
        super().__init__(arguments, name="parser", pipe_bytes=PIPE_BYTES)

    def answers(self, batch: Sequence[DigestRequest]) -> Iterator[bytes]:
        """Yield the digest of each request as soon as it is ready. Raises `WorkerExited`."""
        self.send(pickle.dumps(list(batch)))
        for _ in batch:
            yield self.receive()

    def stop(self) -> str:
        """Kill the process and return why it exited, if it had."""
        code = self.close()
        if code == -signal.SIGPROF:
            return TOO_LONG
        return f"killed its parser process ({signal.Signals(-code).name if code < 0 else code})"


class WorkerPool:
    """Makes digests in worker processes. A crash is recorded as a problem of the file being parsed; others continue."""

    def __init__(self, count: int = 2, *, file_seconds: float = 10.0, memory_bytes: int = 2_000_000_000) -> None:
        """`file_seconds` is the CPU time limit of one file, `memory_bytes` the memory limit of one worker."""
        self.count = count
        self._file_seconds = file_seconds
        self.memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._idle: list[DigestWorker] = []
        """Idle workers stay alive for a while, so that a changed file is digested without a process start."""
        weakref.finalize(self, _stop_all, self._idle)

    async def digest_all(self, contents: Iterable[Unread]) -> AsyncGenerator[list[Read]]:
        """Yield the digests of all contents in batches, unordered; an empty batch when one takes long.

        Close the generator if you do not exhaust it; that stops its workers.
        """
        batches = _batches(contents)
        batch = await anyio.to_thread.run_sync(next, batches, None)
        if batch is None:
            return
        if len(batch) <= FEW_FILES and all(len(data) <= FEW_BYTES for _, data in batch):
            for content, data in batch:
                yield [(content, await anyio.to_thread.run_sync(make_digest, DigestRequest(data, content.language)))]
            return
        with _DigestRun(self) as reading:
            coming = chain([batch], batches)
            while (done := await anyio.to_thread.run_sync(reading.next_done, coming)) is not None:
                yield done
        if reading.read_bytes > MANY_BYTES:
            self.stop_idle(but=1)

    def take(self) -> DigestWorker:
        """Return an idle worker, or start one."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                worker.stop()
        return self._start()

    def start_ahead(self, count: int) -> None:
        """Start workers until `count` are idle, so that a coming build does not wait for process starts."""
        with self._lock:
            lacking = min(count, self.count) - len(self._idle)
        for _ in range(lacking):
            self.release(self._start())

    def _start(self) -> DigestWorker:
        return DigestWorker(self._file_seconds, self.memory_bytes)

    def release(self, worker: DigestWorker) -> None:
        """Return a worker to the pool."""
        with self._lock:
            if len(self._idle) < self.count:
                self._idle.append(worker)
                return
        worker.stop()

    def stop_idle(self, *, but: int = 0) -> None:
        """Stop the idle workers, except `but` of them."""
        with self._lock:
            _stop_all(self._idle, but)


class _DigestRun:
    """One run over many contents; on an error or cancellation it stops all of its workers."""

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers.count, "scrubjay-digest")
        self._lock = threading.Lock()
        self._busy: set[DigestWorker] = set()
        self._stopped = False
        self._running: set[Future[list[Read]]] = set()
        self.read_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            with self._lock:
                self._stopped = True
                for worker in self._busy:
                    worker.kill()
            self._workers.stop_idle()
        self._threads.shutdown(cancel_futures=True)

    def next_done(self, batches: Iterator[Sequence[Unread]]) -> list[Read] | None:
        """Submit enough batches and return the digests finished so far; an empty list when one takes long.

        None when everything is read.
        """
        while len(self._running) < self._workers.count + 2 and (batch := next(batches, None)) is not None:
            self.read_bytes += sum([len(data) for _, data in batch])
            self._running.add(self._threads.submit(self._read, batch))
        if not self._running:
            return None
        done, self._running = wait(self._running, POLL_SECONDS, FIRST_COMPLETED)
        return [*chain.from_iterable(future.result() for future in done)]

    def _read(self, batch: Sequence[Unread]) -> list[Read]:
        waiting = deque((content, DigestRequest(data, content.language)) for content, data in batch)
        read: list[Read] = []
        suspect: Content | None = None
        while waiting:
            with self._worker() as worker:
                try:
                    for digest in worker.answers([request for _, request in waiting]):
                        read.append((waiting.popleft()[0], digest))
                except WorkerExited:
                    content, request = waiting[0]
                    reason = worker.stop()
                    # A CPU timeout is always the file's fault. Otherwise the worker may have been killed from outside,
                    # so the file gets a second try.
                    if reason == TOO_LONG or content == suspect:
                        waiting[0] = content, _next_mode(request, reason)
                    suspect = content
        return read

    @contextmanager
    def _worker(self) -> Generator[DigestWorker]:
        worker = self._workers.take()
        try:
            with self._lock:
                if self._stopped:
                    raise Cancelled("reading files was stopped")
                self._busy.add(worker)
            yield worker
        except BaseException:
            worker.stop()
            raise
        finally:
            with self._lock:
                self._busy.discard(worker)
        if worker.exit_code is None:
            self._workers.release(worker)


def _next_mode(request: DigestRequest, reason: str) -> DigestRequest:
    if request.mode is ParseMode.NOTHING:
        raise Unavailable(
            f"parser processes do not work: each {reason}",
            hint="raise SCRUBJAY_CODE_WORKER_BYTES (memory) or SCRUBJAY_CODE_FILE_SECONDS (CPU time)",
        )
    following = ParseMode.TEXT if request.mode is ParseMode.SYNTAX else ParseMode.NOTHING
    return request._replace(mode=following, problem=request.problem or reason)


def _stop_all(workers: list[DigestWorker], but: int = 0) -> None:
    while len(workers) > but:
        workers.pop().stop()


def _batches(contents: Iterable[Unread]) -> Iterator[list[Unread]]:
    batch: list[Unread] = []
    size = 0
    for one in contents:
        batch.append(one)
        size += len(one[1])
        if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
