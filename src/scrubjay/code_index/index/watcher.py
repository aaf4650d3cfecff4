"""Keeping the index of a folder as the folder is: changes are heard, and read once it has been quiet for a moment."""

import logging
import sys
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from scrubjay.code_index.discovery.watch_scope import Territory, survey
from scrubjay.code_index.index.cancellation import heeding, in_thread
from scrubjay.code_index.index.indexer import Built, IndexOptions, index_id_of
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Cancelled, NotFound, ScrubjayError
from scrubjay.core.progress import Reporter

if TYPE_CHECKING:
    from watchfiles.main import FileChange

logger = logging.getLogger("scrubjay.code_index")

# After a change, work begins when nothing else changed for so long, but no later than that.
QUIET_SECONDS = 0.3
LONGEST_SECONDS = 2.0
# Where the system tells nothing, it is looked so often; the more rarely, the longer a look takes.
LOOK_SECONDS = 5.0
LOOK_SHARE = 20
# How often it is looked whether a folder that is gone has come back.
GONE_SECONDS = 1.0
# What failed is tried again after so long, if nothing changes before.
RETRY_SECONDS = 30.0
# How often it is looked whether to go on.
HEED_SECONDS = 0.5
# More changes than this are left to whoever can tell of it.
FEW_CHANGES = 25
# Where folders are watched one by one anyway, we name them: what watches a whole tree follows links out of it.
ONE_BY_ONE = sys.platform == "linux"


class CannotHear(Exception):
    """The system does not tell what happens in these folders."""


class Hearing:
    """What the system tells of folders, from the moment it is opened."""

    def __init__(self, folders: Sequence[str]) -> None:
        from watchfiles import watch

        step = round(1000 * QUIET_SECONDS / 3)
        self._told = watch(
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
        """Begin to listen: what happens after this is heard. `FileNotFoundError` when a folder is gone."""
        await self._next()

    async def changes(self) -> set[str]:
        """The paths that changed, once it is quiet; none when nothing happens for a moment."""
        paths = await self._next()
        ends = anyio.current_time() + LONGEST_SECONDS
        while paths and anyio.current_time() < ends and (more := await self._next()):
            paths |= more
        return paths

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._told.close, limiter=self._waiting)

    async def _next(self) -> set[str]:
        try:
            # It is never left alone in its thread: it takes no longer than a moment, and can then be closed.
            return await anyio.to_thread.run_sync(_paths, self._told, limiter=self._waiting)
        except FileNotFoundError:
            raise
        # There are more folders than the system watches, or a name is not UTF-8.
        except (OSError, RuntimeError, UnicodeError) as error:
            raise CannotHear(str(error)) from error


