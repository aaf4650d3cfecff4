"""Updates the edges of a repository after a few files changed, without resolving all files again.

Changed files are resolved. Dependents, which have edges to changed files, are resolved again if they used a removed
definition or may now find a missing one; the edges of the others are remapped to the new symbol indexes. Edges of
values that pass through several files may differ from those of a full resolution.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from scrubjay.code_index.discovery.limits import never
from scrubjay.code_index.graph.definitions import last_name
from scrubjay.code_index.graph.resolver import resolve
from scrubjay.code_index.models import Edge, Facts, FileEdges, FileFacts, Import, Symbol, Unresolved, UseKind

MAX_REPEATED = 12
"""Dependents that are resolved again."""
MAX_CALLERS = 24
"""Dependents whose call arguments are followed into changed files."""


class _SymbolChanges(NamedTuple):
    """Differences between the old and the new definitions of a file."""

    before: Sequence[Symbol]
    new_indexes: Sequence[int | None]
    """New index of each old symbol; None if it was removed."""
    added: frozenset[str]
    """Last names of added definitions and imports, which other files may find now."""
    dropped: frozenset[str]
    """Names of removed imports."""


def resolve_incrementally(
    before: Mapping[str, FileFacts | None],
    facts: Facts,
    leading: Mapping[str, FileEdges],
    *,
    should_stop: Callable[[], bool] = never,
) -> Mapping[str, FileEdges]:
    """Return the edges of all files whose edges changed.

    `before` maps changed, removed and new files to their old facts (None for new ones), `facts` are the current facts
    of the whole repository, and `leading` are the old edges of the files with an edge to any of these.
    """
    moves = {path: _symbol_changes(own, facts.get(path)) for path, own in before.items()}
    others = {path: edges for path, edges in leading.items() if path not in before and path in facts}
    broken = [
        path for path, edges in others.items() if _is_broken(edges, moves) or _used_removed_import(edges, moves, facts)
    ]
    hoping = [path for path, edges in others.items() if _may_find_more(edges, moves)]
    again = [*dict.fromkeys([*broken, *hoping])][:MAX_REPEATED]
    changed = [path for path in before if path in facts]
    calling = {
        path: lines for path, edges in others.items() if path not in again and (lines := _call_lines(edges, moves))
    }
    callers = dict(islice(calling.items(), MAX_CALLERS))
    found = dict(resolve([*changed, *again], facts, callers=callers, should_stop=should_stop))
    for path, edges in others.items():
        if path not in found and (followed := _remap(edges, moves, facts)) != edges:
            found[path] = followed
    return found


def _symbol_changes(before: FileFacts | None, after: FileFacts | None) -> _SymbolChanges:
    old = _stable_keys(before.symbols) if before is not None else []
    new = {key: place for place, key in enumerate(_stable_keys(after.symbols) if after is not None else [])}
    added = {last_name(key[-1][0]) for key in new.keys() - set(old)}
    imported, imports = _imports(before), _imports(after)
    return _SymbolChanges(
        before.symbols if before is not None else (),
        [new.get(key) for key in old],
        frozenset(added | _names(imports - imported)),
        frozenset(_names(imported - imports)),
    )


def _imports(facts: FileFacts | None) -> set[Import]:
    return {one._replace(line=0, container=-1) for one in facts.imports} if facts is not None else set()


def _names(imports: Iterable[Import]) -> set[str]:
    """Return the names and aliases that imports bind."""
    return {name for one in imports for name in (one.name or last_name(one.module), one.alias) if name}


_Key = tuple[tuple[str, int], ...]


def _stable_keys(symbols: Sequence[Symbol]) -> list[_Key]:
    """Return a stable key of each symbol: the enclosing names, its own, and its number among symbols so named."""
    keys: list[_Key] = []
    seen: Counter[tuple[_Key, str]] = Counter()
    for symbol in symbols:
        outer: _Key = keys[symbol.container] if symbol.container >= 0 else ()
        keys.append((*outer, (symbol.name, seen[outer, symbol.name])))
        seen[outer, symbol.name] += 1
    return keys


def _call_lines(edges: FileEdges, moves: Mapping[str, _SymbolChanges]) -> set[int]:
    """Return the lines of calls into changed files."""
    return {edge.line for edge in edges.edges if edge.path in moves and edge.kind in (UseKind.CALL, UseKind.NEW)}


def _is_broken(edges: FileEdges, moves: Mapping[str, _SymbolChanges]) -> bool:
    """Return whether a used definition was removed."""
    return any(_is_gone(edge, moves[edge.path]) for edge in edges.edges if edge.path in moves)


def _used_removed_import(edges: FileEdges, moves: Mapping[str, _SymbolChanges], facts: Facts) -> bool:
    """Return whether a definition may have been found through an import that was removed."""
    dropped = {name for path in edges.imports if path in moves for name in moves[path].dropped}
    return bool(dropped) and any(
        edge.target >= 0
        and edge.path in facts
        and edge.path not in moves
        and last_name(facts[edge.path].symbols[edge.target].name) in dropped
        for edge in edges.edges
    )


def _is_gone(edge: Edge, moves: _SymbolChanges) -> bool:
    return edge.target >= 0 and (edge.target >= len(moves.new_indexes) or moves.new_indexes[edge.target] is None)


def _may_find_more(edges: FileEdges, moves: Mapping[str, _SymbolChanges]) -> bool:
    """Return whether an imported file now defines a name that was unresolved."""
    added = {name for path in edges.imports if path in moves for name in moves[path].added}
    return bool(added) and any(last_name(one.use) in added for one in edges.unresolved)


def _remap(edges: FileEdges, moves: Mapping[str, _SymbolChanges], facts: Facts) -> FileEdges:
    """Return the edges with new symbol indexes; edges to removed definitions become unresolved uses."""
    kept: list[Edge] = []
    lost: list[Unresolved] = []
    for edge in edges.edges:
        own = moves.get(edge.path)
        if own is None or edge.target < 0:
            if own is None or edge.path in facts:
                kept.append(edge)
        elif _is_gone(edge, own):
            name = own.before[edge.target].name if edge.target < len(own.before) else ""
            lost.append(Unresolved(edge.source, name, edge.kind, edge.line))
        else:
            kept.append(edge._replace(target=own.new_indexes[edge.target] or 0))
    imports = [path for path in edges.imports if path in facts]
    return replace(edges, edges=kept, unresolved=[*edges.unresolved, *lost], imports=imports)
