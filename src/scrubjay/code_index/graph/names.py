"""Resolves uses by imports, scopes and written types, for all languages whose values are not followed."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from scrubjay.code_index.graph.callback_flow import Handed
from scrubjay.code_index.graph.definitions import CALLABLES, TYPES, Definitions, Place
from scrubjay.code_index.graph.implementations import Implementations
from scrubjay.code_index.graph.modules import JVM, C, Modules, rust_parts
from scrubjay.code_index.graph.name_paths import type_name
from scrubjay.code_index.graph.referents import Links, Meaning, links_of
from scrubjay.code_index.graph.rust_modules import RustModule
from scrubjay.code_index.models import (
    Edge,
    Evidence,
    Facts,
    FileEdges,
    Import,
    Language,
    Symbol,
    SymbolKind,
    Unresolved,
    Use,
    UseKind,
)

CONFIDENCE: Mapping[Evidence, float] = {
    Evidence.LOCAL: 0.95,
    Evidence.IMPORTED: 0.95,
    Evidence.RECEIVER: 0.9,
    Evidence.INHERITED: 0.85,
    Evidence.FLOW: 0.8,
    Evidence.UNIQUE: 0.4,
    Evidence.NAME: 0.2,
}
MOST_TARGETS = 4
"""Of a name with more meanings than this none is told."""
MOST_IMPLEMENTING = 8
"""Of an interface's method with more bodies than this only the declaration is told."""
MOST_GUESSES = 3
DEEPEST = 10
"""Steps from a variable to its value to its value that are taken."""

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
"""Names that every library has: whose they are cannot be guessed."""

FAMILIES: Sequence[frozenset[Language]] = (
    frozenset({Language.GO}),
    frozenset({Language.RUST}),
    JVM,
    C,
    frozenset({Language.CSHARP}),
    frozenset({Language.RUBY}),
    frozenset({Language.PHP}),
    frozenset({Language.SWIFT}),
    frozenset({Language.BASH}),
)
_HANDING = frozenset({Language.GO, Language.RUST})
"""Whose files say what they hand over."""
_IMPLICIT_THIS = JVM | {Language.CPP, Language.CSHARP, Language.RUBY, Language.SWIFT}
"""Where a bare name may be a member of the type around it."""
_OWN = frozenset({"self", "this", "Self", "$this", "static"})
_ABOVE = frozenset({"super", "base", "parent"})
_SAME = frozenset(
    {
        "unwrap", "expect", "clone", "borrow", "borrow_mut", "as_ref", "as_mut", "lock", "read", "write", "iter",
        "iter_mut", "into_iter", "unwrap_or_default", "await", "to_owned", "get_mut", "stream", "toList", "to_vec",
        "rev", "filter", "sorted", "reversed", "skip", "take", "ok", "also", "apply", "let", "take_if",
        "orElseThrow", "join", "result", "Result", "unwrap_or", "unwrap_or_else", "ok_or", "ok_or_else", "map_err",
        "context", "with_context", "values", "orElse", "cloned", "copied", "as_deref", "or", "or_else", "or_insert",
        "or_insert_with", "or_default", "enumerate", "chain", "peekable", "by_ref", "as_deref_mut", "into_inner",
        "values_mut", "into_values", "drain", "take_while", "skip_while", "step_by", "inspect", "as_slice",
        "as_mut_slice", "upgrade", "expect_err", "get_or_insert_with", "deref", "deref_mut", "or_insert_with_key",
    }
)  # fmt: skip
"""Methods of wrappers and containers whose result has the type that is wrapped."""
_ELEMENT = frozenset(
    {
        "get", "first", "last", "next", "pop", "find", "nth", "First", "Last", "Single", "Find", "Pop", "remove",
        "peek", "poll", "findFirst", "front", "back", "at", "head", "get_mut", "first_mut", "last_mut", "max_by_key",
        "min_by_key", "max_by", "min_by", "swap_remove", "pop_front", "pop_back", "entry", "front_mut", "back_mut",
        "recv", "reduce", "next_back",
    }
)  # fmt: skip
_ALIAS = re.compile(r"(?:pub(?:\([^)]*\))? )?type [^=;]+= ?([^;]+);?$")
_MAKING = frozenset({"default", "from", "from_iter", "from_str", "try_from"})
"""Functions of Rust's own traits that give a value of the type that they are called of, often derived."""
_BOUNDS = {
    Language.GO: r"[\[,]\s*NAME(?:\s*,\s*\w+)*\s+~?([A-Za-z_][\w.]*)",
    Language.RUST: r"(?:[<,]|\bwhere)\s*NAME\s*:\s*(?:\?\w+\s*\+\s*)?([A-Za-z_][\w:]*)",
}
"""How a parameter of a type or function is said to be bound by a trait or an interface."""
_QUIET = frozenset({UseKind.READ, UseKind.WRITE, UseKind.TYPE})
"""What is not told when its definition is not found: most of it is local."""
_GUESSED = frozenset({UseKind.CALL, UseKind.NEW, UseKind.INHERIT, UseKind.RAISE, UseKind.CATCH, UseKind.DECORATE})