def _paths(told: "Iterable[set[FileChange]]") -> set[str]:
    for changes in told:
        return {path for _, path in changes}
    raise RuntimeError("nothing is heard any more")


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What was read to bring an index up to date."""

    changed: int
    removed: int


@dataclass
class Watch:
    """The watch of one folder."""

    code: CodeService
    root: str
    options: IndexOptions
    build: Callable[[], Awaitable[Refreshed | None]]
    """Brings the index up to date where much changed; None when it was stopped."""
    hearing: Callable[[Sequence[str]], Hearing] = Hearing
    builds: int = field(default=0, init=False)
    _said: str = field(default="", init=False)
    _retry_at: float = field(default=inf, init=False)

    async def run(self, reporter: Reporter) -> None:
        """Keep the index up to date until the reporter asks to stop, or this is cancelled."""
        await heeding(reporter, self._keep, every=HEED_SECONDS)

    async def _keep(self, reporter: Reporter) -> None:
        while True:
            try:
                territory = await self._survey()
            except NotFound:
                await self._tell(reporter, "waiting for the folder to come back")
                await anyio.sleep(GONE_SECONDS)
                continue
            hearing = self.hearing(territory.watched if ONE_BY_ONE else [self.root, *territory.git])
            try:
                await hearing.open()
                await self._listen(territory, hearing, reporter)
            except FileNotFoundError:
                continue  # a folder went away since it was seen
            except CannotHear as problem:
                await self._look(str(problem), reporter)
            finally:
                await hearing.close()

    async def _listen(self, territory: Territory, hearing: Hearing, reporter: Reporter) -> None:
        """Bring the index up to date now and after every change, until other folders have to be heard."""
        # What came between the look at the folders and the moment from which they are heard was heard by nobody.
        seen_whole = (await self._survey()).folders == territory.folders
        knows_all = await self._freshen(territory, reporter)
        while seen_whole and knows_all:
            await self._tell(reporter, f"watching {len(territory.folders)} folder(s)")
            paths = await hearing.changes()
            while paths and territory.git_is_busy:
                paths |= await hearing.changes()
            matters = await anyio.to_thread.run_sync(_mattering, territory, paths) if paths else []
            if territory.is_another(matters):
                return
            if matters or anyio.current_time() > self._retry_at:
                knows_all = await self._freshen(territory, reporter)

    async def _look(self, reason: str, reporter: Reporter) -> None:
        """Bring the index up to date, and wait for a while."""
        began = anyio.current_time()
        await self._freshen(None, reporter)
        pause = max(LOOK_SECONDS, LOOK_SHARE * (anyio.current_time() - began))
        await self._tell(reporter, f"looking every {pause:.0f} seconds, because changes cannot be heard: {reason}")
        await anyio.sleep(pause)

    async def _freshen(self, territory: Territory | None, reporter: Reporter) -> bool:
        """Bring the index up to date; whether all that it holds now is in folders that are heard."""
        began = anyio.current_time()
        self._retry_at = inf
        code, indexer = self.code, self.code.indexer
        try:
            snapshot = await indexer.snapshot(self.root, "HEAD", self.options)
            record = await code.store.index(index_id_of(self.root, "HEAD", self.options))
            changed, removed = await indexer.behind(snapshot, record)
            if record is not None and not changed and not removed and record.commit == snapshot.commit:
                return True
            if record is None or len(changed) + len(removed) > FEW_CHANGES:
                await self._tell(reporter, "indexing")
                if (done := await self.build()) is None:
                    self._said = "indexing was stopped, and waits for the next change"
                    return True
                heard = False
            else:
                known = await indexer.files_of(record)
                built = await indexer.build(self.root, "HEAD", self.options, reporter, seen=snapshot)
                self._tell_files(built, known)
                done = Refreshed(len(built.changed), len(built.removed))
                heard = territory is None or all(territory.hears(path) for path in built.changed)
                await code.bring_up(built.record.id)
        except Cancelled:
            raise
        except ScrubjayError as problem:
            self._retry_at = anyio.current_time() + RETRY_SECONDS
            self._said = f"the index could not be brought up to date: {problem.message}"
            logger.warning("a watched folder was not indexed", extra={"root": self.root, "problem": problem.message})
            return True
        self.builds += 1
        seconds = anyio.current_time() - began
        self._said = f"{done.changed} changed, {done.removed} removed ({seconds:.1f} s)"
        return heard

    def _tell_files(self, built: Built, known: Container[str]) -> None:
        if (tell := self.code.on_change) is not None:
            for path in built.changed:
                tell(str(Path(self.root, path)), "modified" if path in known else "created")
            for path in built.removed:
                tell(str(Path(self.root, path)), "deleted")

    async def _survey(self) -> Territory:
        record = index_id_of(self.root, "HEAD", self.options)
        known = {file.path for file in await self.code.store.files(record)}
        excludes, limits = self.options.excludes, self.code.indexer.limits

        def look(should_stop: Callable[[], bool]) -> Territory:
            return survey(self.root, known, limits=limits, excludes=excludes, should_stop=should_stop)

        return await in_thread(look)

    async def _tell(self, reporter: Reporter, message: str) -> None:
        await reporter.report(self.builds, None, f"{message}; {self._said}" if self._said else message)


def _mattering(territory: Territory, paths: Iterable[str]) -> list[str]:
    return [path for path in paths if territory.matters(path)]
