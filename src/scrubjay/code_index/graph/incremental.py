"""What a few changed files mean for the uses of a repository, found without resolving all of them anew.

What the changed files use is resolved. Of the files that lead to them, those that used something that is gone, or that
may now find what they did not find before, are resolved as well; in all others the definitions that moved are followed.
What a value that is passed through several files comes to may differ from what resolving everything would tell.
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

MOST_AGAIN = 12
"""So many of the files that lead to changed ones are resolved anew."""
MOST_CALLERS = 24
"""From so many of them is followed what they pass."""


class _Moves(NamedTuple):
    """What became of the definitions of a file."""

    before: Sequence[Symbol]
    places: Sequence[int | None]
    """Where each is now; None for one that is gone."""
    added: frozenset[str]
    """The last names of those that are new, and of what is newly imported: others may find it there."""
    dropped: frozenset[str]
    """The names of what is not imported any more."""


def mended(
    before: Mapping[str, FileFacts | None],
    facts: Facts,
    leading: Mapping[str, FileEdges],
    *,
    should_stop: Callable[[], bool] = never,
) -> Mapping[str, FileEdges]:
    """What the uses of all files lead to now that did lead elsewhere before.

    `before` has what was said by the files that changed, are gone or are new, `facts` are those of the whole
    repository as it is now, and `leading` are the uses of the files that led to one of them.
    """
    moves = {path: _moves(own, facts.get(path)) for path, own in before.items()}
    others = {path: edges for path, edges in leading.items() if path not in before and path in facts}
    broken = [path for path, edges in others.items() if _is_broken(edges, moves) or _passes(edges, moves, facts)]
    hoping = [path for path, edges in others.items() if _may_find_more(edges, moves)]
    again = [*dict.fromkeys([*broken, *hoping])][:MOST_AGAIN]
    changed = [path for path in before if path in facts]
    calling = {path: lines for path, edges in others.items() if path not in again and (lines := _calling(edges, moves))}
    callers = dict(islice(calling.items(), MOST_CALLERS))
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
    """By which names, and as what, these are known."""
    return {name for one in imports for name in (one.name or last_name(one.module), one.alias) if name}


_Key = tuple[tuple[str, int], ...]


def _keys(symbols: Sequence[Symbol]) -> list[_Key]:
    """By what each is known when others come and go: the names around it and its own, and the how manieth it is."""
    keys: list[_Key] = []
    seen: Counter[tuple[_Key, str]] = Counter()
    for symbol in symbols:
        outer: _Key = keys[symbol.container] if symbol.container >= 0 else ()
        keys.append((*outer, (symbol.name, seen[outer, symbol.name])))
        seen[outer, symbol.name] += 1
    return keys


def _calling(edges: FileEdges, moves: Mapping[str, _Moves]) -> set[int]:
    """The lines on which something in one of the changed files is called."""
    return {edge.line for edge in edges.edges if edge.path in moves and edge.kind in (UseKind.CALL, UseKind.NEW)}


def _is_broken(edges: FileEdges, moves: Mapping[str, _Moves]) -> bool:
    """Whether something that it used is gone."""
    return any(_is_gone(edge, moves[edge.path]) for edge in edges.edges if edge.path in moves)


def _passes(edges: FileEdges, moves: Mapping[str, _Moves], facts: Facts) -> bool:
    """Whether it may have found something by way of a file that does not import it any more."""
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
    """Whether a file that it imports has something new of a name that it uses and nobody had."""
    added = {name for path in edges.imports if path in moves for name in moves[path].added}
    return bool(added) and any(last_name(one.use) in added for one in edges.unresolved)


def _followed(edges: FileEdges, moves: Mapping[str, _Moves], facts: Facts) -> FileEdges:
    """The uses, with what they mean where it is now; what is gone is meant by none any more."""
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
