"""Resolving all uses of a large repository in a process of its own: it takes long and much memory, and can be ended."""

import gc
import io
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import IO, cast

import anyio
import anyio.to_thread
from anyio.abc import Process

from scrubjay.code_index.facts.packing import kept_edges
from scrubjay.code_index.index.digest_worker import LENGTH_BYTES, limit
from scrubjay.code_index.index.statistics import Counts
from scrubjay.code_index.models import FileEdges, FileFacts, Language
from scrubjay.code_index.store import Content, KeptEdges
from scrubjay.core.errors import Unavailable

SETTING = "SCRUBJAY_CODE_GRAPH_BYTES"
# Without -P the folder that this process works in, which may be a stranger's repository, would be searched for modules.
PROGRAM = ("-P", "-c", "from scrubjay.code_index.index.link_process import serve; serve()")


class LinkingProcess:
    """A process that waits for files to resolve the uses of, and a file of what it is told before it is asked.

    Whoever tells it something never waits for it: it reads the file when it is asked.
    """

    def __init__(self, process: Process, early: IO[bytes]) -> None:
        self.process = process
        self.told: set[Content] = set()
        """The contents whose facts are in the file."""
        self.batches = 0
        self._early = early
        self._has_room = True

    def tell(self, facts: Mapping[Content, bytes]) -> None:
        """Let it know what these contents say."""
        if not self._has_room:
            return
        try:
            left = memoryview(pickle.dumps({tuple(content): own for content, own in facts.items()}))
            while left:
                left = left[self._early.write(left) :]
        except OSError:  # what is left is told when it is asked; it reads no more batches than are whole
            self._has_room = False
        else:
            self.batches += 1
            self.told |= facts.keys()


@asynccontextmanager
async def linking_process(memory_bytes: int) -> AsyncGenerator[LinkingProcess]:
    """A process that waits to be asked. When this is left it is gone, whatever it was doing."""
    # Without a buffer, which would be written once more, in vain, when a file is closed that there was no room for.
    with tempfile.TemporaryFile(buffering=0) as early:
        process = await anyio.open_process(
            [sys.executable, *PROGRAM, str(memory_bytes), str(early.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            pass_fds=[early.fileno()],
        )
        async with process:
            try:
                yield LinkingProcess(process, early)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()


async def linked_apart(
    contents: Mapping[str, Content],
    batches: Callable[[Collection[Content]], AsyncIterable[Mapping[Content, bytes]]],
    memory_bytes: int,
    ready: LinkingProcess | None = None,
) -> tuple[Mapping[str, KeptEdges], Counts]:
    """What the uses in these files lead to; the batches are the digests of all contents but those that it is given.

    A process that is ready for it is asked; else one is started.
    """
    from scrubjay.code_index.facts.packed_facts import facts_in

    paths = [*contents]
    async with linking_process(memory_bytes) if ready is None else nullcontext(ready) as linking:
        process = linking.process
        questions, answers = process.stdin, process.stdout
        if questions is None or answers is None:
            raise AssertionError("both were asked for")
        try:
            asked = [(path, tuple(contents[path])) for path in paths], linking.batches
            await questions.send(pickle.dumps(asked))
            async for batch in batches(linking.told):
                told = {tuple(content): facts_in(digest) for content, digest in batch.items()}
                await questions.send(pickle.dumps(told))
            await questions.send(pickle.dumps(None))
            answer = io.BytesIO(b"".join([part async for part in answers]))
            return await anyio.to_thread.run_sync(_understood, answer, paths)
        except (anyio.BrokenResourceError, EOFError):
            code = await process.wait()
            raise Unavailable(
                f"finding what each use means took more than {memory_bytes // 1_000_000:,} MB, or failed ({code})",
                hint=f"exclude folders, or set {SETTING} to more",
            ) from None


def _understood(answer: IO[bytes], paths: Sequence[str]) -> tuple[Mapping[str, KeptEdges], Counts]:
    """What was told of these files, one after the other."""
    from pydantic_core import from_json

    edges: dict[str, KeptEdges] = {}
    for path in paths:
        packed, targets = _frame(answer), cast("list[int]", from_json(_frame(answer)))
        edges[path] = KeptEdges(packed, [paths[place] for place in targets])
    return edges, Counts.of(from_json(_frame(answer)))


def _frame(answer: IO[bytes]) -> bytes:
    head = answer.read(LENGTH_BYTES)
    length = int.from_bytes(head, "little")
    content = answer.read(length)
    if len(head) < LENGTH_BYTES or len(content) < length:
        raise EOFError
    return content


def serve() -> None:
    """Answer on standard output what the files lead to whose facts are told on standard input."""
    from scrubjay.code_index.facts.packed_facts import LateFacts
    from scrubjay.code_index.graph.resolver import resolver

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, int(sys.argv[1]))
    # Files are still being read; what is needed then is loaded now.
    for name in ("javascript", "names", "python"):
        import_module(f"scrubjay.code_index.graph.{name}")
    gc.disable()  # nothing of what is made is garbage before all is told
    try:
        with os.fdopen(int(sys.argv[2]), "rb") as early:
            contents, packed = _told(sys.stdin.buffer, early)
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


def _told(questions: IO[bytes], early: IO[bytes]) -> tuple[list[tuple[str, _Known]], dict[_Known, bytes]]:
    """The files and their contents, and the facts of each content, most of which were told before."""
    contents: list[tuple[str, _Known]]
    contents, batches = pickle.load(questions)  # noqa: S301 - from the process that started this one
    packed: dict[_Known, bytes] = {}
    early.seek(0)
    for _ in range(batches):
        packed |= pickle.load(early)  # noqa: S301 - as above
    while (batch := pickle.load(questions)) is not None:  # noqa: S301 - as above
        packed |= batch
    return contents, packed


def _write(answers: IO[bytes], content: bytes) -> None:
    answers.write(len(content).to_bytes(LENGTH_BYTES, "little") + content)
