"""What a process does that finds code by its form: it is asked once, and answers file by file."""

import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

from scrubjay.code_index.pattern_search.messages import Files, InFile, Match, Question, Structure
from scrubjay.core.errors import InvalidRequest


class Finder(Protocol):
    """Finds one thing in contents."""

    words: list[list[str]]
    """Ways to match, of each the whole identifiers that a file must have; none: any file may match."""

    def found(self, content: bytes, context_lines: int, most: int) -> tuple[int, list[Match]]:
        """How often it is there, and the first of these."""
        ...


def serve() -> None:
    """Say what is needed, or why the question is none; then look at the files that are named."""
    memory_bytes = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        question: Question = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the process that started this one
        try:
            finder = finder_of(question)
        except InvalidRequest as refused:
            _tell(answers, {"refused": refused.record.message, "hint": refused.record.hint})
            return
        _tell(answers, {"words": finder.words})
        asked: Files = pickle.load(sys.stdin.buffer)  # noqa: S301
        for found in in_files(finder, question, asked):
            _tell(answers, found)
    except (EOFError, BrokenPipeError):
        os._exit(0)  # nobody is there any more


def finder_of(question: Question) -> Finder:
    if isinstance(question.wanted, Structure):
        from scrubjay.code_index.pattern_search.tree_match import StructureFinder

        return StructureFinder(question.wanted)
    from scrubjay.code_index.pattern_search.regex_search import ExpressionFinder

    return ExpressionFinder(question.wanted)


def in_files(finder: Finder, question: Question, asked: Files) -> Iterator[InFile]:
    """What is found in each file; of those in which nothing is found only that they were looked at."""
    from scrubjay.code_index.discovery.contents import read_contents
    from scrubjay.code_index.secret_masking import hidden

    left = question.most
    contents = read_contents(asked.place, [file for _, file, _ in asked.files])
    for (number, _, is_clean), (_, content) in zip(asked.files, contents, strict=True):
        if content is None:
            yield InFile(number, 0, False, [], is_unread=True)
            continue
        # What is hidden must not be found either: whoever asks often enough would learn it letter by letter.
        shown = content if is_clean else hidden(content)
        count, matches = finder.found(shown, question.context_lines, left)
        left -= len(matches)
        yield InFile(number, count, is_clean or shown == content, matches)


def _tell(answers: BinaryIO, said: Any) -> None:
    answers.write(json.dumps(said).encode() + b"\n")
    answers.flush()
