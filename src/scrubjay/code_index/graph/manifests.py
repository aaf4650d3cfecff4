"""The manifests of a repository, each read where it is first asked for."""

from collections.abc import Iterator, Mapping
from posixpath import basename, dirname, join, normpath
from typing import Any

from pydantic_core import from_json

from scrubjay.code_index.models import Facts, FileFacts, Language

NAMES = frozenset({"tsconfig.json", "jsconfig.json", "package.json", "go.mod", "go.work", "Cargo.toml"})
"""What they are called, except those that others extend."""
LANGUAGES = frozenset({Language.JSON, Language.TEXT})
"""What manifests are written in: such a file has a flow only if it is one."""


class Manifests:
    """What they say, by path and by name."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[str, Mapping[str, Any]] = {}

    def said(self, path: str) -> Mapping[str, Any]:
        """Return the content of a manifest; empty if the file is none or does not exist."""
        known = self._known.get(path)
        if known is None:
            facts = self._facts.get(path)
            flow = facts.flow if facts is not None and facts.language in LANGUAGES else b""
            known = self._known[path] = from_json(flow) if flow else {}
        return known

    def named(self, *names: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Return the content of the manifests of these names by folder, without those of installed libraries."""
        for path in self._facts:
            if basename(path) in names and "node_modules/" not in path and (said := self.said(path)):
                yield dirname(path), said


def differ(before: FileFacts | None, after: FileFacts | None) -> bool:
    """Return whether a change of one file may change the meaning of imports in others."""
    return _manifest(before) != _manifest(after)


def _manifest(facts: FileFacts | None) -> bytes:
    return facts.flow if facts is not None and facts.language in LANGUAGES else b""


def joined(folder: str, name: str) -> str:
    """Return a path relative to a folder as one relative to the repository's root."""
    path = normpath(join(folder, name))
    return "" if path == "." else path


def upwards(folder: str) -> Iterator[str]:
    """Return a folder and its parents, the innermost first."""
    while folder:
        yield folder
        folder = dirname(folder)
    yield ""
