"""The facts of a repository's files, each taken out of the store when it is first needed.

This module imports numpy, which takes a while: import it where it is needed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from scrubjay.code_index.facts.packed_facts import LateFacts
from scrubjay.code_index.models import FileFacts
from scrubjay.code_index.store import Content


class KeptFacts(Mapping[str, FileFacts]):
    """Satisfies `graph.definitions.Searched`."""

    def __init__(
        self,
        contents: Mapping[str, Content],
        load: Callable[[Content], bytes],
        names: Mapping[str, Sequence[str]],
    ) -> None:
        """`names` tells of all names that will be asked for which files define something that is called so."""
        self._contents = contents
        self._load = load
        self._names = names
        self._known: dict[str, FileFacts] = {}

    def __getitem__(self, path: str) -> FileFacts:
        known = self._known.get(path)
        if known is None:
            content = self._contents[path]
            late = LateFacts(content.language, partial(self._load, content))
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
