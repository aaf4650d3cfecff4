"""Threads for SQLite: one writer and several readers, each served by a queue."""

import asyncio
import fcntl
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import apsw

from scrubjay.core.errors import ScrubjayError, StoreUnusable, Unavailable
from scrubjay.db.sqlite.checksums import DamagedRow
from scrubjay.db.sqlite.connections import Connection, Work, in_snapshot, in_transaction
from scrubjay.db.sqlite.errors import erasure_without_space, lock_timeout, translate_error
from scrubjay.db.sqlite.space_reserve import SpaceReserve

logger = logging.getLogger("scrubjay.db")

T = TypeVar("T")
Connect = Callable[[], Connection]

# Seconds for which queued writes of one process may share one hold of the lock before other processes get it.
HOLD_SECONDS = 0.05
# Seconds that an erasure waits for readers of an older snapshot before the log is left to be truncated later.
LOG_SECONDS = 0.2


class QueuedWork(Generic[T]):
    """Work in a queue, and the future for its outcome."""

    def __init__(self, work: Work[T]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._turn = threading.Lock()  # taken once: by the thread that starts the work, or by the timeout
        self._context = copy_context()  # of the caller, whose report gets the damaged rows
        self.outcome: asyncio.Future[T] = self._loop.create_future()

    def run(self, connection: Connection) -> None:
        """Run the work unless it was withdrawn, even if its caller was cancelled."""
        if not self._turn.acquire(blocking=False):
            return
        # The waiting coroutine holds this in a reference cycle, which is collected late; release the data now.
        work = self._work
        del self._work
        try:
            result = self._context.run(_run_translated, work, connection)
        except BaseException as error:  # any exception belongs to the caller and must not end the thread
            self._deliver(self._fail, error)
        else:
            self._deliver(self._succeed, result)

    def refuse(self, error: BaseException) -> None:
        """Fail work that cannot start; called by the thread."""
        if self._turn.acquire(blocking=False):
            self._deliver(self._fail, error)

    def withdraw(self, error: BaseException) -> None:
        """Fail the work unless it has started; called on the event loop."""
        if self._turn.acquire(blocking=False):
            self._fail(error)

    @property
    def withdrawn(self) -> bool:
        return self._turn.locked()

    def _deliver(self, deliver: Callable[[Any], None], outcome: Any) -> None:
        with suppress(RuntimeError):  # the event loop has ended, and the caller with it
            self._loop.call_soon_threadsafe(deliver, outcome)

    def _succeed(self, result: T) -> None:
        if not self.outcome.done():
            self.outcome.set_result(result)

    def _fail(self, error: BaseException) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


class WorkerThreads(ABC):
    """Threads that serve one queue. After closing no work is accepted; accepted work is completed."""

    def __init__(self, name: str, threads: int) -> None:
        self._process = os.getpid()
        self._queue: SimpleQueue[QueuedWork[Any] | None] = SimpleQueue()
        self._closing = False
        # Daemons, so that a lock never released by another process cannot keep this process alive.
        self._threads = [threading.Thread(target=self._serve, name=name, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def check_open(self) -> None:
        """Raise `Unavailable` after closing, or in a forked child."""
        if self._closing:
            raise Unavailable("the store is closed", hint="open it again")
        if os.getpid() != self._process:
            raise Unavailable(
                "this store was opened before the process forked", hint="open the store again in the child process"
            )

    def _submit(self, work: Work[T]) -> QueuedWork[T]:
        self.check_open()
        request = QueuedWork(work)
        self._queue.put(request)
        return request

    async def close(self) -> None:
        """Finish what is queued and end the threads."""
        if os.getpid() != self._process:
            return  # threads do not survive a fork
        if not self._closing:
            self._closing = True
            for _ in self._threads:
                self._queue.put(None)
        for thread in self._threads:
            await asyncio.to_thread(self._join, thread)

    def _join(self, thread: threading.Thread) -> None:
        thread.join()

    @abstractmethod
    def _serve(self) -> None:
        """Serve the queue; the body of each thread."""


class Readers(WorkerThreads):
    """Read connections, each on its own thread."""

    def __init__(self, connect: Connect, threads: int) -> None:
        self._connect = connect
        self._here: Connection | None = None
        self.last_failure: ScrubjayError | None = None
        """Why the last read failed; None if it did not, or if only a row is damaged."""
        super().__init__("scrubjay-reader", threads)

    async def read(self, work: Work[T]) -> T:
        """Run the work on one snapshot of the store."""
        try:
            result = await self._submit(lambda connection: in_snapshot(connection, work)).outcome
        except (Unavailable, StoreUnusable) as error:
            self._note_failure(error)
            raise
        self.last_failure = None
        return result

    def _note_failure(self, error: ScrubjayError) -> None:
        self.last_failure = None if isinstance(error, DamagedRow) else error

    async def read_inline(self, work: Work[T], *, is_one_statement: bool = False) -> T:
        """Like `read`, on the event loop's thread: for work that is faster than two thread switches.

        A single statement always sees one snapshot, so `is_one_statement` skips the transaction.
        """
        await self.open_inline()
        return self.read_inline_now(work, is_one_statement=is_one_statement)

    async def open_inline(self) -> None:
        """Open the connection that `read_inline_now` uses."""
        if self._here is None:  # opening may block, so it happens on a reader thread
            connection = await self._submit(lambda _: self._connect()).outcome
            if self._here is None and not self._closing:
                self._here = connection
            else:
                connection.close()

    def read_inline_now(self, work: Work[T], *, is_one_statement: bool = False) -> T:
        """Like `read_inline`, synchronously; raise `Unavailable` unless `open_inline` was called."""
        self.check_open()
        if self._here is None:
            raise Unavailable("the store is closed", hint="open it again")
        run = _run_one_statement if is_one_statement else in_snapshot
        try:
            result = _run_translated(partial(run, work=work), self._here)
        except (Unavailable, StoreUnusable) as error:
            self._note_failure(error)
            raise
        self.last_failure = None
        return result

    def check_schema_inline(self) -> None:
        """Raise `StoreUnusable` if another version migrated the store; does nothing unless `open_inline` was called."""
        if self._here is not None:
            _run_translated(partial(in_snapshot, work=lambda connection: None), self._here)

    async def close(self) -> None:
        await super().close()
        if self._here is not None and os.getpid() == self._process:
            self._here.close()
            self._here = None

    def _serve(self) -> None:
        connection: Connection | None = None
        while (request := self._queue.get()) is not None:
            if request.outcome.cancelled():  # its caller was cancelled
                continue
            try:
                connection = connection or self._connect()
            except BaseException as error:  # the next request tries again
                request.refuse(translate_error(error))
            else:
                request.run(connection)
        if connection is not None:
            connection.close()


class Writer(WorkerThreads):
    """The write connection of this process.

    It locks a side file around each transaction: with SQLite's own locking one process can starve the others, while
    the kernel queues waiters for the file lock fairly.
    """

    def __init__(self, connect: Connect, lock: Path, busy_seconds: float) -> None:
        self._connect = connect
        self._busy_seconds = busy_seconds
        self._waiting_since: float | None = None
        self._log_has_erased = False
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._reserve = SpaceReserve(self._lock)
        self.last_failure: ScrubjayError | None = None
        """Why the last write could not be stored; None if it was, or if its caller is to blame."""
        super().__init__("scrubjay-writer", 1)

    async def write(self, work: Work[T]) -> T:
        """Run the work in one transaction, which is durable when this returns.

        Cancelling the caller does not stop it: a write is completed or never started.
        """
        return await self.run_exclusive(lambda connection: in_transaction(connection, work))

    async def erase(self, work: Work[T]) -> T:
        """Like `write`, for erasures: the write-ahead log, which holds the data, is truncated before this returns.

        While a reader holds an older snapshot, truncation is delayed to a later write or to closing. On a full disk
        the work runs a second time, in the space that was reserved for this.
        """

        def erase_and_truncate(connection: Connection) -> T:
            try:
                result = in_transaction(connection, work)
            except apsw.FullError as error:
                result = self._erase_in_reserve(connection, work, error)
            self._log_has_erased = not _truncate_log(connection, LOG_SECONDS)
            return result

        return await self.run_exclusive(erase_and_truncate)

    def _erase_in_reserve(self, connection: Connection, work: Work[T], failure: apsw.FullError) -> T:
        """Run an erasure in the reserved space; raise `Unavailable` if that is not enough."""
        try:
            if self._reserve.release():
                return in_transaction(connection, work)
        except apsw.FullError as error:
            failure = error
        raise erasure_without_space() from failure

    async def run_exclusive(self, work: Work[T]) -> T:
        """Run the work under the write lock, outside of any transaction.

        Raise `Busy` when other processes hold the lock for too long; waiting for writes of this process does not count.
        """
        request = self._submit(work)
        request.outcome.add_done_callback(self._note_outcome)
        loop = asyncio.get_running_loop()

        def check_timeout() -> None:
            nonlocal timer
            left = self._busy_seconds - self._waited()
            if left > 0:
                timer = loop.call_later(left, check_timeout)
            else:
                request.withdraw(lock_timeout(self._busy_seconds))

        timer = loop.call_later(self._busy_seconds, check_timeout)
        try:
            return await request.outcome
        finally:
            timer.cancel()

    def _note_outcome(self, outcome: "asyncio.Future[Any]") -> None:
        if outcome.cancelled():
            return
        error = outcome.exception()
        self.last_failure = error if isinstance(error, Unavailable | StoreUnusable) else None

    def _waited(self) -> float:
        """Return the seconds for which the thread has waited for other processes."""
        since = self._waiting_since
        return 0.0 if since is None else time.monotonic() - since

    def _serve(self) -> None:
        connection: Connection | None = None
        while (request := self._queue.get()) is not None:
            if request.withdrawn:
                continue
            self._waiting_since = time.monotonic()
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            except OSError as error:
                request.refuse(Unavailable(f"cannot lock the store for writing ({error})", hint="check SCRUBJAY_HOME"))
                continue
            finally:
                self._waiting_since = None
            closing = False
            try:
                connection = connection or self._connect()
                self._reserve.allocate_if_low()
                closing = self._serve_queued(connection, request)
            except BaseException as error:  # the next request tries again
                request.refuse(translate_error(error))
            finally:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            if closing:
                break
        if connection is not None:
            if not (self._log_has_erased and _truncate_log(connection, LOG_SECONDS)):
                _checkpoint_gently(connection)
            connection.close()
        os.close(self._lock)

    def _join(self, thread: threading.Thread) -> None:
        thread.join(self._busy_seconds)
        while thread.is_alive() and self._waited() < self._busy_seconds:
            thread.join(self._busy_seconds)

    def _serve_queued(self, connection: Connection, request: QueuedWork[Any]) -> bool:
        """Run this work and, for `HOLD_SECONDS`, the queued work after it; return True when closing."""
        closing = self._run_queued(connection, request)
        # After each hold, also when more work is waiting: a busy store must not keep erased data in its log.
        if self._log_has_erased and not closing:
            self._log_has_erased = not _truncate_log(connection, 0)
        return closing

    def _run_queued(self, connection: Connection, request: QueuedWork[Any]) -> bool:
        deadline = time.monotonic() + HOLD_SECONDS
        request.run(connection)
        while time.monotonic() < deadline:
            try:
                following = self._queue.get_nowait()
            except Empty:
                return False
            if following is None:
                return True
            following.run(connection)
        return False


class ReadOnlyWriter(Writer):
    """Refuses all writes: the writer of a store on a read-only file system."""

    def __init__(self) -> None:
        self.last_failure = None

    async def run_exclusive(self, work: Work[T]) -> T:
        raise Unavailable(
            "the store is on a read-only file system; nothing was changed",
            hint="reading and `scrubjay store check` work; to change the store, copy the folder to a writable disk",
        )

    async def close(self) -> None:
        """Do nothing: no thread was started."""


def _run_translated(work: Work[T], connection: Connection) -> T:
    """Run the work; raise our errors instead of SQLite's."""
    try:
        return work(connection)
    except BaseException as error:
        if (translated := translate_error(error)) is error:
            raise
        raise translated from error


def _run_one_statement(connection: Connection, work: Work[T]) -> T:
    """Run work that is one statement, without a transaction."""
    try:
        return work(connection)
    finally:  # afterwards: versions only increase, so the statement saw no other one
        connection.check_schema()


def _truncate_log(connection: Connection, patience: float) -> bool:
    """Checkpoint and truncate the write-ahead log; return False while a reader holds an older snapshot.

    Return False also if the disk is too full for it: the transaction before was committed nevertheless.
    """
    usual = connection.pragma("busy_timeout")
    connection.pragma("busy_timeout", round(patience * 1000))
    try:
        connection.checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except (apsw.BusyError, apsw.FullError):
        return False
    finally:
        connection.pragma("busy_timeout", usual)
    return True


def _checkpoint_gently(connection: Connection) -> None:
    try:
        connection.checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.Error as error:  # other processes are active; they checkpoint later
        logger.info("write-ahead log not checkpointed", extra={"reason": str(error)})
