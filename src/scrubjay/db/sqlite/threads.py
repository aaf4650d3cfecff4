"""The threads that SQLite works on: one that writes, a few that read, all fed by queues."""

import asyncio
import fcntl
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import apsw

from scrubjay.core.errors import Unavailable
from scrubjay.db.sqlite.connections import Connection, Work, in_snapshot, in_transaction
from scrubjay.db.sqlite.errors import busy, translated

logger = logging.getLogger("scrubjay.db")

T = TypeVar("T")
Connect = Callable[[], Connection]

# How long the writes queued in one process may share one hold of the lock before others get their turn.
HOLD_SECONDS = 0.05
# How long an erasure waits for those who read an older state, before the log is left to be emptied later.
LOG_SECONDS = 0.2


class Request(Generic[T]):
    """One piece of work in a queue, and the future that its outcome goes to."""

    def __init__(self, work: Work[T]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._turn = threading.Lock()  # whoever takes it decides: the lane that begins, or the timer that gives up
        self.outcome: asyncio.Future[T] = self._loop.create_future()

    def run(self, connection: Connection) -> None:
        """Do the work unless it was withdrawn. Its caller may have gone: the work is done all the same."""
        if not self._turn.acquire(blocking=False):
            return
        # Whoever waits for the outcome refers to this in a circle, which is found late: what was written goes now.
        work = self._work
        del self._work
        try:
            result = work(connection)
        except BaseException as error:  # whatever it is, it is the caller's to see and must not end the lane
            self._tell(self._fail, translated(error))
        else:
            self._tell(self._succeed, result)

    def refuse(self, error: BaseException) -> None:
        """Say that the work cannot begin; called by the lane."""
        if self._turn.acquire(blocking=False):
            self._tell(self._fail, error)

    def withdraw(self, error: BaseException) -> None:
        """Give up unless the work has begun; called on the event loop."""
        if self._turn.acquire(blocking=False):
            self._fail(error)

    @property
    def withdrawn(self) -> bool:
        return self._turn.locked()

    def _tell(self, deliver: Callable[[Any], None], outcome: Any) -> None:
        with suppress(RuntimeError):  # the event loop is gone, and with it whoever asked
            self._loop.call_soon_threadsafe(deliver, outcome)

    def _succeed(self, result: T) -> None:
        if not self.outcome.done():
            self.outcome.set_result(result)

    def _fail(self, error: BaseException) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


class Lane(ABC):
    """Threads that serve one queue. Nothing is accepted after closing; what was accepted before is done."""

    def __init__(self, name: str, threads: int) -> None:
        self._process = os.getpid()
        self._queue: SimpleQueue[Request[Any] | None] = SimpleQueue()
        self._closing = False
        # Daemons, so that a lock which another process never gives back cannot keep this process from ending.
        self._threads = [threading.Thread(target=self._serve, name=name, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def refuse_if_gone(self) -> None:
        """Raise `Unavailable` when the threads have ended, or never were in this process."""
        if self._closing:
            raise Unavailable("the store is closed", hint="open it again")
        if os.getpid() != self._process:
            raise Unavailable(
                "this store was opened before the process forked", hint="open the store anew in the child process"
            )

    def _submit(self, work: Work[T]) -> Request[T]:
        self.refuse_if_gone()
        request = Request(work)
        self._queue.put(request)
        return request

    async def close(self) -> None:
        """Finish what is queued and end the threads."""
        if os.getpid() != self._process:
            return  # the threads did not come along in the fork
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
        """What each thread does."""


class Readers(Lane):
    """A few connections that read, each on its own thread."""

    def __init__(self, connect: Connect, threads: int) -> None:
        self._connect = connect
        self._here: Connection | None = None
        super().__init__("scrubjay-reader", threads)

    async def read(self, work: Work[T]) -> T:
        """Do this on one snapshot of the store."""
        return await self._submit(lambda connection: in_snapshot(connection, work)).outcome

    async def read_here(self, work: Work[T], *, is_one_statement: bool = False) -> T:
        """The same on the event loop's own thread: for what takes less time than waking another thread twice.

        One statement always sees one state.
        """
        await self.open_here()
        return self.read_now(work, is_one_statement=is_one_statement)

    async def open_here(self) -> None:
        """Make ready what `read_now` needs."""
        if self._here is None:  # a connection may have to wait when it is opened, so that is done elsewhere
            connection = await self._submit(lambda _: self._connect()).outcome
            if self._here is None and not self._closing:
                self._here = connection
            else:
                connection.close()

    def read_now(self, work: Work[T], *, is_one_statement: bool = False) -> T:
        """The same without giving way to anybody; `Unavailable` unless it was made ready."""
        self.refuse_if_gone()
        if self._here is None:
            raise Unavailable("the store is closed", hint="open it again")
        try:
            return work(self._here) if is_one_statement else in_snapshot(self._here, work)
        except BaseException as error:
            raise translated(error) from error

    async def close(self) -> None:
        await super().close()
        if self._here is not None and os.getpid() == self._process:
            self._here.close()
            self._here = None

    def _serve(self) -> None:
        connection: Connection | None = None
        while (request := self._queue.get()) is not None:
            if request.outcome.cancelled():  # nobody waits for the answer any more
                continue
            try:
                connection = connection or self._connect()
            except BaseException as error:  # the next request tries again
                request.refuse(translated(error))
            else:
                request.run(connection)
        if connection is not None:
            connection.close()


class Writer(Lane):
    """The one connection of this process that writes.

    It takes the lock on a side file before each transaction, and gives it back after: SQLite alone lets one process
    starve the others, while the kernel's queue for the file lock lets every process have its turn.
    """

    def __init__(self, connect: Connect, lock: Path, busy_seconds: float) -> None:
        self._connect = connect
        self._busy_seconds = busy_seconds
        self._waiting_since: float | None = None
        self._log_has_erased = False
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        super().__init__("scrubjay-writer", 1)

    async def write(self, work: Work[T]) -> T:
        """Do this in one transaction, durable when this returns.

        A caller that is cancelled meanwhile does not stop it: a write is done wholly, or never begun.
        """
        return await self.alone(lambda connection: in_transaction(connection, work))

    async def erase(self, work: Work[T]) -> T:
        """The same for what is to be gone: the log, which still has it, is emptied before this returns.

        Not while somebody reads an older state for long: then after one of the next writes, or when this is closed.
        """

        def and_empty_log(connection: Connection) -> T:
            result = in_transaction(connection, work)
            self._log_has_erased = not _empty_log(connection, LOG_SECONDS)
            return result

        return await self.alone(and_empty_log)

    async def alone(self, work: Work[T]) -> T:
        """Do this while no other process writes, outside of any transaction.

        `Busy` when other processes keep the lock for too long; behind writes of its own process it waits patiently.
        """
        request = self._submit(work)
        loop = asyncio.get_running_loop()

        def lose_patience() -> None:
            nonlocal timer
            left = self._busy_seconds - self._waited()
            if left > 0:
                timer = loop.call_later(left, lose_patience)
            else:
                request.withdraw(busy(self._busy_seconds))

        timer = loop.call_later(self._busy_seconds, lose_patience)
        try:
            return await request.outcome
        finally:
            timer.cancel()

    def _waited(self) -> float:
        """How long the thread has been waiting for other processes by now."""
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
                request.refuse(Unavailable(f"the writers' lock cannot be had ({error})", hint="check SCRUBJAY_HOME"))
                continue
            finally:
                self._waiting_since = None
            closing = False
            try:
                connection = connection or self._connect()
                closing = self._serve_queued(connection, request)
            except BaseException as error:  # the next request tries again
                request.refuse(translated(error))
            finally:
                fcntl.flock(self._lock, fcntl.LOCK_UN)
            if closing:
                break
        if connection is not None:
            if not (self._log_has_erased and _empty_log(connection, LOG_SECONDS)):
                _checkpoint_gently(connection)
            connection.close()
        os.close(self._lock)

    def _join(self, thread: threading.Thread) -> None:
        thread.join(self._busy_seconds)
        while thread.is_alive() and self._waited() < self._busy_seconds:
            thread.join(self._busy_seconds)

    def _serve_queued(self, connection: Connection, request: Request[Any]) -> bool:
        """This request and, for a short while, those behind it; True when the lane is to close."""
        deadline = time.monotonic() + HOLD_SECONDS
        request.run(connection)
        while time.monotonic() < deadline:
            try:
                following = self._queue.get_nowait()
            except Empty:
                if self._log_has_erased:
                    self._log_has_erased = not _empty_log(connection, 0)
                return False
            if following is None:
                return True
            following.run(connection)
        return False


def _empty_log(connection: Connection, patience: float) -> bool:
    """Move all that the log holds into the database and cut it off; False while somebody reads an older state."""
    usual = connection.pragma("busy_timeout")
    connection.pragma("busy_timeout", round(patience * 1000))
    try:
        connection.checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        connection.pragma("busy_timeout", usual)
    return True


def _checkpoint_gently(connection: Connection) -> None:
    try:
        connection.checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.Error as error:  # others work on; the log is kept and goes into the file later
        logger.info("the write-ahead log was left as it is", extra={"reason": str(error)})
