"""Link a large repository in a child process, which bounds its memory and can be killed."""

import gc
import io
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import IO, Any, cast

import anyio.to_thread
from pydantic_core import from_json, to_json

from scrubjay.code_index.facts.packed_facts import LazyFacts, extract_facts
from scrubjay.code_index.facts.packing import pack_edges
from scrubjay.code_index.graph.resolver import prepare_resolution
from scrubjay.code_index.index.statistics import Counts
from scrubjay.code_index.models import FileEdges, FileFacts, Language
from scrubjay.code_index.store import Content, StoredEdges
from scrubjay.core.errors import Unavailable
from scrubjay.isolation.channel import FrameChannel, connect_to_parent
from scrubjay.isolation.worker import Worker, WorkerExited

SETTING = "SCRUBJAY_CODE_GRAPH_BYTES"
# The answer is a stream of records, each with a length of this size; frames of the stream carry this many bytes.
LENGTH_BYTES = 8
ANSWER_FRAME_BYTES = 256 * 1024
# -P: do not import modules from the working directory, which may be an untrusted repository.
PROGRAM = ("-P", "-c", "from scrubjay.code_index.index.link_process import serve; serve()")


class LinkProcess:
    """A started link process, and a temporary file of facts sent ahead of the request.

    `send_ahead` never blocks: the process reads the file when it receives the request.
    """

    def __init__(self, worker: Worker, early: IO[bytes]) -> None:
        self.worker = worker
        self.sent: set[Content] = set()
        """Contents whose facts are in the file."""
        self.batches = 0
        self._early = early
        self._has_room = True

    def send_ahead(self, facts: Mapping[Content, bytes]) -> None:
        """Write the facts of these contents to the file, while the disk has room."""
        if not self._has_room:
            return
        try:
            left = memoryview(pickle.dumps({tuple(content): own for content, own in facts.items()}))
            while left:
                left = left[self._early.write(left) :]
        except OSError:  # the rest goes with the request; the process reads only complete batches
            self._has_room = False
        else:
            self.batches += 1
            self.sent |= facts.keys()


@asynccontextmanager
async def start_link_process(memory_bytes: int) -> AsyncGenerator[LinkProcess]:
    """Start a link process; kill it when the context exits."""
    # Unbuffered: after a full disk, closing a buffered file would try to write again.
    with tempfile.TemporaryFile(buffering=0) as early:
        arguments = [*PROGRAM, str(memory_bytes), str(early.fileno())]
        worker = Worker(arguments, name="link", pass_fds=[early.fileno()])
        try:
            yield LinkProcess(worker, early)
        finally:
            await worker.close_async()


async def link_in_process(
    contents: Mapping[str, Content],
    batches: Callable[[Collection[Content]], AsyncIterable[Mapping[Content, bytes]]],
    memory_bytes: int,
    ready: LinkProcess | None = None,
) -> tuple[Mapping[str, StoredEdges], Counts]:
    """Link these files in a child process: in `ready` if given, else in a new one.

    `batches` returns the digests of all contents except those passed to it. Raises `Unavailable` when the process dies,
    usually of its memory limit.
    """
    paths = [*contents]
    async with start_link_process(memory_bytes) if ready is None else nullcontext(ready) as linking:
        worker = linking.worker
        try:
            request = [(path, tuple(contents[path])) for path in paths], linking.batches
            await worker.send_async(pickle.dumps(request))
            async for batch in batches(linking.sent):
                facts = {tuple(content): extract_facts(digest) for content, digest in batch.items()}
                await worker.send_async(pickle.dumps(facts))
            await worker.send_async(pickle.dumps(None))
            parts: list[bytes] = []
            while part := await worker.receive_async():
                parts.append(part)
            return await anyio.to_thread.run_sync(_read_answer, io.BytesIO(b"".join(parts)), paths)
        except (WorkerExited, EOFError) as failure:
            code = await worker.close_async()
            raise Unavailable(
                f"linking took more than {memory_bytes // 1_000_000:,} MB, or failed ({code})",
                hint=f"exclude folders, or raise {SETTING}",
            ) from failure


def _read_answer(answer: IO[bytes], paths: Sequence[str]) -> tuple[Mapping[str, StoredEdges], Counts]:
    """Read the edges of these files, in order, then the counts."""
    edges: dict[str, StoredEdges] = {}
    for path in paths:
        packed, targets = _frame(answer), cast("list[int]", from_json(_frame(answer)))
        edges[path] = StoredEdges(packed, [paths[place] for place in targets])
    return edges, Counts.of(from_json(_frame(answer)))


