"""Finding code by its form in an index: in which files to look, and processes that look and are ended in time.

A regular expression may take for ever, and neither `re` nor a parser can be interrupted: only a process can be ended.
"""

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, cast

import anyio
import anyio.to_thread

from scrubjay.code_index.models import SourceFile
from scrubjay.code_index.pattern_search.messages import Files, InFile, Match, Question
from scrubjay.code_index.service import CodeService, Loaded
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import InvalidRequest, ScrubjayError, Unavailable

# Without -P the folder that this process works in, which may be a stranger's repository, would be searched for modules.
PROGRAM = ("-P", "-c", "from scrubjay.code_index.pattern_search.worker_main import serve; serve()")
MEMORY_BYTES = 1_000_000_000
# Less than this is looked through sooner by one process than a second one starts.
WORTH_A_PROCESS = 3_000_000
# A file that ends the process which looks at it is passed over; more of them are no accident.
MOST_DEATHS = 5
# Of so many contents it is remembered that there is no secret in them.
MOST_CLEAN = 500_000


@dataclass(slots=True)
class Found:
    """What was found in an index."""

    files: list[tuple[int, int, list[Match]]] = field(default_factory=list[tuple[int, int, list[Match]]])
    """The row of each file with matches, how many it has, and the first of them, in the order that was asked for."""
    looked_at: int = 0
    """How many files were looked through: those that the words of the index leave."""
    unread: list[int] = field(default_factory=list[int])
    """The rows of files that are not as they were indexed any more, or that could not be looked through."""
    stopped_at: list[int] = field(default_factory=list[int])
    """The rows of the files that were being looked through when time was over."""
    unlooked: int = 0
    """How many files nobody got to."""


async def find(
    question: Question,
    code: CodeService,
    loaded: Loaded,
    *,
    wants: Callable[[IndexedFile], bool],
    order: Callable[[IndexedFile], Any],
    seconds: float,
) -> Found:
    """Look through the files that are wanted and may match, for no longer than these seconds."""
    from scrubjay.code_index.pattern_search.candidates import may_match

    end = time.monotonic() + seconds
    children: list[_Child] = []
    found = Found()
    try:
        first = await _started(question, children)
        words: list[list[str]] | None = None
        with anyio.move_on_after(seconds):
            words = await anyio.to_thread.run_sync(first.understood, abandon_on_cancel=True)
        if words is None:
            raise InvalidRequest("pattern: takes too long to be understood", hint="make it simpler")
        files = loaded.corpus.files
        rows = [row for row in may_match(words, loaded.corpus).nonzero()[0].tolist() if wants(files[row])]
        rows.sort(key=lambda row: order(files[row]))
        found.looked_at = len(rows)
        parts = [_Part(question, code, loaded, part, children) for part in _parts(rows, files, code)]
        with anyio.move_on_after(end - time.monotonic()):
            async with anyio.create_task_group() as tasks:
                for number, part in enumerate(parts):
                    tasks.start_soon(part.look, first if number == 0 else None)
    finally:
        for child in children:
            child.end()
    for part in parts:
        if part.failure is not None:
            raise part.failure
        part.tell(found)
    return found


