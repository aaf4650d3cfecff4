"""Search an index by pattern: select files, and search them in processes that are killed on timeout.

A regular expression may run forever, and neither `re` nor a parser can be interrupted; only a process can be killed.
"""

import json
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from scrubjay.code_index.models import SourceFile
from scrubjay.code_index.pattern_search.messages import FileBatch, FileMatches, PatternMatch, PatternQuery
from scrubjay.code_index.service import CodeService, LoadedIndex
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import InvalidRequest, ScrubjayError, Unavailable
from scrubjay.core.lazy import lazy_module
from scrubjay.isolation.worker import Worker, WorkerExited

if TYPE_CHECKING:
    from scrubjay.code_index.pattern_search import candidates
else:
    candidates = lazy_module("scrubjay.code_index.pattern_search.candidates")

# -P: do not import modules from the working directory, which may be an untrusted repository.
PROGRAM = ("-P", "-c", "from scrubjay.code_index.pattern_search.worker_main import serve; serve()")
MEMORY_BYTES = 1_000_000_000
# Below this size, one process is done before a second one has started.
MIN_BYTES_PER_PROCESS = 3_000_000
# A file that kills its search process is skipped; after this many the search fails.
MAX_DEATHS = 5
# Maximum number of contents remembered as free of secrets.
MAX_CLEAN = 500_000


@dataclass(slots=True)
class PatternSearchResult:
    """The result of a pattern search."""

    files: list[tuple[int, int, list[PatternMatch]]] = field(default_factory=list[tuple[int, int, list[PatternMatch]]])
    """Row, number of matches and first matches of each file, in the requested order."""
    searched: int = 0
    """Number of files searched: those whose words allow a match."""
    unread: list[int] = field(default_factory=list[int])
    """Rows of files that changed since they were indexed, or could not be searched."""
    stopped_at: list[int] = field(default_factory=list[int])
    """Rows of the files that were being searched at the timeout."""
    not_searched: int = 0
    """Number of files not searched because of the timeout."""


async def find(
    question: PatternQuery,
    code: CodeService,
    loaded: LoadedIndex,
    *,
    wants: Callable[[IndexedFile], bool],
    order: Callable[[IndexedFile], Any],
    seconds: float,
) -> PatternSearchResult:
    """Search the files that `wants` accepts and that may match, for at most `seconds`."""
    end = time.monotonic() + seconds
    processes: list[_SearchProcess] = []
    found = PatternSearchResult()
    try:
        first = await _start(question, processes)
        words: list[list[str]] | None = None
        with anyio.move_on_after(seconds):
            words = await anyio.to_thread.run_sync(first.send_query, abandon_on_cancel=True)
        if words is None:
            raise InvalidRequest("pattern: takes too long to parse", hint="simplify it")
        files = loaded.corpus.files
        may_match = candidates.may_match(words, loaded.corpus)
        rows = [row for row in may_match.nonzero()[0].tolist() if wants(files[row])]
        rows.sort(key=lambda row: order(files[row]))
        found.searched = len(rows)
        parts = [_FileGroup(question, code, loaded, part, processes) for part in _split_by_size(rows, files, code)]
        with anyio.move_on_after(end - time.monotonic()):
            async with anyio.create_task_group() as tasks:
                for number, part in enumerate(parts):
                    tasks.start_soon(part.search, first if number == 0 else None)
    finally:
        for process in processes:
            process.end()
    for part in parts:
        if part.failure is not None:
            raise part.failure
        part.add_to(found)
    return found


