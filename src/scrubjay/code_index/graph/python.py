"""Resolves the uses in Python files: calls and names become edges between symbols."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from scrubjay.code_index.facts.edge_rows import LazyRows
from scrubjay.code_index.facts.packed_facts import LazyFacts, OutlineColumns, UseColumns, read_outline, read_uses
from scrubjay.code_index.graph import python_flow_format as flow
from scrubjay.code_index.graph.definitions import NameIndex
from scrubjay.code_index.graph.python_calls import Callers, CallTarget, ResolvedCall
from scrubjay.code_index.graph.python_program import PythonProgram
from scrubjay.code_index.graph.python_values import BOUND, CLASS, EXTERNAL, FUNCTION, KIND, NAME, PROPERTY, SCOPE, Value
from scrubjay.code_index.index.gc_pause import gc_paused
from scrubjay.code_index.models import (
    Edge,
    Evidence,
    Facts,
    FileEdges,
    Language,
    SymbolKind,
    Unresolved,
    UseKind,
)

# Plain strings, because comparing enumeration members for each use is slow.
_CALL, _READ, _CLASS = UseKind.CALL.value, UseKind.READ.value, SymbolKind.CLASS.value
_CALLS = {UseKind.CALL.value, UseKind.NEW.value}
_HANDLED_ELSEWHERE = {*_CALLS, UseKind.WRITE.value}
_OF_LIBRARIES = {kind.value for kind in (UseKind.INHERIT, UseKind.RAISE, UseKind.CATCH, UseKind.DECORATE)}
_LOCAL, _IMPORTED, _RECEIVER = Evidence.LOCAL.value, Evidence.IMPORTED.value, Evidence.RECEIVER.value
_UNIQUE, _NAME = Evidence.UNIQUE.value, Evidence.NAME.value
_EDGE_TARGET_KINDS = {FUNCTION, CLASS, BOUND, PROPERTY}
_OF_OBJECTS = {BOUND, PROPERTY}

_COMMON_METHODS = frozenset(
    {name for kind in (str, bytes, list, dict, set, int, float, tuple, type, BaseException) for name in dir(kind)}
) | {
    "acquire", "all", "apply", "call", "cancel", "check", "close", "commit", "connect", "create", "debug", "delete",
    "done", "dump", "dumps", "error", "exception", "execute", "exists", "fetch", "fileno", "filter", "first",
    "flush", "group", "groups", "handle", "info", "is_dir", "is_file", "isoformat", "last", "load", "loads", "log",
    "main", "map", "match", "mkdir", "name", "next", "now", "open", "parse", "process", "put", "read", "readline",
    "readlines", "recv", "reduce", "release", "render", "reset", "resolve", "result", "rollback", "run", "save",
    "search", "seek", "send", "set", "setUp", "start", "stop", "strftime", "sub", "submit", "tearDown", "tell",
    "test", "today", "unlink", "value", "wait", "warning", "write",
}  # fmt: skip
"""Method names that are too common to guess a type by."""


def resolve(paths: Iterable[str], facts: Facts, *, callers: Callers | None = None) -> Mapping[str, FileEdges]:
    """Return the edges of the Python files among `paths`; `facts` covers the whole repository.

    Arguments are followed from these files and from `callers`, the files that are known to call into them.
    """
    wanted = sorted(path for path in set(paths) if facts[path].language is Language.PYTHON)
    with gc_paused():
        edges_of = prepare_resolution(wanted, facts, callers=callers)
        return {path: edges_of(path) for path in wanted}


def prepare_resolution(
    paths: Sequence[str], facts: Facts, *, callers: Callers | None = None
) -> Callable[[str], FileEdges]:
    """Return a function from path to edges. The calls of all files are resolved before it returns."""
    asked = frozenset(paths)
    others = {path: lines for path, lines in (callers or {}).items() if path in facts and path not in asked}
    own = {path: lines for path, lines in others.items() if facts[path].language is Language.PYTHON}
    program = PythonProgram(facts)
    reached = program.resolve_calls(paths, own)
    projection = _EdgeBuilder(program, facts)
    return lambda path: projection.edges(path, reached[path])


_Edges = dict[tuple[int, int, str, int, str], tuple[str, float]]
"""Evidence and confidence, by line, source symbol, target path, target symbol and kind."""
_Unresolved = dict[tuple[int, int, str, str, str], None]
"""Line, source symbol, name, kind and library."""
_BY_LINE = itemgetter(0, 1, 2)


class _NameTargets(NamedTuple):
    """The targets of a name."""

    targets: Sequence[tuple[str, int, tuple[str, float]]]
    """Path, symbol, and evidence with confidence."""
    libraries: Sequence[str]


class _EdgeBuilder:
    """Converts calls and other uses to edges between symbols."""

    def __init__(self, program: PythonProgram, facts: Facts) -> None:
        self._program = program
        self._facts = facts
        self._outlines: dict[str, OutlineColumns] = {}
        self._symbols: dict[str, dict[int, int]] = {}
        self._symbols_by_targets: dict[int, Sequence[tuple[str, int, str, tuple[str, float]]]] = {}
        self._guessed: dict[str, Sequence[tuple[str, int, tuple[str, float]]]] = {}
        self._methods = NameIndex(facts, [Language.PYTHON], [SymbolKind.METHOD], list_definitions=self._defined)
        self._methods.prepare()

    def edges(self, path: str, called: Sequence[ResolvedCall]) -> FileEdges:
        own, used, known_places = self._symbols_of(path), read_uses(self._facts[path]), self._symbols_by_targets
        edges: _Edges = {}
        unresolved: _Unresolved = {}
        written_at = zip(used.starts, used.paths, used.kinds, strict=True)
        uses = {start: name for start, name, kind in written_at if kind in _CALLS}
        sites = self._program.file(path).call_columns()
        for line, start, scope, how, (targets, external, _, _) in zip(*sites, called, strict=True):
            source = own.get(scope, -1)
            if targets:
                # Calls with the same targets share one object.
                key = id(targets) if how != flow.RAISED else -id(targets)
                places = known_places.get(key)
                if places is None:
                    places = known_places[key] = self._target_symbols(targets, how)
                for where, target, kind, reason in places:
                    edge = (line, source, where, target, kind)
                    known = edges.get(edge)
                    if known is None or known[1] < reason[1]:
                        edges[edge] = reason
                continue
            if how not in (flow.CALLED, flow.DECORATING):
                continue
            written = uses.get(start)
            if external:
                for name in external:
                    name_used = written if written is not None else name.replace("<builtin>.", "")
                    unresolved[line, source, name_used, _CALL, _library(name) or "builtins"] = None
            elif written is not None and how == flow.CALLED:
                guessed = self._guessed.get(written)
                if guessed is None:
                    guessed = self._guessed[written] = self._guesses(written)
                for where, target, reason in guessed:
                    _add(edges, (line, source, where, target, _CALL), reason)
                if not guessed:
                    unresolved[line, source, written, _CALL, ""] = None
        self._other_uses(path, used, edges, unresolved)
        return FileEdges(_edge_rows(edges), _unresolved_rows(unresolved), self._program.imports(path))

    def _target_symbols(
        self, targets: Sequence[CallTarget], how: int
    ) -> Sequence[tuple[str, int, str, tuple[str, float]]]:
        """Return path, symbol, kind, and evidence with confidence of each target."""
        if how == flow.RAISED:
            targets = [target for target in targets if target.kind is UseKind.CALL]
        places: list[tuple[str, int, str, tuple[str, float]]] = []
        for value, kind, evidence, confidence in targets:
            where, target = self._symbol_of_value(value)
            if target >= 0:  # else a lambda without a name, which has no symbol
                share = round(confidence * 0.8, 3) if len(targets) > 2 else confidence
                places.append((where, target, kind.value, (evidence.value, share)))
        return places

    def _outline(self, path: str) -> OutlineColumns:
        facts = self._facts[path]
        if isinstance(facts, LazyFacts):
            return facts.outline
        known = self._outlines.get(path)
        if known is None:
            known = self._outlines[path] = read_outline(facts)
        return known

    def _defined(self, path: str) -> Iterable[tuple[str, str]]:
        outline = self._outline(path)
        return zip(outline.names, outline.kinds, strict=True)

    def _symbols_of(self, path: str) -> dict[int, int]:
        """Return the symbol of each scope; a scope without a symbol has that of its enclosing scope."""
        known = self._symbols.get(path)
        if known is not None:
            return known
        outline = self._outline(path)
        by_place = {place: symbol for symbol, place in enumerate(zip(outline.names, outline.at, strict=True))}
        found: dict[int, int] = {0: -1}
        for index, scope in enumerate(self._program.file(path).scopes):
            if index:
                found[index] = by_place.get((scope.name, scope.line), found.get(scope.parent, -1))
        self._symbols[path] = found
        return found

    def _symbol_of_value(self, value: Value) -> tuple[str, int]:
        """Return path and symbol of a function or class; the symbol is -1 if it has none of its own."""
        path, scope = self._program.path_of(value), value[SCOPE]
        found = self._symbols_of(path)
        target = found.get(scope, -1)
        return path, target if target != found.get(self._program.file(path).scopes[scope].parent, -1) else -1

    def _guesses(self, written: str) -> Sequence[tuple[str, int, tuple[str, float]]]:
        """Guess the target of a method call on an unknown value by the method's name, if few classes define it."""
        before, _, name = written.rpartition(".")
        if not before or name in _COMMON_METHODS or name.startswith("__"):
            return ()
        named = self._methods.get(name)
        if len(named) > 3:
            return ()
        reason = (_UNIQUE, 0.45) if len(named) == 1 else (_NAME, 0.3 if len(named) == 2 else 0.2)
        return [(where, place, reason) for where, place in named]

    def _other_uses(self, path: str, used: UseColumns, edges: _Edges, unresolved: _Unresolved) -> None:
        named: dict[tuple[str, int], _NameTargets] = {}
        for kind, written, line, container in zip(used.kinds, used.paths, used.lines, used.containers, strict=True):
            if kind in _HANDLED_ELSEWHERE:
                continue
            class_line = self._class_around(path, container) if written.startswith(("self", "cls")) else 0
            key = (written, class_line)
            found = named.get(key)
            if found is None:
                found = named[key] = self._name_targets(path, written, class_line)
            for where, target, reason in found.targets:
                if target != container or kind != _READ or where != path:
                    _add(edges, (line, container, where, target, kind), reason)
            if found.libraries and kind in _OF_LIBRARIES:
                for library in found.libraries:
                    unresolved[line, container, written, kind, library] = None

    def _name_targets(self, path: str, written: str, class_line: int) -> _NameTargets:
        places: list[tuple[str, int, tuple[str, float]]] = []
        libraries: list[str] = []
        for value in self._program.lookup_name(path, written, class_line):
            if value[KIND] == EXTERNAL:
                libraries.append(_library(value[NAME]))
            elif value[KIND] in _EDGE_TARGET_KINDS:
                where = self._program.path_of(value)
                target = self._symbols_of(where).get(value[SCOPE], -1)
                if target >= 0:
                    evidence = _RECEIVER if value[KIND] in _OF_OBJECTS else _LOCAL if where == path else _IMPORTED
                    places.append((where, target, (evidence, 0.95)))
        return _NameTargets(places, libraries)

    def _class_around(self, path: str, container: int) -> int:
        """Return the line of the class around a symbol; 0 if there is none."""
        outline = self._outline(path)
        while container >= 0:
            if outline.kinds[container] == _CLASS:
                return outline.at[container]
            container = outline.containers[container]
        return 0


def _add(edges: _Edges, edge: tuple[int, int, str, int, str], reason: tuple[str, float]) -> None:
    known = edges.get(edge)
    if known is None or known[1] < reason[1]:
        edges[edge] = reason


def _library(name: str) -> str:
    return "builtins" if name.startswith("<") else name.partition(".")[0]


def _edge_rows(edges: _Edges) -> Sequence[Edge]:
    """Return rows sorted by line, source and target."""
    if not edges:
        return []
    ordered = sorted(edges)
    lines, sources, paths, targets, kinds = zip(*ordered, strict=True)
    evidence, confidences = zip(*map(edges.__getitem__, ordered), strict=True)
    return LazyRows(Edge, (sources, paths, targets, kinds, lines, evidence, confidences))


def _unresolved_rows(unresolved: _Unresolved) -> Sequence[Unresolved]:
    if not unresolved:
        return []
    lines, sources, uses, kinds, libraries = zip(*sorted(unresolved, key=_BY_LINE), strict=True)
    return LazyRows(Unresolved, (sources, uses, kinds, lines, libraries))
