"""Reading many files at once, in processes of their own: parsing keeps a processor busy, and garbage can end it."""

import fcntl
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import chain
from types import TracebackType
from typing import IO, Self, cast

import anyio.to_thread

from scrubjay.code_index.index.digest_worker import LENGTH_BYTES, MANY_BYTES, PLAIN, Asked, Way, packed_digest
from scrubjay.code_index.store import Content
from scrubjay.core.errors import Cancelled, Unavailable
from scrubjay.native.library import is_wanted

# So much is read by a worker at a time: little enough that progress is seen, enough to be worth sending.
BATCH_BYTES = 256 * 1024
BATCH_FILES = 40
# So much waits in a pipe: a worker need not wait until the batch before is asked for.
PIPE_BYTES = 512 * 1024
# Linux's number for setting the size of a pipe, which not every Python's `fcntl` names.
F_SETPIPE_SZ = 1031
# So few and small files are read sooner here than a worker starts. No parser takes longer than a moment for one of
# them, whatever is in it; for garbage of 20,000 bytes one takes seconds, and this process would stand still.
FEW_FILES = 24
FEW_BYTES = 4_000
# How often whoever waits for digests is asked whether to go on.
LOOK_SECONDS = 0.2
# Without -P the folder that this process works in, which may be a stranger's repository, would be searched for modules.
PROGRAM = ("-P", "-c", "from scrubjay.code_index.index.digest_worker import serve; serve()")
TOO_LONG = "took too long"

Unread = tuple[Content, bytes]
Read = tuple[Content, bytes]
"""A content and its digest, packed."""


class _Died(Exception):
    """The worker ended before it answered."""


class _Worker:
    """A process that makes digests."""

    def __init__(self, file_seconds: float, memory_bytes: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *PROGRAM, str(file_seconds), str(memory_bytes), *(() if is_wanted() else (PLAIN,))],
            bufsize=PIPE_BYTES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._questions = cast(IO[bytes], self.process.stdin)
        self._answers = cast(IO[bytes], self.process.stdout)
        for pipe in (self._questions, self._answers):
            with suppress(OSError):  # there may be too many of them on this machine
                fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_BYTES)

    def answers(self, batch: Sequence[Asked]) -> Iterator[bytes]:
        """The digest of each, as soon as it is made."""
        try:
            pickle.dump(list(batch), self._questions)
            self._questions.flush()
        except BrokenPipeError:
            raise _Died from None
        for _ in batch:
            head = self._answers.read(LENGTH_BYTES)
            length = int.from_bytes(head, "little")
            digest = self._answers.read(length)
            if len(head) < LENGTH_BYTES or len(digest) < length:
                raise _Died
            yield digest

    def end(self) -> str:
        """Let there be no such process; what it died of, if it had died."""
        self.process.kill()
        code = self.process.wait()
        self._answers.close()
        with suppress(BrokenPipeError):  # it was not sent all
            self._questions.close()
        if code == -signal.SIGPROF:
            return TOO_LONG
        return f"ended its reader ({signal.Signals(-code).name if code < 0 else code})"


