"""Resolving all uses of a large repository in a process of its own: it takes long and much memory, and can be ended."""

import gc
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, cast

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from recollect.codebase.counting import Counts
from recollect.codebase.digesting import LENGTH_BYTES, limit
from recollect.codebase.packing import kept_edges
from recollect.domain.code import FileEdges, FileFacts, Language
from recollect.domain.errors import Unavailable
from recollect.storage.code import Content, KeptEdges

SETTING = "RECOLLECT_CODE_GRAPH_BYTES"
# Without -P the folder that this process works in, which may be a stranger's repository, would be searched for modules.
PROGRAM = ("-P", "-c", "from recollect.codebase.linking_apart import serve; serve()")


async def linked_apart(
    contents: Mapping[str, Content], batches: AsyncIterable[Mapping[Content, bytes]], memory_bytes: int
) -> tuple[Mapping[str, KeptEdges], Counts]:
    """What the uses in these files lead to; the batches are the digests of their contents."""
    from recollect.codebase.packed_facts import facts_in

    paths = [*contents]
    process = await anyio.open_process(
        [sys.executable, *PROGRAM, str(memory_bytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None
    )
    async with process:
        questions, answers = process.stdin, process.stdout
        if questions is None or answers is None:
            raise AssertionError("both were asked for")
        try:
            await questions.send(pickle.dumps([(path, tuple(contents[path])) for path in paths]))
            async for batch in batches:
                told = {tuple(content): facts_in(digest) for content, digest in batch.items()}
                await questions.send(pickle.dumps(told))
            await questions.send(pickle.dumps(None))
            reading = BufferedByteReceiveStream(answers)
            edges = {path: await _kept(reading, paths) for path in paths}
            counts = Counts.of(await _data(reading))
        except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead):
            code = await process.wait()
            raise Unavailable(
                f"finding what each use means took more than {memory_bytes // 1_000_000:,} MB, or failed ({code})",
                hint=f"exclude folders, or set {SETTING} to more",
            ) from None
        return edges, counts


async def _kept(reading: BufferedByteReceiveStream, paths: Sequence[str]) -> KeptEdges:
    packed = await _frame(reading)
    targets: list[int] = await _data(reading)
    return KeptEdges(packed, [paths[place] for place in targets])


async def _data(reading: BufferedByteReceiveStream) -> Any:
    from pydantic_core import from_json

    return from_json(await _frame(reading))


async def _frame(reading: BufferedByteReceiveStream) -> bytes:
    return await reading.receive_exactly(int.from_bytes(await reading.receive_exactly(LENGTH_BYTES), "little"))


def serve() -> None:
    """Answer on standard output what the files lead to whose facts are told on standard input."""
    from recollect.codebase.graph.resolving import resolver
    from recollect.codebase.packed_facts import LateFacts

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, int(sys.argv[1]))
    gc.disable()  # nothing of what is made is garbage before all is told
    try:
        contents, packed = _told(sys.stdin.buffer)
        known = {content: LateFacts(Language(content[1]), partial(packed.__getitem__, content)) for content in packed}
        facts = {path: cast(FileFacts, known[content]) for path, content in contents if content in known}
        telling = _Telling([path for path, _ in contents], facts, resolver([*facts], facts))
        sizes = [len(packed.get(content, b"")) for _, content in contents]
        # The calls of all files have been followed: what comes now can be told of each half by itself.
        _answer_in_halves(telling, _middle(sizes), answers)
        answers.flush()
    except (EOFError, BrokenPipeError):
        os._exit(0)  # nobody is there any more
    os._exit(0)  # letting go of millions of objects one by one takes seconds


@dataclass(frozen=True, slots=True)
class _Telling:
    """Writes what files lead to."""

    paths: Sequence[str]
    facts: Mapping[str, FileFacts]
    edges_of: Callable[[str], FileEdges]

    def tell(self, which: slice, answers: IO[bytes]) -> Counts:
        """What some of the files lead to; counted is what was found."""
        from pydantic_core import to_json

        place_of = {path: place for place, path in enumerate(self.paths)}
        counts, asking = Counts(), os.getppid()
        for path in self.paths[which]:
            if os.getppid() != asking:  # whoever asked was killed
                os._exit(1)
            found = self.edges_of(path) if path in self.facts else None
            counts.put_in(path, self.facts.get(path), found)
            kept = kept_edges(found) if found is not None else KeptEdges(b"")
            _write(answers, kept.edges)
            _write(answers, to_json([place_of[target] for target in kept.files]))
        return counts


def _answer_in_halves(telling: _Telling, middle: int, answers: IO[bytes]) -> None:
    """Tell the second half of the files in another process at the same time."""
    from pydantic_core import from_json, to_json

    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as counted:
        if not (process := os.fork()):
            try:
                counted.write(to_json(telling.tell(slice(middle, None), told).as_data()))
                told.flush()
                counted.flush()
            except BaseException:
                os._exit(1)
            os._exit(0)
        counts = telling.tell(slice(middle), answers)
        if os.waitpid(process, 0)[1] == 0:
            told.seek(0)
            counted.seek(0)
            shutil.copyfileobj(told, answers)
            counts.merge(Counts.of(from_json(counted.read())))
        else:
            counts.merge(telling.tell(slice(middle, None), answers))
    _write(answers, to_json(counts.as_data()))


def _middle(sizes: Sequence[int]) -> int:
    """How many are half of them."""
    half, so_far = sum(sizes) / 2, 0
    for place, size in enumerate(sizes):
        so_far += size
        if so_far >= half:
            return place + 1
    return len(sizes)


_Known = tuple[str, str]


def _told(questions: IO[bytes]) -> tuple[list[tuple[str, _Known]], dict[_Known, bytes]]:
    """The files and their contents, and the facts of each content."""
    contents: list[tuple[str, _Known]] = pickle.load(questions)  # noqa: S301 - from the process that started this one
    packed: dict[_Known, bytes] = {}
    while (batch := pickle.load(questions)) is not None:  # noqa: S301 - as above
        packed |= batch
    return contents, packed


def _write(answers: IO[bytes], content: bytes) -> None:
    answers.write(len(content).to_bytes(LENGTH_BYTES, "little") + content)
