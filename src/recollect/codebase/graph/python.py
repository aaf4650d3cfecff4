"""What the uses in Python files lead to: calls and names as edges between the symbols of files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter

from recollect.codebase.garbage import uncollected
from recollect.codebase.graph import python_flow as flow
from recollect.codebase.graph.definitions import Named
from recollect.codebase.graph.python_values import (
    BOUND,
    CLASS,
    EXTERNAL,
    FUNCTION,
    PROPERTY,
    Call,
    Callers,
    Program,
    Value,
    Values,
    new_tuple,
)
from recollect.domain.code import (
    Edge,
    Evidence,
    Facts,
    FileEdges,
    FileFacts,
    Language,
    SymbolKind,
    Unresolved,
    Use,
    UseKind,
)

# The members of an enumeration are looked up slowly, and these are asked for once a use.
_CALL, _NEW, _WRITE, _READ = UseKind.CALL, UseKind.NEW, UseKind.WRITE, UseKind.READ
_OF_LIBRARIES = (UseKind.INHERIT, UseKind.RAISE, UseKind.CATCH, UseKind.DECORATE)
_POINTED_TO = {FUNCTION, CLASS, BOUND, PROPERTY}
_OF_OBJECTS = {BOUND, PROPERTY}

_COMMON = frozenset(
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
"""Method names that so many types have that a name alone tells nothing."""


def resolve(paths: Iterable[str], facts: Facts, *, callers: Callers | None = None) -> Mapping[str, FileEdges]:
    """What the uses in Python files lead to; the facts are those of the whole repository.

    Values that are passed as arguments are followed from the files asked for and from `callers`, the files that are
    known to call into those.
    """
    wanted = sorted(path for path in set(paths) if facts[path].language is Language.PYTHON)
    with uncollected():
        edges_of = resolver(wanted, facts, callers=callers)
        return {path: edges_of(path) for path in wanted}


def resolver(paths: Sequence[str], facts: Facts, *, callers: Callers | None = None) -> Callable[[str], FileEdges]:
    """What tells of each of these files what the uses in it lead to: the calls of all are followed before."""
    asked = frozenset(paths)
    others = {path: lines for path, lines in (callers or {}).items() if path in facts and path not in asked}
    own = {path: lines for path, lines in others.items() if facts[path].language is Language.PYTHON}
    program = Program(facts)
    calls = program.calls(paths, own)
    projection = _Projection(program, facts)
    return lambda path: projection.edges(path, calls[path])


# By line, then by what uses and what is used; an order of their own would take several times as long.
_EDGE_ORDER = itemgetter(*map(Edge._fields.index, ("line", "source", "path", "target", "kind")))
_UNRESOLVED_ORDER = itemgetter(*map(Unresolved._fields.index, ("line", "source", "use")))


class _Projection:
    """Calls and other uses of files as edges between their symbols."""

    def __init__(self, program: Program, facts: Facts) -> None:
        self._program = program
        self._facts = facts
        self._symbols: dict[str, dict[int, int]] = {}
        self._pointed: dict[Value, tuple[str, int]] = {}
        self._methods = Named(facts, [Language.PYTHON], [SymbolKind.METHOD])
        self._methods.prepare()

    def edges(self, path: str, calls: Sequence[Call]) -> FileEdges:
        facts = self._facts[path]
        own = self._symbols_of(path)
        edges: dict[tuple[int, str, int, int, int], Edge] = {}
        unresolved: dict[tuple[int, str, int, int, str], Unresolved] = {}
        all_uses, pointed = facts.uses, self._pointed
        uses = {use.start: use for use in all_uses if (kind := use.kind) is _CALL or kind is _NEW}
        for scope, line, start, how, targets, external in calls:
            source = own.get(scope, -1)
            if how == flow.RAISED:
                targets = [target for target in targets if target[1] is _CALL]
            many = len(targets) > 2
            for value, kind, evidence, confidence in targets:
                found = pointed.get(value)
                if found is None:
                    found = pointed[value] = self._pointed_to(value)
                where, target = found
                if target < 0:  # a lambda without a name: nothing that could be pointed to
                    continue
                share = round(confidence * 0.8, 3) if many else confidence
                _add(edges, (source, where, target, kind, line, evidence, share))
            if targets or how not in (flow.CALLED, flow.DECORATING):
                continue
            use = uses.get(start)
            if external:
                for name in external:
                    library = "" if name.startswith("<") else name.partition(".")[0]
                    written = use.path if use is not None else name.replace("<builtin>.", "")
                    _list(unresolved, (source, written, UseKind.CALL, line, library or "builtins"))
            elif use is not None and how == flow.CALLED:
                guessed = self._guesses(use.path, path)
                for where, target, evidence, confidence in guessed:
                    _add(edges, (source, where, target, UseKind.CALL, line, evidence, confidence))
                if not guessed:
                    _list(unresolved, (source, use.path, UseKind.CALL, line, ""))
        self._other_uses(path, all_uses, edges, unresolved)
        return FileEdges(
            edges=sorted(edges.values(), key=_EDGE_ORDER),
            unresolved=sorted(unresolved.values(), key=_UNRESOLVED_ORDER),
            imports=self._program.imports(path),
        )

    def _symbols_of(self, path: str) -> dict[int, int]:
        """Which symbol stands for which scope; a scope without one belongs to the symbol around it."""
        known = self._symbols.get(path)
        if known is not None:
            return known
        symbols = self._facts[path].symbols
        by_place = {(symbol.name, symbol.line): place for place, symbol in enumerate(symbols)}
        found: dict[int, int] = {0: -1}
        for index, scope in enumerate(self._program.file(path).scopes):
            if index:
                found[index] = by_place.get((scope[1], scope[3]), found.get(scope[2], -1))
        self._symbols[path] = found
        return found

    def _pointed_to(self, value: Value) -> tuple[str, int]:
        """The file and the symbol that stand for a function or class; -1 when it has no symbol of its own."""
        path, scope = self._program.path_of(value), value[2]
        found = self._symbols_of(path)
        target = found.get(scope, -1)
        return path, target if target != found.get(self._program.file(path).scopes[scope][2], -1) else -1

    def _guesses(self, written: str, path: str) -> list[tuple[str, int, Evidence, float]]:
        """The few methods that have the name of a call on something unknown."""
        before, _, name = written.rpartition(".")
        if not before or name in _COMMON or name.startswith("__"):
            return []
        named = self._methods.get(name)
        if len(named) == 1:
            return [(named[0].path, named[0].symbol, Evidence.UNIQUE, 0.45)]
        if len(named) > 3:
            return []
        return [(where, place, Evidence.NAME, 0.3 if len(named) == 2 else 0.2) for where, place in named]

    def _other_uses(
        self,
        path: str,
        uses: Sequence[Use],
        edges: dict[tuple[int, str, int, int, int], Edge],
        unresolved: dict[tuple[int, str, int, int, str], Unresolved],
    ) -> None:
        named: dict[tuple[str, int], Values] = {}
        for use in uses:
            kind = use.kind
            if kind is _CALL or kind is _NEW or kind is _WRITE:
                continue
            _, written, line, _, container = use
            of_object = written.startswith(("self", "cls"))
            key = (written, container if of_object else -1)
            values = named.get(key)
            if values is None:
                class_line = self._class_around(self._facts[path], container) if of_object else 0
                values = named[key] = self._program.named(path, written, class_line)
            for value in values:
                if value[0] == EXTERNAL and kind in _OF_LIBRARIES:
                    library = "builtins" if value[1].startswith("<") else value[1].partition(".")[0]
                    _list(unresolved, (container, written, kind, line, library))
                elif value[0] in _POINTED_TO:
                    where = self._program.path_of(value)
                    target = self._symbols_of(where).get(value[2], -1)
                    if target < 0 or (where == path and target == container and kind is _READ):
                        continue
                    evidence = Evidence.LOCAL if where == path else Evidence.IMPORTED
                    if value[0] in _OF_OBJECTS:
                        evidence = Evidence.RECEIVER
                    _add(edges, (container, where, target, kind, line, evidence, 0.95))

    def _class_around(self, facts: FileFacts, container: int) -> int:
        """The line of the name of the class that a symbol is in; 0 when it is in none."""
        while container >= 0:
            symbol = facts.symbols[container]
            if symbol.kind is SymbolKind.CLASS:
                return symbol.line
            container = symbol.container
        return 0


def _add(
    edges: dict[tuple[int, str, int, int, int], Edge], parts: tuple[int, str, int, UseKind, int, Evidence, float]
) -> None:
    source, path, target, kind, line, _, confidence = parts
    key = (source, path, target, id(kind), line)  # the hash of an enum's member is slow
    known = edges.get(key)
    if known is None or known.confidence < confidence:
        edges[key] = new_tuple(Edge, parts)


def _list(
    unresolved: dict[tuple[int, str, int, int, str], Unresolved], parts: tuple[int, str, UseKind, int, str]
) -> None:
    source, use, kind, line, external = parts
    unresolved[source, use, id(kind), line, external] = new_tuple(Unresolved, parts)
