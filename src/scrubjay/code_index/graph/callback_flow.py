"""Resolves calls through function values.

A value is followed backwards from the call: from a parameter to the arguments that callers pass, from a field, variable
or container to what is stored in it, from a result to what the function returns. Fields are distinguished by type, not
by object.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from scrubjay.code_index.graph.callback_facts import BYTE, SLOT, TARGET, VALUE
from scrubjay.code_index.graph.definitions import CALLABLES, Definitions, SymbolRef, last_name
from scrubjay.code_index.graph.referents import PathParts, Referent, split_path
from scrubjay.code_index.models import SymbolKind

MAX_STEPS = 8
"""Steps followed backwards."""
MAX_VALUES_EXAMINED = 400
"""Values examined for one call; at most `MAX_STEPS` of them may be results of calls."""
MAX_PLACES = 200
"""A name that is passed or stored in more places than this is not followed."""

_Source = tuple[str, list[Any]]
"""A path, and a row of its `CallbackFacts`."""


class NameReader(Protocol):
    """Resolves the names of one file."""

    def callee(self, parts: PathParts, at: int) -> Referent | None:
        """Return the referent of a path that is called at a byte, without following function values."""
        ...

    def value(self, parts: PathParts, at: int) -> Referent | None:
        """Return the type of the value of a path at a byte."""
        ...

    def enclosing_function(self, at: int) -> int:
        """Return the index of the function around a byte; -1 if there is none."""
        ...


class CallbackFlow:
    """The function values that the files of one language family pass and store."""

    def __init__(self, definitions: Definitions, reader: Callable[[str], NameReader]) -> None:
        self._defs = definitions
        self._reader = reader
        self._resolving: set[tuple[str, int, str]] = set()
        self._budget = 0
        self._memo: dict[tuple[Any, ...], Sequence[_Source]] = {}

    def functions(self, path: str, parts: PathParts, at: int) -> Sequence[SymbolRef]:
        """Return the functions that a called path may refer to; none if unknown or if a limit was exceeded."""
        self._budget = MAX_VALUES_EXAMINED
        found = self._functions(path, parts, at)
        return found if self._budget > 0 else ()

    def _functions(self, path: str, parts: PathParts, at: int) -> Sequence[SymbolRef]:
        found: dict[SymbolRef, None] = {}
        seen: set[tuple[str, int, str]] = set()
        waiting: list[tuple[str, PathParts, int, int]] = [(path, parts, at, 0)]
        while waiting:
            file, following, here, depth = waiting.pop()
            key = (file, here, ".".join(name + marks for name, marks in following))
            if key in seen:
                continue
            seen.add(key)
            self._budget -= 1
            if self._budget <= 0:
                return ()
            for other, row in self._sources(file, following, here, found):
                if depth < MAX_STEPS:
                    waiting.append((other, split_path(row[VALUE]), row[BYTE], depth + 1))
        return [*found]

    def _sources(self, path: str, parts: PathParts, at: int, found: dict[SymbolRef, None]) -> Iterator[_Source]:
        """Yield the sources of the value of a path; add functions that it refers to directly to `found`."""
        *before, (name, marks) = parts
        if "()" in marks:
            # The value is the result of the called function.
            for ref in self._called(path, [*before, (name, "")], at):
                yield from self._results(ref)
            return
        if before:
            referent = self._reader(path).callee([*before, (name, "")], at)
            if referent is not None and referent.kind == "symbols":
                refs = [ref for ref in referent.symbols if self._defs.symbol(ref).kind in CALLABLES]
                found.update(dict.fromkeys(refs))
                if refs:
                    return
            owner = self._reader(path).value(before, at)
            if owner is not None and owner.kind == "instance":
                key = ("put", *owner.symbols, name)
                yield from self._memoize(key, lambda: self._stored_in_field(owner, name))
            return
        variable = self._defs.flow(path).variable(name, at)
        if variable is None:
            yield from self._of_symbol(path, name, at, found)
            return
        declared, kind, value = variable
        nested = self._reader(path).callee([(name, "")], at)
        if nested is not None and nested.kind == "symbols":
            found.update(dict.fromkeys(ref for ref in nested.symbols if self._is_function(ref)))
        if value:
            yield path, [value, declared - 1]
        yield from self._assigned_to(path, name, declared)
        yield from self._memoize(("passed", path, name, declared), lambda: self._passed_arguments(path, name, declared))
        if kind and not value:
            yield from self._memoize(("converted", path, kind), lambda: self._converted(path, kind, declared))

    def _memoize(self, key: tuple[Any, ...], compute: Callable[[], Iterator[_Source]]) -> Sequence[_Source]:
        if key not in self._memo:
            self._memo[key] = ()  # stops recursion
            self._memo[key] = [*compute()]
        return self._memo[key]

    def _is_function(self, ref: SymbolRef) -> bool:
        return self._defs.symbol(ref).kind in CALLABLES

    def _called(self, path: str, parts: PathParts, at: int) -> Sequence[SymbolRef]:
        referent = self._reader(path).callee(parts, at)
        if referent is not None and referent.kind == "symbols":
            found = [ref for ref in referent.symbols if self._is_function(ref)]
            if found:
                return found
        key = (path, at, str(parts))
        if key in self._resolving or len(self._resolving) >= MAX_STEPS:
            return ()  # recursive definitions: `state = state(lexer)`
        self._resolving.add(key)
        try:
            return self._functions(path, parts, at)
        finally:
            self._resolving.discard(key)

    def _of_symbol(self, path: str, name: str, at: int, found: dict[SymbolRef, None]) -> Iterator[_Source]:
        """Yield the value of a package-level variable; add a function of that name to `found`."""
        referent = self._reader(path).callee([(name, "")], at)
        for ref in referent.symbols if referent is not None and referent.kind == "symbols" else ():
            symbol = self._defs.symbol(ref)
            if symbol.kind in CALLABLES:
                found[ref] = None
            elif symbol.kind in (SymbolKind.VARIABLE, SymbolKind.CONSTANT):
                variable = self._defs.flow(ref.path).variable(symbol.name, symbol.span.end)
                if variable is None:
                    continue
                declared, _, value = variable
                if value:
                    yield ref.path, [value, declared - 1]
                yield from self._assigned_to(ref.path, symbol.name, declared)

    # Stored and passed values, indexed by destination

    def _rows(self, part: str) -> Iterator[_Source]:
        for path in self._defs.facts:
            for row in self._defs.flow(path).callbacks.get(part, ()):
                yield path, row

    @cached_property
    def _arguments(self) -> dict[str, list[_Source]]:
        return _group_by(self._rows("arguments"), lambda row: last_name(row[TARGET].rstrip("()[]{}")))

    @cached_property
    def _fields(self) -> dict[str, list[_Source]]:
        """By field name, or by type name if only the position of the field is known."""
        return _group_by(self._rows("fields"), lambda row: last_name(row[TARGET]) if row[SLOT].isdigit() else row[SLOT])

    @cached_property
    def _stored(self) -> dict[str, list[_Source]]:
        return _group_by(self._rows("stored"), lambda row: last_name(row[TARGET].rstrip("[]")))

    @cached_property
    def _elements(self) -> dict[str, list[_Source]]:
        return _group_by(self._rows("elements"), lambda row: row[TARGET])

    def _results(self, ref: SymbolRef) -> Iterator[_Source]:
        symbol = self._defs.symbol(ref)
        for name, at, value, value_at in self._defs.flow(ref.path).callbacks.get("returned", ()):
            if name == symbol.name and symbol.span.start <= at < symbol.span.end:
                yield ref.path, [value, value_at]

    def _assigned_to(self, path: str, name: str, declared: int) -> Iterator[_Source]:
        """Yield what is assigned to a variable, or added to its container, after its declaration."""
        flow = self._defs.flow(path)
        for part in (self._elements, self._stored):
            for other, row in part.get(name, ()):
                if other == path and row[TARGET].rstrip("[]") == name:
                    variable = flow.variable(name, row[BYTE])
                    # The value of a declaration value_at before the scope of its name begins.
                    if (variable is not None and variable[0] == declared) or part is self._elements:
                        yield other, row

    def _passed_arguments(self, path: str, name: str, declared: int) -> Iterator[_Source]:
        """Yield the arguments that callers pass for a parameter."""
        function = self._reader(path).enclosing_function(declared)
        if function < 0:
            return
        symbol = self._defs.facts[path].symbols[function]
        for called, at, taken, is_variadic in self._defs.flow(path).callbacks.get("parameters", ()):
            if called != symbol.name or not symbol.span.start <= at < symbol.span.end or name not in taken:
                continue
            position = taken.index(name)
            takes_many = is_variadic and position == len(taken) - 1
            rows = self._arguments.get(called, ())
            for other, row in rows if len(rows) <= MAX_PLACES else ():
                if row[SLOT] == position or (takes_many and row[SLOT] > position):
                    callee = self._reader(other).callee(split_path(row[TARGET]), row[BYTE])
                    if callee is not None and SymbolRef(path, function) in callee.symbols:
                        yield other, row

    def _converted(self, path: str, kind: str, at: int) -> Iterator[_Source]:
        """Yield what is converted to a function type: `HandlerFunc(home)`."""
        own = self._reader(path).value([(kind, "{}")], at)
        rows = self._arguments.get(last_name(kind), ())
        for other, row in rows if own is not None and own.symbols and len(rows) <= MAX_PLACES else ():
            callee = self._reader(other).callee(split_path(row[TARGET]), row[BYTE])
            if callee is not None and own is not None and callee.kind == "type" and callee.symbols == own.symbols:
                yield other, row

    def _stored_in_field(self, owner: Referent, name: str) -> Iterator[_Source]:
        """Yield what literals and assignments store in a field of a type."""
        for other, row in [*self._fields.get(name, ()), *self._fields.get(owner.name, ())][:MAX_PLACES]:
            if row[SLOT] != name and not self._is_at_position(owner, name, row[SLOT]):
                continue
            made = self._reader(other).value(
                [*split_path(row[TARGET])[:-1], (split_path(row[TARGET])[-1][0], "{}")], row[BYTE]
            )
            if made is not None and set(made.symbols) & set(owner.symbols):
                yield other, row
        for other, row in self._stored.get(name, ())[:MAX_PLACES]:
            *before, _ = split_path(row[TARGET])
            into = self._reader(other).value(before, row[BYTE]) if before else None
            if into is not None and set(into.symbols) & set(owner.symbols):
                yield other, row

    def _is_at_position(self, owner: Referent, name: str, position: str) -> bool:
        """Return whether the field is at this position of its type."""
        for known in owner.symbols:
            fields = [
                symbol.name
                for symbol in self._defs.facts[known.path].symbols
                if symbol.container == known.symbol and symbol.kind is SymbolKind.FIELD
            ]
            if position.isdigit() and int(position) < len(fields) and fields[int(position)] == name:
                return True
        return False


def _group_by(rows: Iterator[_Source], key: Callable[[list[Any]], str]) -> dict[str, list[_Source]]:
    found: dict[str, list[_Source]] = {}
    for path, row in rows:
        found.setdefault(key(row), []).append((path, row))
    return found