def _frame(answer: IO[bytes]) -> bytes:
    head = answer.read(LENGTH_BYTES)
    length = int.from_bytes(head, "little")
    content = answer.read(length)
    if len(head) < LENGTH_BYTES or len(content) < length:
        raise EOFError
    return content


def serve() -> None:
    """Receive a request, link the files, and send their edges."""
    channel = connect_to_parent(memory_bytes=int(sys.argv[1]), niceness=5)
    answers = io.BufferedWriter(_AnswerStream(channel), ANSWER_FRAME_BYTES)
    # Import early, while the parent still reads files.
    for name in ("javascript", "names", "python"):
        import_module(f"scrubjay.code_index.graph.{name}")
    gc.disable()  # everything allocated is needed until the answer is written
    try:
        with os.fdopen(int(sys.argv[2]), "rb") as early:
            contents, packed = _read_request(channel, early)
        known = {content: LazyFacts(Language(content[1]), partial(packed.__getitem__, content)) for content in packed}
        facts = {path: cast(FileFacts, known[content]) for path, content in contents if content in known}
        writer = _EdgeWriter([path for path, _ in contents], facts, prepare_resolution([*facts], facts))
        sizes = [len(packed.get(content, b"")) for _, content in contents]
        # Value flow is complete for all files: from here, each half can be written on its own.
        _answer_in_halves(writer, _middle(sizes), answers)
        answers.flush()
        channel.send(b"")
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the parent is gone
    os._exit(0)  # freeing millions of objects takes seconds


class _AnswerStream(io.RawIOBase):
    """Sends what is written as frames; an empty frame ends the stream."""

    def __init__(self, channel: FrameChannel) -> None:
        super().__init__()
        self._channel = channel

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        self._channel.send(bytes(content))
        return len(content)


@dataclass(frozen=True, slots=True)
class _EdgeWriter:
    """Writes the edges of files."""

    paths: Sequence[str]
    facts: Mapping[str, FileFacts]
    edges_of: Callable[[str], FileEdges]

    def write(self, which: slice, answers: IO[bytes]) -> Counts:
        """Write the edges of some files, and return their counts."""
        place_of = {path: place for place, path in enumerate(self.paths)}
        counts, parent = Counts(), os.getppid()
        for path in self.paths[which]:
            if os.getppid() != parent:  # the parent was killed
                os._exit(1)
            found = self.edges_of(path) if path in self.facts else None
            counts.add(path, self.facts.get(path), found)
            packed = pack_edges(found) if found is not None else StoredEdges(b"")
            _write(answers, packed.edges)
            _write(answers, to_json([place_of[target] for target in packed.files]))
        return counts


def _answer_in_halves(writer: _EdgeWriter, middle: int, answers: IO[bytes]) -> None:
    """Write the first half here and the second half in a forked process, in parallel."""
    with tempfile.TemporaryFile() as second_half, tempfile.TemporaryFile() as second_counts:
        if not (process := os.fork()):
            try:
                second_counts.write(to_json(writer.write(slice(middle, None), second_half).as_data()))
                second_half.flush()
                second_counts.flush()
            except BaseException:
                os._exit(1)
            os._exit(0)
        counts = writer.write(slice(middle), answers)
        if os.waitpid(process, 0)[1] == 0:
            second_half.seek(0)
            second_counts.seek(0)
            shutil.copyfileobj(second_half, answers)
            counts.merge(Counts.of(from_json(second_counts.read())))
        else:
            counts.merge(writer.write(slice(middle, None), answers))
    _write(answers, to_json(counts.as_data()))


def _middle(sizes: Sequence[int]) -> int:
    """Return how many leading files make up half of the total size."""
    half, total = sum(sizes) / 2, 0
    for place, size in enumerate(sizes):
        total += size
        if total >= half:
            return place + 1
    return len(sizes)


_Known = tuple[str, str]


def _read_request(channel: FrameChannel, early: IO[bytes]) -> tuple[list[tuple[str, _Known]], dict[_Known, bytes]]:
    """Return the files with their contents, and the facts of each content; most of these were sent ahead."""
    contents: list[tuple[str, _Known]]
    contents, batches = pickle.loads(channel.receive())  # noqa: S301 - from the process that started this one
    packed: dict[_Known, bytes] = {}
    early.seek(0)
    for _ in range(batches):
        packed |= pickle.load(early)  # noqa: S301 - as above
    while (batch := pickle.loads(channel.receive())) is not None:  # noqa: S301 - as above
        packed |= batch
    return contents, packed


def _write(answers: IO[bytes], content: bytes) -> None:
    answers.write(len(content).to_bytes(LENGTH_BYTES, "little") + content)
