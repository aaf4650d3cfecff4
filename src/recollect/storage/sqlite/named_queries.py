"""SQL by name, from the files in `queries/`."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def read_queries(file: str) -> Mapping[str, str]:
    """The queries of one file as they are written: each `-- name --`, then a comment that says what it is for."""
    text = (files("recollect.storage.sqlite") / "queries" / f"{file}.sql").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


@cache
def load_queries(file: str) -> Mapping[str, str]:
    """The queries of one file, ready to run.

    In them `{name}` stands for the text of `-- name --` in the same file, and `{file.name}` for that in another: what
    must be the same everywhere is written once.
    """
    queries = {name: _without_comments(body) for name, body in read_queries(file).items()}
    return {name: _expand(body, queries) for name, body in queries.items()}


def _without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))


def _expand(text: str, queries: Mapping[str, str]) -> str:
    def stands_for(reference: re.Match[str]) -> str:
        file, name = reference.groups()
        return load_queries(file)[name] if file else _expand(queries[name], queries)

    return re.sub(r"\{(?:(\w+)\.)?(\w+)\}", stands_for, text)
