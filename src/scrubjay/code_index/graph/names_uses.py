"""Resolves the uses of a file to edges."""

from collections.abc import Mapping, Sequence

from scrubjay.code_index.graph.definitions import CALLABLES, Place
from scrubjay.code_index.graph.names_scope import FOLLOWS_FUNCTIONS, IMPLICIT_THIS, MAKING, FilePart
from scrubjay.code_index.graph.referents import Links, Meaning, links_of
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Language, Unresolved, Use, UseKind

CONFIDENCE: Mapping[Evidence, float] = {
    Evidence.LOCAL: 0.95,
    Evidence.IMPORTED: 0.95,
    Evidence.RECEIVER: 0.9,
    Evidence.INHERITED: 0.85,
    Evidence.FLOW: 0.8,
    Evidence.UNIQUE: 0.4,
    Evidence.NAME: 0.2,
}
MAX_TARGETS = 4
"""A name with more meanings than this has no edges."""
MAX_IMPLEMENTATIONS = 8
"""An interface's method with more implementations than this leads to its declaration only."""
MAX_GUESSES = 3
"""A name with more definitions than this is not guessed."""

COMMON = frozenset(
    {
        "add", "all", "any", "append", "apply", "as_ref", "as_str", "assert", "build", "bytes", "call", "clear",
        "clone", "close", "collect", "compare", "contains", "convert", "copy", "count", "create", "default",
        "delete", "done", "each", "empty", "end", "equals", "error", "exec", "execute", "exists", "exit", "expect",
        "extend", "fail", "field", "filter", "find", "finish", "first", "flush", "fmt", "for_each", "format",
        "from", "get", "handle", "has", "hash", "height", "index", "info", "init", "insert", "into", "invoke",
        "is_empty", "items", "iter", "join", "key", "keys", "last", "len", "length", "list", "load", "lock", "log",
        "main", "make", "map", "match", "max", "merge", "message", "min", "name", "new", "next", "none", "now",
        "of", "ok", "open", "parse", "path", "poll", "pop", "print", "process", "push", "put", "read", "recv",
        "register", "remove", "render", "replace", "request", "reset", "resolve", "response", "result", "return",
        "run", "save", "schedule", "search", "select", "send", "set", "setup", "size", "sleep", "sort", "split",
        "start", "state", "status", "step", "stop", "string", "submit", "sum", "swap", "sync", "take", "test",
        "then", "throw", "time", "to_owned", "to_string", "toString", "trim", "try", "type", "unlock", "unwrap",
        "update", "use", "validate", "value", "values", "visit", "wait", "warn", "width", "with", "wrap", "write",
    }
)  # fmt: skip
"""Names that are too common to guess a definition by."""
_QUIET = frozenset({UseKind.READ, UseKind.WRITE, UseKind.TYPE})
"""Kinds of uses that are not reported as unresolved: most of them are local."""
_GUESSED = frozenset({UseKind.CALL, UseKind.NEW, UseKind.INHERIT, UseKind.RAISE, UseKind.CATCH, UseKind.DECORATE})


