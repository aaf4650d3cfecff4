"""Resolves the uses in a file to edges."""

from collections.abc import Mapping, Sequence

from scrubjay.code_index.graph.definitions import CALLABLES, SymbolRef
from scrubjay.code_index.graph.names_scope import FOLLOWS_FUNCTIONS, IMPLICIT_THIS, MAKING, FilePart
from scrubjay.code_index.graph.referents import PathParts, Referent, split_path
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
"""A name that refers to more definitions than this gets no edges."""
MAX_IMPLEMENTATIONS = 8
"""A call of an interface method with more implementations than this leads to its declaration only."""
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
_UNREPORTED = frozenset({UseKind.READ, UseKind.WRITE, UseKind.TYPE})
"""Kinds of uses that are not reported as unresolved, since most refer to local names."""
_GUESSED = frozenset({UseKind.CALL, UseKind.NEW, UseKind.INHERIT, UseKind.RAISE, UseKind.CATCH, UseKind.DECORATE})


class UseResolver(FilePart):
    """Converts the uses in a file to edges."""

    def edges(self) -> FileEdges:
        edges: list[Edge] = []
        unresolved: list[Unresolved] = []
        for use in self._facts.uses:
            if not use.path:
                continue
            refs, evidence, library = self._targets(use)
            if not refs:
                if use.kind not in _UNREPORTED:
                    unresolved.append(Unresolved(use.container, use.path, use.kind, use.line, library))
                continue
            confidence = CONFIDENCE[evidence]
            if len(refs) > 1:
                lowest = 0.5 if confidence >= 0.5 else 0.1
                confidence = max(lowest, round(confidence - 0.1 * (len(refs) - 1), 2))
            for ref in refs:
                if use.kind in _UNREPORTED and ref == (self._path, use.container):
                    continue
                edges.append(Edge(use.container, ref.path, ref.symbol, use.kind, use.line, evidence, confidence))
        return FileEdges(edges, unresolved, self._defs.modules.imported(self._path, self._facts))

    def _targets(self, use: Use) -> tuple[Sequence[SymbolRef], Evidence, str]:
        """Return the definitions that a use refers to, the evidence, and the library if there are none."""
        parts = split_path(use.path)
        follows_functions = use.kind is UseKind.CALL and self._language in FOLLOWS_FUNCTIONS
        # `choose(true)()` calls the result of the first call.
        calls_result = follows_functions and "()" in parts[-1][1]
        referent = None if calls_result else self._file.paths.follow(parts, use.start, use.container, use.kind)
        if follows_functions and not self._is_callable(referent):
            functions = self._family.callbacks.functions(self._path, parts, use.start)
            if 0 < len(functions) <= MAX_IMPLEMENTATIONS:
                return functions, Evidence.FLOW, ""
        if calls_result:
            return (), Evidence.FLOW, ""
        if referent is None or referent.kind == "unknown":
            return self._guess(parts, use, unknown=referent is not None)
        if referent.kind == "library":
            return (), Evidence.IMPORTED, referent.name
        refs = referent.symbols
        if referent.kind == "instance" or (
            referent.kind == "type" and use.kind is UseKind.CALL and self._language is Language.GO
        ):
            return (), Evidence.LOCAL, ""  # calling a type is a conversion in Go
        if referent.kind == "type" and parts[-1][0] in MAKING and self._language is Language.RUST:
            return (), Evidence.LOCAL, ""  # derived, so it has no definition
        if use.kind in (UseKind.NEW, UseKind.CALL) and referent.kind == "type":
            made = self._file.members.constructors(referent, ("constructor",))
            refs = made or refs
        elif use.kind is UseKind.CALL:
            # The value of a field is unknown, even if it is called like a method.
            refs = [ref for ref in refs if self._defs.symbol(ref).kind in CALLABLES]
            if len(refs) <= MAX_TARGETS:
                return self._with_implementations(refs), referent.evidence, ""
        return refs if len(refs) <= MAX_TARGETS else (), referent.evidence, ""

    def _is_callable(self, referent: Referent | None) -> bool:
        """Return whether the callee is known without following function values."""
        if referent is None or referent.kind in ("unknown", "instance"):
            return False
        return referent.kind != "symbols" or any(self._defs.symbol(each).kind in CALLABLES for each in referent.symbols)

    def _with_implementations(self, refs: Sequence[SymbolRef]) -> Sequence[SymbolRef]:
        """Add the implementations of methods that an interface declares."""
        if self._language not in (Language.GO, Language.RUST):
            return refs
        bodies = [each for ref in refs for each in self._family.implementations.of(ref)]
        return [*dict.fromkeys([*refs, *bodies])] if len(bodies) <= MAX_IMPLEMENTATIONS else refs

    def _guess(self, parts: PathParts, use: Use, *, unknown: bool) -> tuple[Sequence[SymbolRef], Evidence, str]:
        """Guess definitions by name alone, if few have the name and it is not a common one."""
        name = parts[-1][0]
        nothing: tuple[Sequence[SymbolRef], Evidence, str] = ((), Evidence.NAME, "")
        if use.kind not in _GUESSED or len(name) < 4 or name in COMMON or name.lower() in COMMON:
            return nothing
        if len(parts) == 1 and unknown:
            return nothing  # a local variable
        kinds = self._defs.callables if use.kind in (UseKind.CALL, UseKind.DECORATE) else self._defs.types
        refs = kinds.get(name)
        if len(parts) > 1:
            refs = [ref for ref in refs if self._defs.owner(ref.path, self._defs.symbol(ref)) or not unknown]
        elif use.kind is UseKind.CALL and self._language not in IMPLICIT_THIS:
            refs = [ref for ref in refs if not self._defs.owner(ref.path, self._defs.symbol(ref))]
            if self._language in (Language.GO, Language.RUST):
                return nothing  # a bare name that is neither defined nor imported is a builtin
        refs = self._file.members.without_signatures(refs)
        if not refs or len(refs) > MAX_GUESSES:
            return nothing
        return refs, Evidence.UNIQUE if len(refs) == 1 else Evidence.NAME, ""
