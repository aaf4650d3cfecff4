"""The facts of a repository's files, each loaded from the store on first use.

Imports numpy, which is slow to import: load this module late.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from scrubjay.code_index.facts.packed_facts import LazyFacts
from scrubjay.code_index.models import FileFacts
from scrubjay.code_index.store import Content


class StoredFacts(Mapping[str, FileFacts]):
    """Facts by path. Implements `graph.definitions.Searched`."""

    def __init__(
        self,
        contents: Mapping[str, Content],
        load: Callable[[Content], bytes],
        names: Mapping[str, Sequence[str]],
    ) -> None:
        """`names` gives, for every name that will be looked up, the files that define it."""
        self._contents = contents
        self._load = load
        self._names = names
        self._known: dict[str, FileFacts] = {}

    def __getitem__(self, path: str) -> FileFacts:
        known = self._known.get(path)
        if known is None:
            content = self._contents[path]
            late = LazyFacts(content.language, partial(self._load, content))
            known = self._known[path] = cast(FileFacts, late)
        return known

    def __contains__(self, path: object) -> bool:
        return path in self._contents

    def __iter__(self) -> Iterator[str]:
        return iter(self._contents)

    def __len__(self) -> int:
        return len(self._contents)

    def defining(self, name: str) -> Iterable[str]:
        return self._names.get(name, ())