def _parts(rows: Sequence[int], files: Sequence[IndexedFile], code: CodeService) -> list[list[int]]:
    """As many parts of neighbours as processes are worth it, all about as large."""
    total = sum(files[row].size for row in rows)
    count = max(1, min(code.indexer.workers.count, total // WORTH_A_PROCESS))
    parts: list[list[int]] = [[] for _ in range(count)]
    so_far = 0
    for row in rows:
        parts[min(count - 1, so_far * count // max(1, total))].append(row)
        so_far += files[row].size
    return parts


class _Died(Exception):
    """The process ended before it had answered."""


class _Part:
    """Some of the files, and what was found in them."""

    def __init__(
        self, question: Question, code: CodeService, loaded: Loaded, rows: Sequence[int], children: list["_Child"]
    ) -> None:
        self._question = question
        self._code = code
        self._loaded = loaded
        self._rows = rows
        self._children = children
        self._answers: list[InFile] = []
        """One for each file, in order, as far as it got."""
        self.failure: ScrubjayError | None = None

    async def look(self, child: "_Child | None") -> None:
        deaths = 0
        while len(self._answers) < len(self._rows):
            try:
                if child is None:
                    child = await _started(self._question, self._children)
                    await anyio.to_thread.run_sync(child.understood, abandon_on_cancel=True)
                await anyio.to_thread.run_sync(self._ask, child, abandon_on_cancel=True)
            except ScrubjayError as error:  # told as itself, and not as one of a group
                self.failure = error
                return
            except _Died:
                deaths += 1
                if deaths > MOST_DEATHS:
                    self.failure = Unavailable(
                        "the processes that look for the pattern end before they answer", hint="make it simpler"
                    )
                    return
                self._answers.append(InFile(len(self._answers), 0, False, [], is_unread=True))
                child = None

    def _ask(self, child: "_Child") -> None:
        answers = self._answers
        clean = self._code.clean
        asked = [
            (number, _source(file), file.content.blob in clean)
            for number, row in enumerate(self._rows)
            if number >= len(answers)
            for file in (self._loaded.corpus.files[row],)
        ]
        for number, answer in zip((one[0] for one in asked), child.answers(self._loaded, asked), strict=False):
            if answer.is_clean and len(clean) < MOST_CLEAN:
                clean.add(self._loaded.corpus.files[self._rows[number]].content.blob)
            answers.append(answer)
        if len(answers) < len(self._rows):
            raise _Died

    def tell(self, found: Found) -> None:
        answers = self._answers[:]
        for row, answer in zip(self._rows, answers, strict=False):
            if answer.is_unread:
                found.unread.append(row)
            elif answer.total:
                found.files.append((row, answer.total, answer.matches))
        if len(answers) < len(self._rows):
            found.stopped_at.append(self._rows[len(answers)])
            found.unlooked += len(self._rows) - len(answers)


def _source(file: IndexedFile) -> SourceFile:
    return SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty)


async def _started(question: Question, children: list["_Child"]) -> "_Child":
    child = await anyio.to_thread.run_sync(_Child, question)
    children.append(child)
    return child


class _Child:
    """A process that looks through files."""

    def __init__(self, question: Question) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, *PROGRAM, str(MEMORY_BYTES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            raise Unavailable(
                f"no process can be started that looks through files ({error.strerror})", hint="end some others"
            ) from error
        self._answers = cast(IO[bytes], self._process.stdout)
        self._send(question)

    def understood(self) -> list[list[str]]:
        """The words that are needed; `InvalidRequest` when the question is none."""
        line = self._answers.readline()
        if not line:
            raise InvalidRequest("pattern: ends whoever reads it", hint="make it simpler")
        said = json.loads(line)
        if "refused" in said:
            raise InvalidRequest(said["refused"], hint=said["hint"])
        return said["words"]

    def answers(self, loaded: Loaded, files: Sequence[tuple[int, SourceFile, bool]]) -> Iterable[InFile]:
        """What is found in each, as long as the process is there."""
        self._send(Files(loaded.place, list(files)))
        for _ in files:
            line = self._answers.readline()
            if not line.endswith(b"\n"):
                return
            number, count, is_clean, matches, is_unread = json.loads(line)
            yield InFile(number, count, is_clean, [Match(*match) for match in matches], is_unread)

    def end(self) -> None:
        """Let there be no such process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError, ValueError):  # it was not sent all, or a thread still reads its last line
                    pipe.close()

    def _send(self, said: Any) -> None:
        with suppress(BrokenPipeError):  # that it ended is seen by its answers
            pipe = cast(IO[bytes], self._process.stdin)
            pickle.dump(said, pipe)
            pipe.flush()
