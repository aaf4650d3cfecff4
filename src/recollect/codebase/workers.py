"""Reading many files at once, in processes of their own: parsing keeps a processor busy."""

import multiprocessing
import os
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager

import anyio
import anyio.to_thread

from recollect.domain.code import Language
from recollect.storage.code import Content

# So much is read by a worker at a time: few enough that all stop within a second, enough to be worth sending.
BATCH_BYTES = 256 * 1024
BATCH_FILES = 40
# Fewer files than these are read sooner here than a worker starts.
FEW_FILES = 24
FEW_BYTES = 400_000

Unread = tuple[Content, bytes]
Read = tuple[Content, bytes]
"""A content and its digest, packed."""


def digest_batch(batch: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """What the contents come to, packed; done in a worker."""
    from recollect.codebase.digest import digest

    return [digest(content, Language(language)).packed() for language, content in batch]


async def digested(contents: Iterable[Unread], *, workers: int) -> AsyncIterator[list[Read]]:
    """The digests of all these, a batch at a time, in no particular order."""
    batches = _batches(contents)
    first = next(batches, None)
    if first is None:
        return
    second = next(batches, None)
    if second is None and len(first) <= FEW_FILES and sum(len(content) for _, content in first) <= FEW_BYTES:
        yield _paired(first, await anyio.to_thread.run_sync(digest_batch, _sent(first)))
        return
    with _pool(workers) as pool:
        running: dict[Future[list[bytes]], list[Unread]] = {}
        waiting = iter([first, *([second] if second else [])])
        while True:
            while len(running) < workers + 2 and (batch := next(waiting, None) or next(batches, None)):
                running[pool.submit(digest_batch, _sent(batch))] = batch
            if not running:
                return
            done, _ = await anyio.to_thread.run_sync(lambda: wait(running, 0.5, FIRST_COMPLETED))
            for future in done:
                yield _paired(running.pop(future), future.result())


@contextmanager
def _pool(workers: int) -> Generator[ProcessPoolExecutor]:
    # A process that has threads must not be forked.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """Let others go first: nobody waits for an index as they wait for an answer."""
    os.nice(5)


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


def _sent(batch: Sequence[Unread]) -> list[tuple[str, bytes]]:
    return [(content.language.value, data) for content, data in batch]


def _paired(batch: Sequence[Unread], packed: Sequence[bytes]) -> list[Read]:
    return [(content, digest) for (content, _), digest in zip(batch, packed, strict=True)]