_UNKNOWN = Meaning("unknown")
_AROUND = CALLABLES | TYPES | {SymbolKind.IMPL, SymbolKind.MODULE}


def resolve(paths: Iterable[str], facts: Facts, modules: Modules) -> Mapping[str, FileEdges]:
    """What the uses in these files lead to, as far as these languages are resolved here."""
    wanted = [path for path in paths if path in facts]
    found: dict[str, FileEdges] = {}
    for family in FAMILIES:
        own = [path for path in wanted if facts[path].language in family]
        if own:
            resolver = _Family(Definitions(facts, family, modules))
            for path in own:
                found[path] = resolver.file(path).edges()
    return found


class _Family:
    """The files of one family of languages while their uses are resolved."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.rust_names: dict[tuple[RustModule, str], Meaning | None] = {}
        """What names in modules of Rust mean; None as well while it is being found out."""
        self.implementations = Implementations(definitions, self._type_at)
        self.handed = Handed(definitions, self.file)
        self._bases: dict[tuple[str, str], Meaning | None] = {}
        self._files: dict[str, _File] = {}

    def _type_at(self, path: str, name: str, container: int) -> Sequence[Place]:
        found = self.file(path).type_named(name, 0, container)
        return found.places if found is not None and found.kind == "type" else ()

    def base(self, written: str, path: str) -> Meaning | None:
        """The type that another one inherits from, as it is written in a file."""
        if (written, path) not in self._bases:
            self._bases[written, path] = None
            name = type_name(written.partition("(")[0])
            self._bases[written, path] = self.file(path).type_named(name, 1) if name else None
        return self._bases[written, path]

    def file(self, path: str) -> "_File":
        if path not in self._files:
            self._files[path] = _File(self, path)
        return self._files[path]


class _File:
    """One file while its uses are resolved."""

    def __init__(self, family: _Family, path: str) -> None:
        self._family = family
        self._all = family.definitions
        self._path = path
        self._facts = self._all.facts[path]
        self._language = self._facts.language
        self._flow = self._all.flow(path)
        self._owners: dict[int, Sequence[Place] | None] = {}
        self._by_name: dict[str, list[int]] = {}
        for index, symbol in enumerate(self._facts.symbols):
            self._by_name.setdefault(symbol.name, []).append(index)
        self._known: dict[tuple[str, int], Meaning | None] = {}
        self._imports: dict[str, list[Import]] = {}
        self._stars: list[Import] = []
        for each in self._facts.imports:
            if each.name == "*" or self._language in C or (each.alias == "." and self._language is Language.GO):
                self._stars.append(each)
            else:
                self._imports.setdefault(self._local_name(each), []).append(each)

    def _local_name(self, each: Import) -> str:
        """By which name an import is known here; a package of Go says its own name."""
        if self._language is Language.GO and not each.alias:
            folder = self._all.modules.go.package(each.module, self._path)
            for path in self._all.modules.go.folders[folder] if folder is not None else ():
                if not path.endswith("_test.go") and (name := self._all.flow(path).package):
                    return name
        return _local_name(each, self._language)

    def _at(self, path: str) -> "_File":
        return self._family.file(path)

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
        """Which definitions a use means, why, and else the library that it comes from."""
        links = links_of(use.path)
        is_handing = use.kind is UseKind.CALL and self._language in _HANDING
        # What is called in `choose(true)()` is what the first call gives.
        gives = is_handing and "()" in links[-1][1]
        meaning = None if gives else self._follow(links, use.start, use.container, use.kind)
        if is_handing and not self._is_found(meaning):
            handed = self._family.handed.functions(self._path, links, use.start)
            if 0 < len(handed) <= MOST_IMPLEMENTING:
                return handed, Evidence.FLOW, ""
        if gives:
            return (), Evidence.FLOW, ""
        if meaning is None or meaning.kind == "unknown":
            return self._guess(links, use, unknown=meaning is not None)
        if meaning.kind == "library":
            return (), Evidence.IMPORTED, meaning.name
        places = meaning.places
        if meaning.kind == "instance" or (
            meaning.kind == "type" and use.kind is UseKind.CALL and self._language is Language.GO
        ):
            return (), Evidence.LOCAL, ""  # in Go, calling a type is a conversion
        if meaning.kind == "type" and links[-1][0] in _MAKING and self._language is Language.RUST:
            return (), Evidence.LOCAL, ""  # it is derived: nobody wrote it
        if use.kind in (UseKind.NEW, UseKind.CALL) and meaning.kind == "type":
            made = self._members(meaning, ("constructor",))
            places = made or places
        elif use.kind is UseKind.CALL:
            # What a field holds is not known, even where it is called as a method of its name would be.
            places = [place for place in places if self._all.symbol(place).kind in CALLABLES]
            if len(places) <= MOST_TARGETS:
                return self._with_implementations(places), meaning.evidence, ""
        return places if len(places) <= MOST_TARGETS else (), meaning.evidence, ""

    def _is_found(self, meaning: Meaning | None) -> bool:
        """Whether it is known what is called without following what is handed over."""
        if meaning is None or meaning.kind in ("unknown", "instance"):
            return False
        return meaning.kind != "symbols" or any(self._all.symbol(each).kind in CALLABLES for each in meaning.places)

    # What is asked while it is followed what is handed over

    def meaning(self, links: Links, at: int) -> Meaning | None:
        return self._follow(links, at, self._container_at(at), UseKind.CALL)

    def value(self, links: Links, at: int) -> Meaning | None:
        found = self._follow(links, at, self._container_at(at), None)
        if found is not None and found.kind == "symbols":
            found = self._value_of(found, 0, called=False)
        return found

    def around(self, at: int) -> int:
        return next(
            (each for each in self._chain(self._container_at(at)) if self._facts.symbols[each].kind in CALLABLES), -1
        )

    def _with_implementations(self, places: Sequence[Place]) -> Sequence[Place]:
        """Methods, and of those that an interface declares what implements them."""
        if self._language not in (Language.GO, Language.RUST):
            return places
        bodies = [each for place in places for each in self._family.implementations.of(place)]
        return [*dict.fromkeys([*places, *bodies])] if len(bodies) <= MOST_IMPLEMENTING else places

    def _guess(self, links: Links, use: Use, *, unknown: bool) -> tuple[Sequence[Place], Evidence, str]:
        """A definition by nothing but its name, when few have it and it is not a name that all have."""
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
        elif use.kind is UseKind.CALL and self._language not in _IMPLICIT_THIS:
            places = [place for place in places if not self._all.owner(place.path, self._all.symbol(place))]
            if self._language in (Language.GO, Language.RUST):
                return nothing  # a bare name that is neither here nor imported is the language's own
        places = self._without_signatures(places)
        if not places or len(places) > MOST_GUESSES:
            return nothing
        return places, Evidence.UNIQUE if len(places) == 1 else Evidence.NAME, ""

    # Paths

    def _follow(self, links: Links, at: int, container: int, kind: UseKind | None, depth: int = 0) -> Meaning | None:
        """What a whole path means; None when nothing is known of where it begins."""
        first, marks = links[0]
        single = len(links) == 1
        meaning = self._root(first, at, container, depth, called=bool(marks) or kind is UseKind.CALL)
        if meaning is None:
            return None
        for index, (name, marks) in enumerate(links):
            last = index == len(links) - 1
            if index:
                if not name:
                    return _UNKNOWN
                further = self._member(meaning, name, depth)
                if further is None:
                    if meaning.kind == "library":
                        return meaning
                    return _UNKNOWN
                meaning = further
            if last and not (marks and kind is None):
                if kind is UseKind.CALL and single and meaning.kind in ("instance", "unknown"):
                    return _UNKNOWN
                return meaning
            meaning = self._after(meaning, marks, depth)
        return meaning

    def _after(self, meaning: Meaning, marks: str, depth: int) -> Meaning:
        """What a call, an entry or a literal of it is, or the value itself."""
        if meaning.kind == "symbols":
            called = "()" in marks
            typed = self._value_of(meaning, depth, called=called)
            marks = marks.replace("()", "", 1) if called else marks
            meaning = typed if typed is not None else _UNKNOWN
        elif meaning.kind == "type" and ("()" in marks or "{}" in marks):
            meaning = meaning._replace(kind="instance")
        if "[]" in marks and meaning.many:
            meaning = meaning._replace(many=False)
        return meaning

    def _value_of(self, meaning: Meaning, depth: int, *, called: bool) -> Meaning | None:
        """The type of a field, or of what a function returns."""
        for place in meaning.places:
            symbol = self._all.symbol(place)
            flow = self._all.flow(place.path)
            if symbol.kind in TYPES:
                return Meaning("type", [place], meaning.evidence, symbol.name)
            if symbol.kind in CALLABLES:
                said = flow.functions.get((symbol.name.rpartition(".")[2], symbol.line))
                if said is not None and said[0]:
                    owner = said[1] if said[0] in ("Self", "self", "this") else ""
                    return self._typed(owner or said[0], place.path, depth, place.symbol)
                if symbol.kind is SymbolKind.CONSTRUCTOR or symbol.name in ("new", "initialize", "__construct"):
                    owner = self._all.owner(place.path, symbol)
                    return self._typed(owner, place.path, depth, place.symbol) if owner else None
                continue
            owner = self._all.owner(place.path, symbol)
            said = flow.fields.get((owner, symbol.name))
            if said is None and (variable := flow.variable(symbol.name, symbol.span.end)) is not None:
                said = variable[1:]
            if said is not None:
                return self._said(said, place.path, symbol.span.start, depth)
            if symbol.kind is SymbolKind.MEMBER and owner:
                return self._typed(owner, place.path, depth, place.symbol)
        return None

    def _said(self, said: tuple[str, str], path: str, at: int, depth: int) -> Meaning | None:
        """What is said of a variable: its type, or the path of its value."""
        if said[0]:
            return self._typed(said[0], path, depth, self._at(path)._container_at(at))
        if said[1] and depth < DEEPEST:
            other = self._at(path)
            found = other._follow(links_of(said[1]), at, other._container_at(at), None, depth + 1)
            if found is not None and found.kind == "symbols":
                value = other._value_of(found, depth + 1, called=False)
                return value if value is not None else found
            return found
        return None

    def _container_at(self, at: int) -> int:
        """The innermost definition around a place."""
        symbols = self._facts.symbols
        index = bisect_right(symbols, at, key=lambda symbol: symbol.span.start) - 1
        while index >= 0 and not (at < symbols[index].span.end and symbols[index].kind in _AROUND):
            index = symbols[index].container
        return index

    def _typed(self, kind: str, path: str, depth: int, container: int = -1) -> Meaning | None:
        """An instance of a type that is written in a file, within a definition."""
        many = kind.endswith("[]")
        name = kind[:-2] if many else kind
        other = self._at(path)
        if name in ("Self", "self", "this", "static"):
            return None
        found = other.type_named(name, depth, container)
        if found is not None and found.kind == "type":
            found = self._without_alias(found, depth)
        return (
            found._replace(kind="instance", many=many or found.many)
            if found is not None and found.kind == "type"
            else found
        )

    def type_named(self, name: str, depth: int, container: int = -1) -> Meaning | None:
        if depth > DEEPEST:
            return None
        if "." in name:
            found = self._follow(links_of(name), 1 << 60, container, UseKind.TYPE, depth + 1)
        else:
            found = self._in_file(name, container, types=True) or self._named(name, container, depth + 1)
        if found is None and (bound := self._bound_of(name, container)):
            return self.type_named(bound, depth + 1, container)
        if found is None or found.kind in ("unknown", "module"):
            places = self._all.types.get(name.rpartition(".")[2])
            if not places and self._language is Language.RUST and name in self._all.members:
                return Meaning("type", (), Evidence.RECEIVER, name)  # a type of the language that traits extend
            return Meaning("type", places, Evidence.UNIQUE, name.rpartition(".")[2]) if len(places) == 1 else None
        if found.kind == "symbols":
            kinds = [place for place in found.places if self._all.symbol(place).kind in TYPES]
            return Meaning("type", kinds, found.evidence, name.rpartition(".")[2]) if kinds else None
        return found

    def _without_alias(self, meaning: Meaning, depth: int) -> Meaning:
        """The type that another name was given to: `type Engine = core.Engine`."""
        if self._language not in _HANDING or len(meaning.places) != 1 or depth > DEEPEST:
            return meaning
        (place,) = meaning.places
        symbol = self._all.symbol(place)
        said = _ALIAS.match(symbol.signature) if symbol.kind is SymbolKind.TYPE else None
        name = type_name(said[1], wraps=self._language is Language.RUST) if said is not None else ""
        found = self._typed(name, place.path, depth + 1, symbol.container) if name else None
        return found if found is not None and found.kind == "instance" else meaning

    def _bound_of(self, name: str, container: int) -> str:
        """The trait or interface that a parameter of a type or function is bound by, where it says so."""
        if self._language not in (Language.GO, Language.RUST) or not name.isidentifier():
            return ""
        pattern = _BOUNDS[self._language].replace("NAME", name)
        for index in self._chain(container):
            symbol = self._facts.symbols[index]
            # What a parameter of a type is bound by may be said by its `impl` alone.
            impls = [each for each in self._by_name[symbol.name] if self._facts.symbols[each].kind is SymbolKind.IMPL]
            for each in [index, *(impls if symbol.kind in TYPES else ())]:
                signature = self._facts.symbols[each].signature
                if name in signature and (said := re.search(pattern, signature)) is not None:
                    return said[1].replace("::", ".")
        return ""

    # Members

    def _member(self, meaning: Meaning, name: str, depth: int) -> Meaning | None:
        """What a name means that is taken of something."""
        if meaning.kind == "symbols":
            value = self._value_of(meaning, depth, called=False)
            return self._member(value, name, depth) if value is not None and value.kind != "symbols" else None
        if meaning.kind == "module":
            return self._of_module(meaning, name, depth)
        if meaning.kind in ("type", "instance"):
            if meaning.many:
                if name in _ELEMENT:
                    return meaning._replace(many=False)
                return meaning._replace(kind="instance") if name in _SAME else None
            places, inherited = self._member_places(meaning, name)
            if places:
                only_types = all(self._all.symbol(place).kind in TYPES for place in places)
                evidence = Evidence.INHERITED if inherited else Evidence.RECEIVER
                if only_types:
                    return Meaning("type", places, evidence, name)
                return Meaning("symbols", places, evidence)
            held = self._field_of(meaning, name, depth)
            if held is not None:
                return held
            if meaning.kind == "instance" and name in _SAME:
                return meaning
            if meaning.kind == "type" and name in _MAKING and self._language is Language.RUST:
                return meaning
            if meaning.kind == "type" and name == "new" and self._language is Language.RUBY:
                made = self._members(meaning, ("initialize",))
                return Meaning("type", made or meaning.places, Evidence.RECEIVER, meaning.name)
        return None

    def _field_of(self, meaning: Meaning, name: str, depth: int) -> Meaning | None:
        """The type of a field that has no definition of its own: one that is known by its place, or of a variant."""
        for place in meaning.places:
            said = self._all.flow(place.path).fields.get((meaning.name, name))
            if said is not None and not (name.isidentifier() and meaning.kind == "type"):
                return self._said(said, place.path, self._all.symbol(place).span.start, depth)
        return None

    def _members(self, meaning: Meaning, names: Sequence[str]) -> Sequence[Place]:
        """The constructors of a type."""
        own = self._all.members.get(meaning.name, {})
        wanted = {*names, meaning.name, "__construct", "init", "initialize"}
        found = [
            place
            for name in wanted
            for place in own.get(name, ())
            if self._all.symbol(place).kind is SymbolKind.CONSTRUCTOR and self._is_near(place, meaning)
        ]
        return sorted(found)

    def _is_near(self, place: Place, meaning: Meaning) -> bool:
        """Whether a member is of this type, and not of another one of its name."""
        if len(self._all.types.get(meaning.name)) < 2 or not meaning.places:
            return True
        if self._language is Language.RUST and place.path in self._all.facts:
            owner = self._at(place.path)._owner_of(place.symbol)
            return owner is None or any(known in owner for known in meaning.places)
        return self._is_beside(place.path, meaning)

    def _is_beside(self, path: str, meaning: Meaning) -> bool:
        """Whether a file is in the package of a type, where others have its name."""
        if len(self._all.types.get(meaning.name)) < 2 or not meaning.places:
            return True
        return any(self._all.group(path) == self._all.group(known.path) for known in meaning.places)

    def _owner_of(self, index: int) -> Sequence[Place] | None:
        """The type that a member is of, where that is told by its `impl`."""
        container = self._facts.symbols[index].container
        if container < 0:
            return None
        if container not in self._owners:
            self._owners[container] = None
            symbol = self._facts.symbols[container]
            if symbol.kind in TYPES:
                self._owners[container] = (Place(self._path, container),)
            elif symbol.kind is SymbolKind.IMPL:
                owner = self.type_named(type_name(symbol.name.rpartition(" for ")[2]), 0, symbol.container)
                self._owners[container] = owner.places if owner is not None and owner.kind == "type" else None
        return self._owners[container]

    def _member_places(self, meaning: Meaning, name: str) -> tuple[Sequence[Place], bool]:
        """Members of a type, else of what it inherits from, and whether it was so."""
        seen: set[str] = set()
        waiting: list[tuple[Meaning, int]] = [(meaning, 0)]
        while waiting:
            now, level = waiting.pop(0)
            if now.name in seen or level > 8:
                continue
            seen.add(now.name)
            own = [place for place in self._all.members.get(now.name, {}).get(name, ()) if self._is_near(place, now)]
            if own:
                return self._without_signatures(self._inherent(own)), level > 0
            for base, path in self._all.bases.get(now.name, ()):
                if not self._is_beside(path, now):
                    continue
                found = self._family.base(base, path)
                if found is not None and found.kind == "type":
                    waiting.append((found, level + 1))
        return (), False

    def _inherent(self, places: Sequence[Place]) -> Sequence[Place]:
        """A type's own methods of Rust, where traits have others of their name."""
        if self._language is not Language.RUST or len(places) < 2:
            return places
        methods = [place for place in places if self._all.symbol(place).kind in CALLABLES]
        own = [place for place in methods if not self._impl_of(place).bases]
        return [place for place in places if place not in methods or place in own] if own else places

    def _impl_of(self, place: Place) -> Symbol:
        symbol = self._all.symbol(place)
        return self._all.facts[place.path].symbols[symbol.container] if symbol.container >= 0 else symbol

    def _without_signatures(self, places: Sequence[Place]) -> Sequence[Place]:
        """Where a function has a body somewhere, its declarations are not meant."""
        whole = [place for place in places if self._all.symbol(place).kind is not SymbolKind.SIGNATURE]
        return whole or list(places)

    def _of_module(self, meaning: Meaning, name: str, depth: int) -> Meaning | None:
        if meaning.rust is not None:
            return self._of_rust_module(meaning.rust, name, depth)
        places = [Place(path, index) for path in meaning.files for index in self._all.top(path).get(name, ())]
        return self._as_meaning(places, Evidence.IMPORTED, name)

    def _of_rust_module(self, module: RustModule, name: str, depth: int) -> Meaning | None:
        """What a name means in a module: what is defined there, a module within, or what it passes on."""
        if name == "super":
            return self._rust_meaning(module.above)
        if name == "self":
            return self._rust_meaning(module)
        known = self._family.rust_names
        if (module, name) not in known:
            # `mod a; pub use self::a::a;` passes on by a name what is in the module of that name.
            known[module, name] = self._rust_meaning(module.child(name))
            known[module, name] = self._found_in_rust_module(module, name, depth)
        return known[module, name]

    def _found_in_rust_module(self, module: RustModule, name: str, depth: int) -> Meaning | None:
        scope = self._all.modules.rust.scope(module)
        if scope is None or depth > DEEPEST:
            return None
        other = self._at(scope.file)
        places = [
            Place(scope.file, index)
            for index in other._by_name.get(name, ())
            if other._facts.symbols[index].container == scope.symbol
            and other._facts.symbols[index].kind not in (SymbolKind.IMPL, SymbolKind.MODULE)
        ]
        if (found := self._as_meaning(places, Evidence.IMPORTED, name)) is not None:
            return found
        within = self._rust_meaning(module.child(name))
        for each in other._imports.get(name, ()):
            # `mod a;` is kept as an import of itself.
            if each.container == scope.symbol and (each.name or each.module != f"self::{name}"):
                found = other._imported(each, depth + 1)
                if found is not None and found.kind not in ("library", "unknown"):
                    return found if within is None else within._replace(places=found.places)
        return within or other._of_rust_stars(name, (scope.symbol,), depth)

    def _of_rust_stars(self, name: str, levels: Sequence[int], depth: int) -> Meaning | None:
        """What a name means by everything that is taken of modules and enums at these levels."""
        for each in self._stars:
            if each.container not in levels or depth > DEEPEST:
                continue
            found = self._imported(each._replace(name=""), depth + 1)
            if found is not None and found.rust is not None:
                found = self._of_rust_module(found.rust, name, depth + 1)
            elif found is not None and found.kind == "type":
                found = self._member(found, name, depth)
            else:
                found = None
            if found is not None and found.kind not in ("library", "unknown"):
                return found
        return None

    def _rust_meaning(self, module: RustModule) -> Meaning | None:
        scope = self._all.modules.rust.scope(module)
        return Meaning("module", (), Evidence.IMPORTED, "", (scope.file,), module) if scope is not None else None

    def _as_meaning(self, places: Sequence[Place], evidence: Evidence, name: str) -> Meaning | None:
        if not places:
            return None
        places = self._without_signatures(places)
        if all(self._all.symbol(place).kind in TYPES for place in places):
            return Meaning("type", places, evidence, name)
        callables = [place for place in places if self._all.symbol(place).kind not in TYPES]
        return Meaning("symbols", callables, evidence)

    # Where a path begins

    def _root(self, name: str, at: int, container: int, depth: int, *, called: bool) -> Meaning | None:
        if not name:
            return None
        if name in _OWN or name in _ABOVE:
            if (
                self._language is Language.RUST
                and name in ("self", "super")
                and (name == "super" or not self._is_value(container))
            ):
                module = self._all.modules.rust.of(self._path, container)
                return self._rust_meaning(module if name == "self" else module.above)
            return self._own_type(name, container, depth)
        variable = self._flow.variable(name, at)
        if variable is not None:
            declared, *said = variable
            nested = self._nested(name, container)
            if nested is not None:
                return nested
            found = self._said((said[0], said[1]), self._path, declared - 1, depth + 1) if depth <= DEEPEST else None
            if found is not None and found.kind == "symbols":
                return found._replace(evidence=Evidence.FLOW)
            return found or _UNKNOWN
        return (
            self._in_file(name, container)
            or self._implicit(name, container, depth)
            or self._named(name, container, depth)
            or (self.type_named(name, depth, container) if self._bound_of(name, container) else None)
        )

    def _nested(self, name: str, container: int) -> Meaning | None:
        """A function that a variable of a function around has been given as its only value."""
        chain = self._chain(container)
        places = [
            Place(self._path, index)
            for index in self._by_name.get(name, ())
            if self._facts.symbols[index].container in chain and self._facts.symbols[index].kind is SymbolKind.FUNCTION
        ]
        return Meaning("symbols", places, Evidence.LOCAL) if len(places) == 1 else None

    def _is_value(self, container: int) -> bool:
        """Whether `self` is a receiver here: within a type or an impl."""
        return any(
            self._facts.symbols[each].kind in TYPES | {SymbolKind.IMPL}
            or self._all.owner(self._path, self._facts.symbols[each])
            for each in self._chain(container)
        )

    def _chain(self, container: int) -> Sequence[int]:
        """A definition and all that enclose it, from the inside."""
        chain: list[int] = []
        while container >= 0 and len(chain) < 64:
            chain.append(container)
            container = self._facts.symbols[container].container
        return chain

    def _levels(self, container: int) -> Sequence[int]:
        """Where names that can be seen within a definition are defined; in Rust a module sees nothing around it."""
        chain = self._chain(container)
        if self._language is Language.RUST:
            for place, each in enumerate(chain):
                if self._facts.symbols[each].kind is SymbolKind.MODULE:
                    return chain[: place + 1]
        return [*chain, -1]

    def _own_type(self, name: str, container: int, depth: int) -> Meaning | None:
        for index in self._chain(container):
            symbol = self._facts.symbols[index]
            owner = symbol.name if symbol.kind in TYPES else self._all.owner(self._path, symbol)
            if symbol.kind is SymbolKind.IMPL:
                owner = type_name(symbol.name.rpartition(" for ")[2])
            if not owner:
                continue
            own = self.type_named(owner, depth, symbol.container) or Meaning("type", (), Evidence.RECEIVER, owner)
            if name in _ABOVE:
                for base, path in self._all.bases.get(own.name, ()):
                    above = self._at(path).type_named(type_name(base), depth + 1)
                    if above is not None and above.kind == "type":
                        return above._replace(kind="instance", evidence=Evidence.INHERITED)
                return None
            return own._replace(kind="type" if name in ("Self", "static") else "instance", evidence=Evidence.RECEIVER)
        return None

    def _in_file(self, name: str, container: int, *, types: bool = False) -> Meaning | None:
        """A definition of the same file that can be seen from here, the innermost first."""
        candidates = self._by_name.get(name)
        if not candidates:
            return None
        visible: list[int] = []
        for level in self._levels(container):
            if (
                level >= 0
                and self._facts.symbols[level].kind in TYPES | {SymbolKind.IMPL}
                and self._language not in _IMPLICIT_THIS
            ):
                continue
            visible = [
                index
                for index in candidates
                if self._facts.symbols[index].container == level
                and (self._facts.symbols[index].kind in TYPES or not types)
                and self._facts.symbols[index].kind not in (SymbolKind.IMPL, SymbolKind.MODULE, SymbolKind.SECTION)
                and (level >= 0 or not self._all.owner(self._path, self._facts.symbols[index]))
            ]
            if visible:
                break
        if not visible and self._language is Language.RUST:
            # A macro holds in all that follows it, in the modules within as well.
            visible = [
                index for index in candidates if self._facts.symbols[index].kind is SymbolKind.MACRO and not types
            ]
        if not visible:
            # At the top of the file, within its namespaces.
            visible = [
                index
                for index in self._all.top(self._path).get(name, ())
                if (self._facts.symbols[index].kind in TYPES or not types)
                and self._facts.symbols[index].kind is not SymbolKind.MODULE
                and self._language is not Language.RUST
            ]
        return self._as_meaning([Place(self._path, index) for index in visible], Evidence.LOCAL, name)

    def _implicit(self, name: str, container: int, depth: int) -> Meaning | None:
        """A member of the type around, or of what that inherits from."""
        if self._language not in _IMPLICIT_THIS:
            return None
        own = self._own_type("this", container, depth)
        if own is None:
            return None
        return self._member(own, name, depth)

    def _named(self, name: str, container: int, depth: int) -> Meaning | None:
        """A name that comes from elsewhere: imported, of the same package, or of everything that is imported."""
        if self._language is not Language.RUST:
            container = -1  # what is imported holds for the whole file
        if depth > 1:
            return self._from_elsewhere(name, container, depth)
        if (name, container) not in self._known:
            self._known[name, container] = self._from_elsewhere(name, container, 1)
        return self._known[name, container]

    def _from_elsewhere(self, name: str, container: int, depth: int) -> Meaning | None:
        if self._language is Language.RUST:
            return self._rust_named(name, container, depth)
        for each in self._imports.get(name, ()):
            found = self._imported(each, depth)
            if found is not None:
                return found
        if self._language is Language.GO or self._language in JVM or self._language is Language.CSHARP:
            group = self._all.group(self._path)
            files = self._all.groups.get(group, ()) if group or self._language is Language.GO else ()
            places = [Place(path, index) for path in files for index in self._all.top(path).get(name, ())]
            places = [place for place in places if self._all.symbol(place).kind is not SymbolKind.MODULE]
            found = self._as_meaning(
                places, Evidence.LOCAL if self._language is Language.GO else Evidence.IMPORTED, name
            )
            if found is not None:
                return found
        return self._of_stars(name, depth)

    def _of_stars(self, name: str, depth: int) -> Meaning | None:
        for each in self._stars:
            files = list(self._all.modules.files(self._path, self._language, each))
            if self._language in C:
                files += [path for file in files for path in self._twins(file)]
            elif self._language in JVM or self._language is Language.CSHARP:
                files = list(self._all.groups.get(each.module, ()))
            places = [
                Place(path, index)
                for path in files
                if path in self._all.facts
                for index in self._all.top(path).get(name, ())
            ]
            found = self._as_meaning(places, Evidence.IMPORTED, name)
            if found is not None:
                return found
        if self._language in C | {Language.RUBY, Language.SWIFT, Language.PHP, Language.BASH, Language.CSHARP}:
            # Names of these are the whole program's: one definition is the one.
            for table in (self._all.types, self._all.callables):
                places = [
                    place
                    for place in table.get(name)
                    if not self._all.owner(place.path, self._all.symbol(place))
                    and not _is_private(self._all.symbol(place))
                ]
                places = self._without_signatures(places)
                if len(places) == 1:
                    return self._as_meaning(places, Evidence.IMPORTED, name)
        return None

    def _twins(self, header: str) -> Sequence[str]:
        """The files that implement a header."""
        stem = header.rpartition(".")[0]
        beside = [stem + ending for ending in (".c", ".cc", ".cpp", ".cxx", ".m")]
        return [path for path in beside if path in self._all.facts]

    def _imported(self, each: Import, depth: int) -> Meaning | None:
        """What an import gives a name to."""
        if depth > DEEPEST:
            return None
        if self._language is Language.RUST:
            return self._rust_import(each, depth)
        if self._language is Language.GO:
            folder = self._all.modules.go.package(each.module, self._path)
            if folder is None:
                return Meaning("library", (), Evidence.IMPORTED, each.module)
            return Meaning("module", (), Evidence.IMPORTED, each.module, self._all.modules.go.folders[folder])
        name = each.name or re.split(r"[./\\]", each.module)[-1]
        files = [path for path in self._all.modules.files(self._path, self._language, each) if path in self._all.facts]
        package = each.module.replace("\\", ".")
        if not each.name:
            package = package.rpartition(".")[0]
        files = files or list(self._all.groups.get(package, ()) if package else ())
        places = [Place(path, index) for path in files for index in self._all.top(path).get(name, ())]
        found = self._as_meaning(places, Evidence.IMPORTED, name)
        if found is not None:
            return found
        owner = Meaning("type", (), Evidence.IMPORTED, package.rpartition(".")[2])
        if each.name and (types := self._all.types.get(owner.name)):  # `import static com.foo.Bar.baz`
            members, _ = self._member_places(owner._replace(places=types), name)
            if members:
                return Meaning("symbols", members, Evidence.IMPORTED)
        return Meaning("library", (), Evidence.IMPORTED, each.module)

    def _rust_import(self, each: Import, depth: int) -> Meaning | None:
        parts = rust_parts(each)
        if not parts:
            return None
        first = parts[0]
        module = self._all.modules.rust.of(self._path, each.container)
        start = self._all.modules.rust.start(self._path, module, first)
        if start is not None:
            found = self._rust_meaning(start)
        else:
            found = self._of_rust_module(module, first, depth + 1) if len(parts) > 1 else None
            if found is None:
                return Meaning("library", (), Evidence.IMPORTED, first)
        for part in parts[1:]:
            found = self._member(found, part, depth + 1) if found is not None else None
        return found

    def _rust_named(self, name: str, container: int, depth: int) -> Meaning | None:
        module = self._all.modules.rust.of(self._path, container)
        if name == "crate":
            return self._rust_meaning(RustModule(module.crate))
        levels = self._levels(container)
        for level in levels:
            for each in self._imports.get(name, ()):
                if each.container == level and (found := self._imported(each, depth)) is not None:
                    return found
        child = self._rust_meaning(module.child(name))
        if child is not None:
            return child
        found = self._of_rust_stars(name, levels, depth)
        if found is not None:
            return found
        other = self._all.modules.rust.crate(name, self._path)
        return self._rust_meaning(other) if other is not None else None


def _local_name(each: Import, language: Language) -> str:
    """By which name an import is known in its file."""
    if each.alias:
        return each.alias
    if each.name and each.name != "self":
        return each.name
    last = re.split(r"[./\\]|::", each.module)[-1]
    if language is Language.GO and re.fullmatch(r"v\d+", last) and "/" in each.module:
        last = each.module.split("/")[-2]
    return last.partition(".")[0] if language is Language.GO else last


def _is_private(symbol: Symbol) -> bool:
    return symbol.signature.startswith("static ") or not symbol.exported