class UseResolver(FilePart):
    """Turns the uses of a file into edges."""

    def edges(self) -> FileEdges:
        edges: list[Edge] = []
        unresolved: list[Unresolved] = []
        for use in self._facts.uses:
            if not use.path:
                continue
            places, evidence, library = self._targets(use)
            if not places:
                if use.kind not in _QUIET:
                    unresolved.append(Unresolved(use.container, use.path, use.kind, use.line, library))
                continue
            confidence = CONFIDENCE[evidence]
            if len(places) > 1:
                lowest = 0.5 if confidence >= 0.5 else 0.1
                confidence = max(lowest, round(confidence - 0.1 * (len(places) - 1), 2))
            for place in places:
                if use.kind in _QUIET and place == (self._path, use.container):
                    continue
                edges.append(Edge(use.container, place.path, place.symbol, use.kind, use.line, evidence, confidence))
        return FileEdges(edges, unresolved, self._all.modules.imported(self._path, self._facts))

    def _targets(self, use: Use) -> tuple[Sequence[Place], Evidence, str]:
        """Return the definitions that a use means, the evidence, and otherwise the library."""
        links = links_of(use.path)
        follows_functions = use.kind is UseKind.CALL and self._language in FOLLOWS_FUNCTIONS
        # `choose(true)()` calls the result of the first call.
        calls_result = follows_functions and "()" in links[-1][1]
        meaning = None if calls_result else self._file.paths.follow(links, use.start, use.container, use.kind)
        if follows_functions and not self._is_callable(meaning):
            functions = self._family.callbacks.functions(self._path, links, use.start)
            if 0 < len(functions) <= MAX_IMPLEMENTATIONS:
                return functions, Evidence.FLOW, ""
        if calls_result:
            return (), Evidence.FLOW, ""
        if meaning is None or meaning.kind == "unknown":
            return self._guess(links, use, unknown=meaning is not None)
        if meaning.kind == "library":
            return (), Evidence.IMPORTED, meaning.name
        places = meaning.places
        if meaning.kind == "instance" or (
            meaning.kind == "type" and use.kind is UseKind.CALL and self._language is Language.GO
        ):
            return (), Evidence.LOCAL, ""  # calling a type is a conversion in Go
        if meaning.kind == "type" and links[-1][0] in MAKING and self._language is Language.RUST:
            return (), Evidence.LOCAL, ""  # derived, so it has no definition
        if use.kind in (UseKind.NEW, UseKind.CALL) and meaning.kind == "type":
            made = self._file.members.constructors(meaning, ("constructor",))
            places = made or places
        elif use.kind is UseKind.CALL:
            # The value of a field is unknown, although it is called like a method.
            places = [place for place in places if self._all.symbol(place).kind in CALLABLES]
            if len(places) <= MAX_TARGETS:
                return self._with_implementations(places), meaning.evidence, ""
        return places if len(places) <= MAX_TARGETS else (), meaning.evidence, ""

    def _is_callable(self, meaning: Meaning | None) -> bool:
        """Return whether the callee is known without following function values."""
        if meaning is None or meaning.kind in ("unknown", "instance"):
            return False
        return meaning.kind != "symbols" or any(self._all.symbol(each).kind in CALLABLES for each in meaning.places)

    def _with_implementations(self, places: Sequence[Place]) -> Sequence[Place]:
        """Add the implementations of methods that an interface declares."""
        if self._language not in (Language.GO, Language.RUST):
            return places
        bodies = [each for place in places for each in self._family.implementations.of(place)]
        return [*dict.fromkeys([*places, *bodies])] if len(bodies) <= MAX_IMPLEMENTATIONS else places

    def _guess(self, links: Links, use: Use, *, unknown: bool) -> tuple[Sequence[Place], Evidence, str]:
        """Guess definitions by the name alone, if few have it and it is not a common one."""
        name = links[-1][0]
        nothing: tuple[Sequence[Place], Evidence, str] = ((), Evidence.NAME, "")
        if use.kind not in _GUESSED or len(name) < 4 or name in COMMON or name.lower() in COMMON:
            return nothing
        if len(links) == 1 and unknown:
            return nothing  # a local variable
        kinds = self._all.callables if use.kind in (UseKind.CALL, UseKind.DECORATE) else self._all.types
        places = kinds.get(name)
        if len(links) > 1:
            places = [place for place in places if self._all.owner(place.path, self._all.symbol(place)) or not unknown]
        elif use.kind is UseKind.CALL and self._language not in IMPLICIT_THIS:
            places = [place for place in places if not self._all.owner(place.path, self._all.symbol(place))]
            if self._language in (Language.GO, Language.RUST):
                return nothing  # a bare name that is neither defined nor imported belongs to the language
        places = self._file.members.without_signatures(places)
        if not places or len(places) > MAX_GUESSES:
            return nothing
        return places, Evidence.UNIQUE if len(places) == 1 else Evidence.NAME, ""
