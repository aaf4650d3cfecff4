"""Updates the edges of a repository after a few files changed, without resolving all files again.

The changed files are resolved. Of the files with edges to them, those that used a removed definition or may now find a
missing one are resolved too; the edges of all others follow definitions that moved. Edges of values that pass through
several files may differ from those of a full resolution.
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

MAX_RESOLVED_AGAIN = 12
"""Files with edges to changed ones that are resolved again."""
MAX_CALLERS = 24
"""Files with edges to changed ones whose arguments are followed."""


class _Moves(NamedTuple):
    """How the definitions of a file changed."""

    before: Sequence[Symbol]
    places: Sequence[int | None]
    """The new index of each; None for a removed one."""
    added: frozenset[str]
    """Last names of new definitions and new imports, which other files may find now."""
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

    `before` has the old facts of the files that changed, were removed or are new (None), `facts` are those of the whole
    repository now, and `leading` are the old edges of the files that have one to any of these.
    """
    moves = {path: _moves(own, facts.get(path)) for path, own in before.items()}
    others = {path: edges for path, edges in leading.items() if path not in before and path in facts}
    broken = [path for path, edges in others.items() if _is_broken(edges, moves) or _passes(edges, moves, facts)]
    hoping = [path for path, edges in others.items() if _may_find_more(edges, moves)]
    again = [*dict.fromkeys([*broken, *hoping])][:MAX_RESOLVED_AGAIN]
    changed = [path for path in before if path in facts]
    calling = {path: lines for path, edges in others.items() if path not in again and (lines := _calling(edges, moves))}
    callers = dict(islice(calling.items(), MAX_CALLERS))
    found = dict(resolve([*changed, *again], facts, callers=callers, should_stop=should_stop))
    for path, edges in others.items():
        if path not in found and (followed := _followed(edges, moves, facts)) != edges:
            found[path] = followed
    return found


def _moves(before: FileFacts | None, after: FileFacts | None) -> _Moves:
    old = _keys(before.symbols) if before is not None else []
    new = {key: place for place, key in enumerate(_keys(after.symbols) if after is not None else [])}
    added = {last_name(key[-1][0]) for key in new.keys() - set(old)}
    imported, imports = _imports(before), _imports(after)
    return _Moves(
        before.symbols if before is not None else (),
        [new.get(key) for key in old],
        frozenset(added | _names(imports - imported)),
        frozenset(_names(imported - imports)),
    )


def _imports(facts: FileFacts | None) -> set[Import]:
    return {one._replace(line=0, container=-1) for one in facts.imports} if facts is not None else set()


def _names(imports: Iterable[Import]) -> set[str]:
    """Return the names and aliases of imports."""
    return {name for one in imports for name in (one.name or last_name(one.module), one.alias) if name}


_Key = tuple[tuple[str, int], ...]


def _keys(symbols: Sequence[Symbol]) -> list[_Key]:
    """Return a stable key of each symbol: the enclosing names, its own, and its number among equals."""
    keys: list[_Key] = []
    seen: Counter[tuple[_Key, str]] = Counter()
    for symbol in symbols:
        outer: _Key = keys[symbol.container] if symbol.container >= 0 else ()
        keys.append((*outer, (symbol.name, seen[outer, symbol.name])))
        seen[outer, symbol.name] += 1
    return keys


def _calling(edges: FileEdges, moves: Mapping[str, _Moves]) -> set[int]:
    """Return the lines of calls into the changed files."""
    return {edge.line for edge in edges.edges if edge.path in moves and edge.kind in (UseKind.CALL, UseKind.NEW)}


def _is_broken(edges: FileEdges, moves: Mapping[str, _Moves]) -> bool:
    """Return whether a used definition was removed."""
    return any(_is_gone(edge, moves[edge.path]) for edge in edges.edges if edge.path in moves)


def _passes(edges: FileEdges, moves: Mapping[str, _Moves], facts: Facts) -> bool:
    """Return whether it may have found something through an import that was removed."""
    dropped = {name for path in edges.imports if path in moves for name in moves[path].dropped}
    return bool(dropped) and any(
        edge.target >= 0
        and edge.path in facts
        and edge.path not in moves
        and last_name(facts[edge.path].symbols[edge.target].name) in dropped
        for edge in edges.edges
    )


def _is_gone(edge: Edge, moves: _Moves) -> bool:
    return edge.target >= 0 and (edge.target >= len(moves.places) or moves.places[edge.target] is None)


def _may_find_more(edges: FileEdges, moves: Mapping[str, _Moves]) -> bool:
    """Return whether an imported file has a new definition of an unresolved name."""
    added = {name for path in edges.imports if path in moves for name in moves[path].added}
    return bool(added) and any(last_name(one.use) in added for one in edges.unresolved)


def _followed(edges: FileEdges, moves: Mapping[str, _Moves], facts: Facts) -> FileEdges:
    """Return the edges with the new indexes of moved definitions; those to removed ones become unresolved."""
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
            kept.append(edge._replace(target=own.places[edge.target] or 0))
    imports = [path for path in edges.imports if path in facts]
    return replace(edges, edges=kept, unresolved=[*edges.unresolved, *lost], imports=imports)
