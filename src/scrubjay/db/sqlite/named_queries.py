"""Named SQL queries, read from the `.sql` files beside the modules that run them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

# Not `importlib.resources`: importing it costs hooks several milliseconds.
_REFERENCE = re.compile(r"\{(?:([\w./]+)\.)?(\w+)\}")
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def load_queries(module_file: str, name: str = "queries") -> Mapping[str, str]:
    """Return the queries of `<name>.sql` in the folder of a module, ready to run.

    A query starts with a line `-- query_name --`, followed by a comment that says what it is for. Inside a query,
    `{fragment}` stands for the text of another query of the same file and `{../memory/queries.fragment}` for one of
    another file, whose path is relative to this file, so that shared SQL is written once.

    >>> load_queries(__file__)["get"]  # doctest: +SKIP
    """
    return _load(_path(Path(module_file).parent, name))


def read_queries(file: Path) -> Mapping[str, str]:
    """Return the queries of one file as they are written, comments and references included."""
    _, *parts = _HEADING.split(file.read_text(encoding="utf-8"))
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


@cache
def _load(file: Path) -> Mapping[str, str]:
    return {name: _expand(file, name) for name in _without_comments(file)}


def _path(folder: Path, name: str) -> Path:
    parts = list(folder.parts)
    for part in name.split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts).with_suffix(".sql")


@cache
def _without_comments(file: Path) -> Mapping[str, str]:
    return {name: _strip_comments(body) for name, body in read_queries(file).items()}


def _strip_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))


@cache
def _expand(file: Path, name: str) -> str:
    """Expand the references of one query, and only those it uses."""

    def replacement(reference: re.Match[str]) -> str:
        target = _path(file.parent, reference[1]) if reference[1] else file
        return _expand(target, reference[2])

    return _REFERENCE.sub(replacement, _without_comments(file)[name])
