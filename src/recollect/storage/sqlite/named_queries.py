"""SQL by name, from the files in `queries/`."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Not by `importlib.resources`, which loads what hooks have no time for.
_FOLDER = Path(__file__).with_name("queries")
_REFERENCE = re.compile(r"\{(?:(\w+)\.)?(\w+)\}")
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def read_queries(file: str) -> Mapping[str, str]:
    """The queries of one file as they are written: each `-- name --`, then a comment that says what it is for."""
    text = (_FOLDER / f"{file}.sql").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


@cache
def load_queries(file: str) -> Mapping[str, str]:
    """The queries of one file, ready to run.

    In them `{name}` stands for the text of `-- name --` in the same file, and `{file.name}` for that in another: what
    must be the same everywhere is written once.
    """
    return {name: _expanded(file, name) for name in _plain_queries(file)}


@cache
def _plain_queries(file: str) -> Mapping[str, str]:
    return {name: _without_comments(body) for name, body in read_queries(file).items()}


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))


@cache
def _expanded(file: str, name: str) -> str:
    """One query, for which no other of its file is made ready but those that it refers to."""

    def stands_for(reference: re.Match[str]) -> str:
        return _expanded(reference[1] or file, reference[2])

    return _REFERENCE.sub(stands_for, _plain_queries(file)[name])