class Workers:
    """Makes digests. What ends a worker is told as a problem of the file that it was at, and hurts no other file."""

    def __init__(self, count: int = 2, *, file_seconds: float = 10.0, memory_bytes: int = 2_000_000_000) -> None:
        """`file_seconds` is how long one file may keep a processor busy."""
        self.count = count
        self._file_seconds = file_seconds
        self.memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        """They stay for a while, so that a file that has just changed is read at once."""
        weakref.finalize(self, _end_all, self._idle)

    async def digested(self, contents: Iterable[Unread]) -> AsyncGenerator[list[Read]]:
        """The digests of all these, a batch at a time, in no particular order; an empty batch when one takes a while.

        Close it if it is not read to its end: then its workers are gone.
        """
        batches = _batches(contents)
        batch = await anyio.to_thread.run_sync(next, batches, None)
        if batch is None:
            return
        if len(batch) <= FEW_FILES and all(len(data) <= FEW_BYTES for _, data in batch):
            for content, data in batch:
                yield [(content, await anyio.to_thread.run_sync(packed_digest, Asked(data, content.language)))]
            return
        with _Reading(self) as reading:
            coming = chain([batch], batches)
            while (done := await anyio.to_thread.run_sync(reading.next_done, coming)) is not None:
                yield done
        if reading.read_bytes > MANY_BYTES:
            self.end_idle(but=1)

    def take(self) -> _Worker:
        """A worker that nobody else has."""
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.process.poll() is None:
                    return worker
                worker.end()
        return self._started()

    def get_ready(self, count: int) -> None:
        """Let so many be there, so that who needs them soon need not wait until they have started."""
        with self._lock:
            lacking = min(count, self.count) - len(self._idle)
        for _ in range(lacking):
            self.give_back(self._started())

    def _started(self) -> _Worker:
        try:
            return _Worker(self._file_seconds, self.memory_bytes)
        except OSError as error:
            raise Unavailable(
                f"no process can be started that reads files ({error.strerror})", hint="end some others"
            ) from error

    def give_back(self, worker: _Worker) -> None:
        """It can be taken again."""
        with self._lock:
            if len(self._idle) < self.count:
                self._idle.append(worker)
                return
        worker.end()

    def end_idle(self, *, but: int = 0) -> None:
        """End those that nobody has, all but so many."""
        with self._lock:
            _end_all(self._idle, but)


class _Reading:
    """One run over many contents; when it is left by an error, or is cancelled, no worker of it is left."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers.count, "scrubjay-reading")
        self._lock = threading.Lock()
        self._busy: set[_Worker] = set()
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
                    worker.process.kill()
            self._workers.end_idle()
        self._threads.shutdown(cancel_futures=True)

    def next_done(self, batches: Iterator[Sequence[Unread]]) -> list[Read] | None:
        """What was read meanwhile, with enough of the batches under way; nothing if that takes a while.

        None when all is read.
        """
        while len(self._running) < self._workers.count + 2 and (batch := next(batches, None)) is not None:
            self.read_bytes += sum([len(data) for _, data in batch])
            self._running.add(self._threads.submit(self._read, batch))
        if not self._running:
            return None
        done, self._running = wait(self._running, LOOK_SECONDS, FIRST_COMPLETED)
        return [*chain.from_iterable(future.result() for future in done)]

    def _read(self, batch: Sequence[Unread]) -> list[Read]:
        waiting = deque((content, Asked(data, content.language)) for content, data in batch)
        read: list[Read] = []
        suspect: Content | None = None
        while waiting:
            with self._worker() as worker:
                try:
                    for digest in worker.answers([asked for _, asked in waiting]):
                        read.append((waiting.popleft()[0], digest))
                except _Died:
                    content, asked = waiting[0]
                    reason = worker.end()
                    # Of time it is known whose fault it is. Else a worker may have died of something outside of it,
                    # so that the same is tried a second time.
                    if reason == TOO_LONG or content == suspect:
                        waiting[0] = content, _more_careful(asked, reason)
                    suspect = content
        return read

    @contextmanager
    def _worker(self) -> Generator[_Worker]:
        worker = self._workers.take()
        try:
            with self._lock:
                if self._stopped:
                    raise Cancelled("reading files was stopped")
                self._busy.add(worker)
            yield worker
        except BaseException:
            worker.end()
            raise
        finally:
            with self._lock:
                self._busy.discard(worker)
        if worker.process.returncode is None:
            self._workers.give_back(worker)


def _more_careful(asked: Asked, reason: str) -> Asked:
    if asked.way is Way.NOTHING:
        raise Unavailable(
            f"the processes that read files do not work: each {reason}",
            hint="SCRUBJAY_CODE_WORKER_BYTES gives them more memory, SCRUBJAY_CODE_FILE_SECONDS more time",
        )
    following = Way.TEXT if asked.way is Way.SYNTAX else Way.NOTHING
    return asked._replace(way=following, problem=asked.problem or reason)


def _end_all(workers: list[_Worker], but: int = 0) -> None:
    while len(workers) > but:
        workers.pop().end()


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
