"""Resolves the uses in JavaScript and TypeScript: calls by abstract execution, others by names and imports."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from scrubjay.code_index.graph.definitions import CALLABLES, TYPES, NameIndex, SymbolRef, last_name
from scrubjay.code_index.graph.javascript_file import CallTargets, FileState, ScriptTarget
from scrubjay.code_index.graph.javascript_walk import ScriptWalk
from scrubjay.code_index.graph.modules import JAVASCRIPT, Modules
from scrubjay.code_index.graph.names_uses import COMMON, CONFIDENCE, MAX_GUESSES, MAX_TARGETS
from scrubjay.code_index.models import Edge, Evidence, Facts, FileEdges, FileFacts, SymbolKind, Unresolved, Use, UseKind

_CALLS = frozenset({UseKind.CALL, UseKind.NEW})
_UNREPORTED = frozenset({UseKind.READ, UseKind.WRITE, UseKind.TYPE})
_CONTAINERS = CALLABLES | {SymbolKind.CLASS, SymbolKind.INTERFACE}
_VARIABLES = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.FIELD})


def resolve(
    paths: Iterable[str], facts: Facts, modules: Modules, *, callers: Iterable[str] = ()
) -> Mapping[str, FileEdges]:
    """Return the edges of the JavaScript and TypeScript files among `paths`.

    Arguments are followed from these files and from the callers.
    """
    own = [path for path in paths if path in facts and facts[path].language in JAVASCRIPT]
    if not own:
        return {}
    resolver = _ScriptEdgeBuilder(facts, modules)
    for path in [*own, *callers]:
        resolver.walk(path)
    return {path: resolver.edges(path) for path in own}


class _ScriptEdgeBuilder:
    def __init__(self, facts: Facts, modules: Modules) -> None:
        self._facts = facts
        self._modules = modules
        self._walk = ScriptWalk(self._flow, modules.scripts.script)
        self._symbols: dict[str, _SymbolIndex] = {}
        self._callables = NameIndex(facts, JAVASCRIPT, CALLABLES)

    def _flow(self, path: str) -> bytes:
        facts = self._facts.get(path)
        return facts.flow if facts is not None and facts.language in JAVASCRIPT else b""

    def _symbols_of(self, path: str) -> "_SymbolIndex":
        if path not in self._symbols:
            state = self._walk.modules.load(path)
            functions = state.functions if state is not None else ()
            self._symbols[path] = _SymbolIndex(self._facts[path], [record.start for record in functions])
        return self._symbols[path]

    def walk(self, path: str) -> None:
        """Walk a file, so that the arguments it passes to other files are known."""
        self._walk.file(path)

    def edges(self, path: str) -> FileEdges:
        facts = self._facts[path]
        imports = self._modules.imported(path, facts)
        state = self._walk.file(path)
        if state is None:
            return FileEdges((), (), imports)
        edges: list[Edge] = []
        unresolved: list[Unresolved] = []
        uses = facts.uses
        by_start = {use.start: use for use in uses if use.kind in _CALLS}
        done: set[int] = set()
        for start, reached in sorted({**state.calls_from_elsewhere, **state.calls}.items()):
            use = by_start.get(start)
            kind = use.kind if use is not None else UseKind.NEW if reached.is_new else UseKind.CALL
            source = use.container if use is not None else self._symbols_of(path).around(start)
            found = self._target_symbols(reached)
            if (given := state.calls_from_elsewhere.get(start)) is not None:
                with_given = found | {
                    place: each for place, each in self._target_symbols(given).items() if place not in found
                }
                found = with_given if len(with_given) <= 2 * MAX_TARGETS else found
            if found or start in state.calls:
                done.add(start)
            if len(found) > 2 * MAX_TARGETS:
                continue
            for place, evidence in found.items():
                edges.append(Edge(source, *place, kind, reached.line, evidence, _confidence(evidence, len(found))))
        for use in uses:
            if not use.path or (use.kind in _CALLS and use.start in done):
                continue
            places, evidence, library = self._named_targets(path, state, use)
            for place in places:
                if place != (path, use.container) or use.kind not in _UNREPORTED:
                    edges.append(
                        Edge(use.container, *place, use.kind, use.line, evidence, _confidence(evidence, len(places)))
                    )
            if not places and use.kind not in _UNREPORTED:
                unresolved.append(Unresolved(use.container, use.path, use.kind, use.line, library))
        edges.sort(key=lambda edge: edge.line)
        return FileEdges(edges, unresolved, imports)

    def _target_symbols(self, reached: CallTargets) -> dict[SymbolRef, Evidence]:
        """Return the symbols that a call may call, with the evidence."""
        found: dict[SymbolRef, Evidence] = {}
        for target, evidence in reached.targets.items():
            place = self._target_symbol(target)
            if place is not None:
                found.setdefault(place, evidence)
        return found

    def _target_symbol(self, target: ScriptTarget) -> SymbolRef | None:
        """Return the symbol of a function or class; None if it has no name."""
        state = self._walk.modules.load(target.file)
        if state is None:
            return None
        record = state.classes[target.number] if target.is_class else state.functions[target.number]
        index = self._symbols_of(target.file).of_record(
            record.name, record.start, record.line, is_class=target.is_class
        )
        return SymbolRef(target.file, index) if index is not None else None

    def _named_targets(self, path: str, state: FileState, use: Use) -> tuple[Sequence[SymbolRef], Evidence, str]:
        """Return the symbols that a use refers to by top-level names, the evidence, else the library."""
        names = use.path.split(".")
        if all(name.isidentifier() or name.startswith("#") for name in names) and names[0] not in ("this", "super"):
            origin = self._walk.modules.origin(path, names[0])
            evidence = Evidence.LOCAL if origin is not None and origin[0] == path else Evidence.IMPORTED
            if origin is None:
                return (), evidence, state.imports[names[0]][0] if names[0] in state.imports else ""
            if use.kind not in _CALLS:
                places = [
                    place
                    for target in self._walk.find_targets(state, names)
                    if (place := self._target_symbol(target)) is not None
                ]
                if places and len(places) <= MAX_TARGETS:
                    return places, evidence, ""
                found = self._symbols_of(origin[0]).path_of(
                    [origin[1], *names[1:]] if origin[1] else names[1:], use.start if origin[0] == path else -1
                )
                if found is not None:
                    return [SymbolRef(origin[0], found)], evidence, ""
        if use.start in state.libraries:
            return (), Evidence.IMPORTED, state.libraries[use.start]
        name = names[-1]
        if use.kind in _CALLS and len(names) > 1 and len(name) > 3 and name not in COMMON:
            places = self._callables.get(name)
            places = [place for place in places if self._facts[place.path].symbols[place.symbol].container >= 0]
            if 0 < len(places) <= MAX_GUESSES:
                return places, Evidence.UNIQUE if len(places) == 1 else Evidence.NAME, ""
        return (), Evidence.NAME, ""


def _confidence(evidence: Evidence, targets: int) -> float:
    whole = CONFIDENCE[evidence]
    return whole if targets == 1 else max(0.5 if whole >= 0.5 else 0.1, round(whole - 0.1 * (targets - 1), 2))


class _SymbolIndex:
    """The symbols of one file by position."""

    def __init__(self, facts: FileFacts, functions: Iterable[int]) -> None:
        self._symbols = facts.symbols
        self._starts = [symbol.span.start for symbol in facts.symbols]
        self._at: dict[tuple[str, int], list[int]] = {}
        self._top: dict[str, int] = {}
        self._within: dict[tuple[int, str], int] = {}
        for index, symbol in enumerate(facts.symbols):
            self._at.setdefault((last_name(symbol.name), symbol.line), []).append(index)
            self._within.setdefault((symbol.container, symbol.name), index)
        for exported, local in facts.exports:
            if (found := self._within.get((-1, local))) is not None:
                self._top[exported] = found
        self._first: dict[int, int] = {}
        """First byte of the first function in each symbol; if the symbol is a function, that is its own."""
        for start in sorted(functions):
            self._first.setdefault(self._innermost(start), start)

    def _innermost(self, byte: int) -> int:
        index = bisect_right(self._starts, byte) - 1
        while index >= 0 and not byte < self._symbols[index].span.end:
            index = self._symbols[index].container
        return index

    def around(self, byte: int) -> int:
        """Return the function or class around a byte; -1 if there is none."""
        index = self._innermost(byte)
        while index >= 0 and self._symbols[index].kind not in _CONTAINERS:
            index = self._symbols[index].container
        return index

    def of_record(self, name: str, start: int, line: int, *, is_class: bool) -> int | None:
        """Return the symbol of a function or class at a byte; for an anonymous one, the variable that holds it."""
        kinds = TYPES if is_class else CALLABLES
        for index in self._at.get((name, line), ()):
            symbol = self._symbols[index]
            if symbol.span.start <= start < symbol.span.end and (symbol.kind in kinds or symbol.kind in _VARIABLES):
                return index
        index = self._innermost(start)
        symbol = self._symbols[index] if index >= 0 else None
        if symbol is None:
            return None
        if symbol.kind in _VARIABLES or (symbol.kind in kinds and (is_class or self._first.get(index) == start)):
            return index
        return None

    def path_of(self, names: Sequence[str], near: int) -> int | None:
        """Return the symbol of a path of names from the top level, or from the definitions around a byte."""
        if not names:
            return -1
        levels = [-1]
        if near >= 0:
            level = self._innermost(near)
            chain: list[int] = []
            while level >= 0:
                chain.append(level)
                level = self._symbols[level].container
            levels = [*chain, -1]
        for level in levels:
            index: int | None = self._within.get((level, names[0]))
            if index is None and level < 0:
                index = self._top.get(names[0])
            for name in names[1:]:
                index = self._within.get((index, name)) if index is not None else None
            if index is not None:
                return index
        return None
