"""Watch a folder and keep its index up to date: file events are debounced, then the changed files are indexed."""

import logging
import sys
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from scrubjay.code_index.discovery.watch_scope import WatchScope, find_watch_scope
from scrubjay.code_index.index.cancellation import run_cancellable, run_in_thread
from scrubjay.code_index.index.indexer import BuildResult
from scrubjay.code_index.index.options import IndexOptions, index_id_of
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Cancelled, NotFound, ScrubjayError
from scrubjay.core.lazy import lazy_module
from scrubjay.core.progress import Reporter

if TYPE_CHECKING:
    import watchfiles
    from watchfiles.main import FileChange
else:
    watchfiles = lazy_module("watchfiles")

logger = logging.getLogger("scrubjay.code_index")

# Debounce: indexing starts when nothing changed for this long, but at the latest after the maximum.
DEBOUNCE_SECONDS = 0.3
MAX_DEBOUNCE_SECONDS = 2.0
# Polling interval where file events are unsupported; at least this multiple of the time one poll takes.
POLL_SECONDS = 5.0
POLL_SHARE = 20
# Seconds between checks whether a missing folder has come back.
GONE_SECONDS = 1.0
# Seconds before a failed refresh is retried, if no change comes first.
RETRY_SECONDS = 30.0
# Seconds between cancellation checks.
CANCEL_POLL_SECONDS = 0.5
# More changes than this are indexed by a job, which reports progress.
FEW_CHANGES = 25
# inotify watches single folders anyway; listing them avoids a recursive watch, which follows links out of the tree.
ONE_BY_ONE = sys.platform == "linux"


class WatchUnsupported(Exception):
    """The system cannot report events for these folders."""


class FolderEvents:
    """File events of folders, from the moment `open` returns."""

    def __init__(self, folders: Sequence[str]) -> None:
        step = round(1000 * DEBOUNCE_SECONDS / 3)
        self._events = watchfiles.watch(
            *folders,
            watch_filter=None,
            debounce=2 * step,
            step=step,
            rust_timeout=3 * step,
            yield_on_timeout=True,
            raise_interrupt=False,
            debug=False,
            force_polling=False,
            recursive=not ONE_BY_ONE,
            ignore_permission_denied=True,
        )
        self._waiting = anyio.CapacityLimiter(1)

    async def open(self) -> None:
        """Start watching; raises `FileNotFoundError` when a folder is gone."""
        await self._next()

    async def changes(self) -> set[str]:
        """Return the changed paths once events are debounced; an empty set when nothing happens for a moment."""
        paths = await self._next()
        ends = anyio.current_time() + MAX_DEBOUNCE_SECONDS
        while paths and anyio.current_time() < ends and (more := await self._next()):
            paths |= more
        return paths

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._events.close, limiter=self._waiting)

    async def _next(self) -> set[str]:
        try:
            # Not abandoned on cancellation: it returns within its timeout, and can be closed only then.
            return await anyio.to_thread.run_sync(_paths, self._events, limiter=self._waiting)
        except FileNotFoundError:
            raise
        # More folders than the system can watch, or a name that is not UTF-8.
        except (OSError, RuntimeError, UnicodeError) as error:
            raise WatchUnsupported(str(error)) from error


def _paths(events: "Iterable[set[FileChange]]") -> set[str]:
    for changes in events:
        return {path for _, path in changes}
    raise RuntimeError("the event stream has ended")


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """Numbers of files read to bring an index up to date."""

    changed: int
    removed: int


