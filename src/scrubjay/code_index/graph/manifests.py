"""The manifests of a repository, each parsed on first use."""

from collections.abc import Iterator, Mapping
from posixpath import basename, dirname, join, normpath
from typing import Any

from pydantic_core import from_json

from scrubjay.code_index.models import Facts, FileFacts, Language

MANIFEST_NAMES = frozenset({"tsconfig.json", "jsconfig.json", "package.json", "go.mod", "go.work", "Cargo.toml"})
"""File names of manifests, except of those that others extend."""
MANIFEST_LANGUAGES = frozenset({Language.JSON, Language.TEXT})
"""Languages of manifest files; a file in one of these has a flow only if it is a manifest."""


class Manifests:
    """Looks up manifests by path and by file name."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[str, Mapping[str, Any]] = {}

    def content(self, path: str) -> Mapping[str, Any]:
        """Return the content of a manifest; empty if the file is not a manifest or does not exist."""
        known = self._known.get(path)
        if known is None:
            facts = self._facts.get(path)
            flow = facts.flow if facts is not None and facts.language in MANIFEST_LANGUAGES else b""
            known = self._known[path] = from_json(flow) if flow else {}
        return known

    def named(self, *names: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield folder and content of the manifests with these names, except those of installed libraries."""
        for path in self._facts:
            if basename(path) in names and "node_modules/" not in path and (content := self.content(path)):
                yield dirname(path), content


def is_manifest_changed(before: FileFacts | None, after: FileFacts | None) -> bool:
    """Return whether a change of one file may change what imports in other files refer to."""
    return _manifest(before) != _manifest(after)


def _manifest(facts: FileFacts | None) -> bytes:
    return facts.flow if facts is not None and facts.language in MANIFEST_LANGUAGES else b""


def joined(folder: str, name: str) -> str:
    """Return a path relative to a folder as one relative to the repository root."""
    path = normpath(join(folder, name))
    return "" if path == "." else path


def with_parents(folder: str) -> Iterator[str]:
    """Yield a folder and its parents, innermost first."""
    while folder:
        yield folder
        folder = dirname(folder)
    yield ""