def _split_by_size(rows: Sequence[int], files: Sequence[IndexedFile], code: CodeService) -> list[list[int]]:
    """Split the rows into consecutive groups of similar size, one per process that is worth starting."""
    total = sum(files[row].size for row in rows)
    count = max(1, min(code.indexer.workers.count, total // MIN_BYTES_PER_PROCESS))
    parts: list[list[int]] = [[] for _ in range(count)]
    size_before = 0
    for row in rows:
        parts[min(count - 1, size_before * count // max(1, total))].append(row)
        size_before += files[row].size
    return parts


class _FileGroup:
    """A group of files that one process searches, and the results."""

    def __init__(
        self,
        question: PatternQuery,
        code: CodeService,
        loaded: LoadedIndex,
        rows: Sequence[int],
        processes: list["_SearchProcess"],
    ) -> None:
        self._question = question
        self._code = code
        self._loaded = loaded
        self._rows = rows
        self._processes = processes
        self._answers: list[FileMatches] = []
        """One for each searched file, in order."""
        self.failure: ScrubjayError | None = None

    async def search(self, process: "_SearchProcess | None") -> None:
        deaths = 0
        while len(self._answers) < len(self._rows):
            try:
                if process is None:
                    process = await _start(self._question, self._processes)
                    await anyio.to_thread.run_sync(process.send_query, abandon_on_cancel=True)
                await anyio.to_thread.run_sync(self._search_rest, process, abandon_on_cancel=True)
            except ScrubjayError as error:  # raised later, so that it is not wrapped in an exception group
                self.failure = error
                return
            except WorkerExited:
                deaths += 1
                if deaths > MAX_DEATHS:
                    self.failure = Unavailable(
                        "the search processes for this pattern keep crashing", hint="simplify the pattern"
                    )
                    return
                self._answers.append(FileMatches(len(self._answers), 0, False, [], is_unread=True))
                process = None

    def _search_rest(self, process: "_SearchProcess") -> None:
        answers = self._answers
        clean = self._code.clean
        request = [
            (number, _source(file), file.content.blob in clean)
            for number, row in enumerate(self._rows)
            if number >= len(answers)
            for file in (self._loaded.corpus.files[row],)
        ]
        for number, answer in zip((one[0] for one in request), process.answers(self._loaded, request), strict=True):
            if answer.is_clean and len(clean) < MAX_CLEAN:
                clean.add(self._loaded.corpus.files[self._rows[number]].content.blob)
            answers.append(answer)

    def add_to(self, found: PatternSearchResult) -> None:
        answers = self._answers[:]
        for row, answer in zip(self._rows, answers, strict=False):
            if answer.is_unread:
                found.unread.append(row)
            elif answer.total:
                found.files.append((row, answer.total, answer.matches))
        if len(answers) < len(self._rows):
            found.stopped_at.append(self._rows[len(answers)])
            found.not_searched += len(self._rows) - len(answers)


def _source(file: IndexedFile) -> SourceFile:
    return SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty)


async def _start(question: PatternQuery, processes: list["_SearchProcess"]) -> "_SearchProcess":
    process = await anyio.to_thread.run_sync(_SearchProcess, question)
    processes.append(process)
    return process


class _SearchProcess:
    """A process that searches files for a pattern."""

    def __init__(self, question: PatternQuery) -> None:
        self._worker = Worker([*PROGRAM, str(MEMORY_BYTES)], name="pattern search")
        self._question = question

    def send_query(self) -> list[list[str]]:
        """Send the query and return the words that a match needs. Raises `InvalidRequest` for an invalid pattern."""
        try:
            self._worker.send(pickle.dumps(self._question))
            message = json.loads(self._worker.receive())
        except WorkerExited as exited:
            raise InvalidRequest("pattern: parsing it crashes the search process", hint="simplify it") from exited
        if "refused" in message:
            raise InvalidRequest(message["refused"], hint=message["hint"])
        return message["words"]

    def answers(self, loaded: LoadedIndex, files: Sequence[tuple[int, SourceFile, bool]]) -> Iterable[FileMatches]:
        """Yield the matches of each file, in order. Raises `WorkerExited` when the process dies."""
        self._worker.send(pickle.dumps(FileBatch(loaded.place, list(files))))
        for _ in files:
            number, count, is_clean, matches, is_unread = json.loads(self._worker.receive())
            yield FileMatches(number, count, is_clean, [PatternMatch(*match) for match in matches], is_unread)

    def end(self) -> None:
        """Kill the process."""
        self._worker.close()
