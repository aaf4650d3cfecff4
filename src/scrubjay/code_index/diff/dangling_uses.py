"""Find uses and imports of definitions that a change removed, renamed or moved.

Imports numpy, which is slow to import: load this module late.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from scrubjay.code_index.diff.symbols import Touch, TouchedDefinition
from scrubjay.code_index.models import FileFacts, Unresolved
from scrubjay.code_index.questions.locations import files_with
from scrubjay.code_index.questions.traversal import SUPPORTING
from scrubjay.code_index.search.use_graph import UseGraph
from scrubjay.code_index.service import CodeService, LoadedIndex

# Maximum number of files that are searched for imports of a removed name.
MAX_FILES_READ = 300
_SUFFIX = re.compile(r"(?:/(?:__init__|index|mod|lib))?\.\w{1,10}$")
_ENDING = re.compile(r"\.(?:py|js|mjs|cjs|ts|tsx|jsx|h|hpp)$")
_SEPARATORS = re.compile(r"::|[./\\#]|->")
_OWN = ("self", "this", "cls", "Self")


class StillUsed(NamedTuple):
    """A use of something that no longer exists."""

    file: int
    symbol: int
    """Row of the enclosing definition; -1 at the top of the file."""
    line: int
    use: str
    is_sure: bool
    """True if the file imports it from its old location; otherwise only the name matches."""


@dataclass(frozen=True, slots=True)
class DanglingUses:
    """Uses and imports of names that a change removed."""

    _loaded: LoadedIndex
    _uses: Mapping[str, Sequence[tuple[int, Unresolved]]]
    """Unresolved uses by name, each with its file."""
    _facts: Mapping[int, FileFacts]

    @classmethod
    async def find(
        cls, changed: Collection[TouchedDefinition], code: CodeService, loaded: LoadedIndex, links: UseGraph
    ) -> Self:
        names = {_last_name(one.old_name or one.name) for one in changed if _is_lost(one)} - {""}
        uses: dict[str, list[tuple[int, Unresolved]]] = {}
        if not names:
            return cls(loaded, uses, {})
        for file, own in links.unresolved.items():
            for one in own:
                if (name := _last_name(one.use)) in names:
                    uses.setdefault(name, []).append((file, one))
        files = dict.fromkeys(file for found in uses.values() for file, _ in found)
        files |= dict.fromkeys(files_with(sorted(names), loaded.corpus))
        read = list(files)[:MAX_FILES_READ]
        facts = await code.indexer.facts([loaded.corpus.files[file] for file in read])
        known = {file: facts[path] for file in read if (path := loaded.corpus.files[file].path) in facts}
        return cls(loaded, uses, known)

    def still_used(self, one: TouchedDefinition) -> list[StillUsed]:
        """Return the uses of what this change removed, most certain first."""
        if not _is_lost(one):
            return []
        name, path = one.old_name or one.name, one.old_path or one.path
        if self.is_indexed(name, path):
            return []
        corpus = self._loaded.corpus
        module = _SUFFIX.sub("", path).split("/")
        is_elsewhere = bool(self._loaded.names.find(_last_name(name)))
        found: dict[tuple[int, int], StillUsed] = {}
        for file, use in self._uses.get(_last_name(name), ()):
            is_sure = self._means(use, file, name, path, module)
            # Another definition has the same name, so the use may mean that one.
            if is_sure or (not use.external and not is_elsewhere):
                source = int(corpus.first_symbols[file]) + use.source if use.source >= 0 else -1
                found[file, use.line] = StillUsed(file, source, use.line, use.use, is_sure)
        for file, facts in self._facts.items():
            for one_import in facts.imports:
                if one_import.name == name and _names_module(one_import.module, module):
                    used = f"{one_import.module}.{name}"
                    found.setdefault((file, one_import.line), StillUsed(file, -1, one_import.line, used, True))
        files = corpus.files
        return sorted(found.values(), key=lambda use: (not use.is_sure, bool(files[use.file].traits & SUPPORTING), use))

    def is_indexed(self, name: str, path: str) -> bool:
        """Return whether the index still contains it, which means that the index is older than the change."""
        row = self._loaded.corpus.row_of.get(path)
        names = self._loaded.names
        return any(int(self._loaded.corpus.symbols.files[found]) == row for found in names.find(name))

    def _means(self, use: Unresolved, file: int, name: str, path: str, module: Sequence[str]) -> bool:
        parts = [part for part in _SEPARATORS.split(use.use) if part]
        is_here = self._loaded.corpus.files[file].path == path
        if is_here and (len(parts) == 1 or (len(parts) == 2 and parts[0] in _OWN)):
            return True
        facts = self._facts.get(file)
        if facts is None or "." in name:
            return False
        if len(parts) == 1:
            return any(one.name == name and _names_module(one.module, module) for one in facts.imports)
        # `store.load_user` after `from shop import store`, or `pkg.Load` after `import "x/pkg"`.
        qualifiers = [places for places in (module, module[:-1]) if places and parts[-2] == places[-1]]
        return any(
            _names_module(f"{one.module}/{one.name}" if one.name else one.module, places)
            for places in qualifiers
            for one in facts.imports
        )


def _is_lost(one: TouchedDefinition) -> bool:
    """Return whether the definition no longer exists at its old place and name."""
    return one.touch in (Touch.REMOVED, Touch.RENAMED, Touch.MOVED)


def _names_module(imported: str, module: Sequence[str]) -> bool:
    """Return whether an import names this module, judged by its last path components."""
    parts = [part for part in _SEPARATORS.split(_ENDING.sub("", imported)) if part and part not in ("crate", "super")]
    shared = min(len(parts), len(module))
    return shared > 0 and parts[-shared:] == list(module[-shared:])


def _last_name(name: str) -> str:
    return _SEPARATORS.split(name)[-1]