@dataclass
class FolderWatcher:
    """Watches one folder and refreshes its index."""

    code: CodeService
    root: str
    options: IndexOptions
    build: Callable[[], Awaitable[RefreshResult | None]]
    """Runs a large refresh as a job; returns None when the job was cancelled."""
    open_events: Callable[[Sequence[str]], FolderEvents] = FolderEvents
    builds: int = field(default=0, init=False)
    _last_result: str = field(default="", init=False)
    _retry_at: float = field(default=inf, init=False)

    async def run(self, reporter: Reporter) -> None:
        """Keep the index up to date until the reporter raises `Cancelled` or this task is cancelled."""
        await run_cancellable(reporter, self._watch, every=CANCEL_POLL_SECONDS)

    async def _watch(self, reporter: Reporter) -> None:
        while True:
            try:
                scope = await self._survey()
            except NotFound:
                await self._report(reporter, "waiting for the folder to come back")
                await anyio.sleep(GONE_SECONDS)
                continue
            events = self.open_events(scope.watched_folders if ONE_BY_ONE else [self.root, *scope.git])
            try:
                await events.open()
                await self._listen(scope, events, reporter)
            except FileNotFoundError:
                continue  # a folder was removed since the survey
            except WatchUnsupported as problem:
                await self._poll(str(problem), reporter)
            finally:
                await events.close()

    async def _listen(self, scope: WatchScope, events: FolderEvents, reporter: Reporter) -> None:
        """Refresh now and after every change, until the set of folders to watch changes."""
        # Events between the survey and `open` were lost: survey again, and refresh once.
        is_complete = (await self._survey()).folders == scope.folders
        covers_all = await self._refresh(scope, reporter)
        while is_complete and covers_all:
            await self._report(reporter, f"watching {len(scope.folders)} folder(s)")
            paths = await events.changes()
            while paths and scope.git_is_busy:
                paths |= await events.changes()
            relevant = await anyio.to_thread.run_sync(_relevant, scope, paths) if paths else []
            if scope.is_outdated_by(relevant):
                return
            if relevant or anyio.current_time() > self._retry_at:
                covers_all = await self._refresh(scope, reporter)

    async def _poll(self, reason: str, reporter: Reporter) -> None:
        """Refresh the index, then sleep for the polling interval."""
        began = anyio.current_time()
        await self._refresh(None, reporter)
        pause = max(POLL_SECONDS, POLL_SHARE * (anyio.current_time() - began))
        await self._report(
            reporter, f"polling every {pause:.0f} seconds, because file events are not supported: {reason}"
        )
        await anyio.sleep(pause)

    async def _refresh(self, scope: WatchScope | None, reporter: Reporter) -> bool:
        """Refresh the index; return whether all indexed files are in watched folders."""
        began = anyio.current_time()
        self._retry_at = inf
        code, indexer = self.code, self.code.indexer
        try:
            snapshot = await indexer.snapshot(self.root, "HEAD", self.options)
            record = await code.store.index(index_id_of(self.root, "HEAD", self.options))
            changed, removed = await indexer.changes_since(snapshot, record)
            if record is not None and not changed and not removed and record.commit == snapshot.commit:
                return True
            if record is None or len(changed) + len(removed) > FEW_CHANGES:
                await self._report(reporter, "indexing")
                if (done := await self.build()) is None:
                    self._last_result = "indexing was cancelled; waiting for the next change"
                    return True
                is_watched = False
            else:
                known = await indexer.files_of(record)
                built = await indexer.build(self.root, "HEAD", self.options, reporter, seen=snapshot)
                await self._notify_files(built, known)
                done = RefreshResult(len(built.changed), len(built.removed))
                is_watched = scope is None or all(scope.covers(path) for path in built.changed)
                await code.reload(built.record.id)
        except Cancelled:
            raise
        except ScrubjayError as problem:
            self._retry_at = anyio.current_time() + RETRY_SECONDS
            self._last_result = f"the index could not be updated: {problem.message}"
            logger.warning("refreshing a watched folder failed", extra={"root": self.root, "problem": problem.message})
            return True
        self.builds += 1
        seconds = anyio.current_time() - began
        self._last_result = f"{done.changed} changed, {done.removed} removed ({seconds:.1f} s)"
        return is_watched

    async def _notify_files(self, built: BuildResult, known: Container[str]) -> None:
        if (notify := self.code.on_change) is not None:
            owner_only = await self.code.folders.refusal(self.root, restricted=True) is not None
            for path in built.changed:
                notify(str(Path(self.root, path)), "modified" if path in known else "created", owner_only)
            for path in built.removed:
                notify(str(Path(self.root, path)), "deleted", owner_only)

    async def _survey(self) -> WatchScope:
        record = index_id_of(self.root, "HEAD", self.options)
        known = {file.path for file in await self.code.store.files(record)}
        excludes, limits = self.options.excludes, self.code.indexer.limits
        protected = self.code.indexer.protected

        def look(should_stop: Callable[[], bool]) -> WatchScope:
            return find_watch_scope(
                self.root, known, limits=limits, excludes=excludes, should_stop=should_stop, protected=protected
            )

        return await run_in_thread(look)

    async def _report(self, reporter: Reporter, message: str) -> None:
        await reporter.report(self.builds, None, f"{message}; {self._last_result}" if self._last_result else message)


def _relevant(scope: WatchScope, paths: Iterable[str]) -> list[str]:
    return [path for path in paths if scope.is_relevant(path)]
