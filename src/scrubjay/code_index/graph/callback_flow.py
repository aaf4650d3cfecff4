"""Resolves calls through function values.

A value is followed backwards from the call: from a parameter to the arguments of the callers, from a field, variable or
container to what is stored in it, from a result to what the function returns. Fields are distinguished by type, not by
object.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from scrubjay.code_index.graph.definitions import CALLABLES, Definitions, Place, last_name
from scrubjay.code_index.graph.referents import Links, Meaning, links_of
from scrubjay.code_index.models import SymbolKind

MAX_STEPS = 8
"""Steps that are followed backwards."""
MAX_VALUES_EXAMINED = 400
"""Values that are examined for one call; at most `MAX_STEPS` of them may be results of calls."""
MAX_PLACES = 200
"""A name that is passed or stored in more places than this is not followed."""

_Source = tuple[str, list[Any]]
"""A path, and a row of its `CallbackFacts`."""


class Reader(Protocol):
    """Resolves the names of one file."""

    def meaning(self, links: Links, at: int) -> Meaning | None:
        """Return the meaning of a path that is called at a byte, without following function values."""
        ...

    def value(self, links: Links, at: int) -> Meaning | None:
        """Return the type that the value of a path has at a byte."""
        ...

    def around(self, at: int) -> int:
        """Return the function around a byte; -1 if there is none."""
        ...


class CallbackFlow:
    """The function values that the files of one family of languages pass and store."""

    def __init__(self, definitions: Definitions, reader: Callable[[str], Reader]) -> None:
        self._all = definitions
        self._reader = reader
        self._asking: set[tuple[str, int, str]] = set()
        self._left = 0
        self._known: dict[tuple[Any, ...], Sequence[_Source]] = {}

    def functions(self, path: str, links: Links, at: int) -> Sequence[Place]:
        """Return the functions that a called path may be; none if that is not known."""
        self._left = MAX_VALUES_EXAMINED
        found = self._functions(path, links, at)
        return found if self._left > 0 else ()

    def _functions(self, path: str, links: Links, at: int) -> Sequence[Place]:
        found: dict[Place, None] = {}
        seen: set[tuple[str, int, str]] = set()
        waiting: list[tuple[str, Links, int, int]] = [(path, links, at, 0)]
        while waiting:
            file, asked, here, depth = waiting.pop()
            key = (file, here, ".".join(name + marks for name, marks in asked))
            if key in seen:
                continue
            seen.add(key)
            self._left -= 1
            if self._left <= 0:
                return ()
            for other, further in self._sources(file, asked, here, found):
                if depth < MAX_STEPS:
                    waiting.append((other, links_of(further[-2]), further[-1], depth + 1))
        return [*found]

    def _sources(self, path: str, links: Links, at: int, found: dict[Place, None]) -> Iterator[_Source]:
        """Yield the sources of the value of a path; functions themselves are added to `found`."""
        *before, (name, marks) = links
        if "()" in marks:
            # It is the result of the called function.
            for place in self._called(path, [*before, (name, "")], at):
                yield from self._results(place)
            return
        if before:
            meaning = self._reader(path).meaning([*before, (name, "")], at)
            if meaning is not None and meaning.kind == "symbols":
                places = [place for place in meaning.places if self._all.symbol(place).kind in CALLABLES]
                found.update(dict.fromkeys(places))
                if places:
                    return
            owner = self._reader(path).value(before, at)
            if owner is not None and owner.kind == "instance":
                key = ("put", *owner.places, name)
                yield from self._once(key, lambda: self._put_into(owner, name))
            return
        variable = self._all.flow(path).variable(name, at)
        if variable is None:
            yield from self._of_symbol(path, name, at, found)
            return
        declared, kind, value = variable
        nested = self._reader(path).meaning([(name, "")], at)
        if nested is not None and nested.kind == "symbols":
            found.update(dict.fromkeys(place for place in nested.places if self._is_function(place)))
        if value:
            yield path, [value, declared - 1]
        yield from self._kept_in(path, name, declared)
        yield from self._once(("passed", path, name, declared), lambda: self._passed(path, name, declared))
        if kind and not value:
            yield from self._once(("converted", path, kind), lambda: self._converted(path, kind, declared))

    def _once(self, key: tuple[Any, ...], find: Callable[[], Iterator[_Source]]) -> Sequence[_Source]:
        if key not in self._known:
            self._known[key] = ()  # while it is computed
            self._known[key] = [*find()]
        return self._known[key]

    def _is_function(self, place: Place) -> bool:
        return self._all.symbol(place).kind in CALLABLES

    def _called(self, path: str, links: Links, at: int) -> Sequence[Place]:
        meaning = self._reader(path).meaning(links, at)
        if meaning is not None and meaning.kind == "symbols":
            found = [place for place in meaning.places if self._is_function(place)]
            if found:
                return found
        key = (path, at, str(links))
        if key in self._asking or len(self._asking) >= MAX_STEPS:
            return ()  # it may depend on itself: `state = state(lexer)`
        self._asking.add(key)
        try:
            return self._functions(path, links, at)
        finally:
            self._asking.discard(key)

    def _of_symbol(self, path: str, name: str, at: int, found: dict[Place, None]) -> Iterator[_Source]:
        """Yield the value of a package's variable; add a function of that name to `found`."""
        meaning = self._reader(path).meaning([(name, "")], at)
        for place in meaning.places if meaning is not None and meaning.kind == "symbols" else ():
            symbol = self._all.symbol(place)
            if symbol.kind in CALLABLES:
                found[place] = None
            elif symbol.kind in (SymbolKind.VARIABLE, SymbolKind.CONSTANT):
                variable = self._all.flow(place.path).variable(symbol.name, symbol.span.end)
                if variable is not None and variable[2]:
                    yield place.path, [variable[2], variable[0] - 1]
                if variable is not None:
                    yield from self._kept_in(place.path, symbol.name, variable[0])

    # Passed and stored values by their destination

    def _every(self, part: str) -> Iterator[_Source]:
        for path in self._all.facts:
            for given in self._all.flow(path).callbacks.get(part, ()):
                yield path, given

    @cached_property
    def _arguments(self) -> dict[str, list[_Source]]:
        return _by(self._every("arguments"), lambda given: last_name(given[0].rstrip("()[]{}")))

    @cached_property
    def _fields(self) -> dict[str, list[_Source]]:
        """By field, or by type if only the position of the field is known."""
        return _by(self._every("fields"), lambda given: last_name(given[0]) if given[1].isdigit() else given[1])

    @cached_property
    def _stored(self) -> dict[str, list[_Source]]:
        return _by(self._every("stored"), lambda given: last_name(given[0].rstrip("[]")))

    @cached_property
    def _elements(self) -> dict[str, list[_Source]]:
        return _by(self._every("elements"), lambda given: given[0])

    def _results(self, place: Place) -> Iterator[_Source]:
        symbol = self._all.symbol(place)
        for name, at, value, stands in self._all.flow(place.path).callbacks.get("returned", ()):
            if name == symbol.name and symbol.span.start <= at < symbol.span.end:
                yield place.path, [value, stands]

    def _kept_in(self, path: str, name: str, declared: int) -> Iterator[_Source]:
        """Yield what is assigned to a variable, or added to its container, after its declaration."""
        flow = self._all.flow(path)
        for part in (self._elements, self._stored):
            for other, given in part.get(name, ()):
                if other == path and given[0].rstrip("[]") == name:
                    variable = flow.variable(name, given[-1])
                    # The value of a declaration precedes the name's scope.
                    if (variable is not None and variable[0] == declared) or part is self._elements:
                        yield other, given

    def _passed(self, path: str, name: str, declared: int) -> Iterator[_Source]:
        """Yield the arguments that callers pass for a parameter."""
        function = self._reader(path).around(declared)
        if function < 0:
            return
        symbol = self._all.facts[path].symbols[function]
        for called, at, taken, many in self._all.flow(path).callbacks.get("parameters", ()):
            if called != symbol.name or not symbol.span.start <= at < symbol.span.end or name not in taken:
                continue
            place = taken.index(name)
            takes_many = many and place == len(taken) - 1
            asked = self._arguments.get(called, ())
            for other, given in asked if len(asked) <= MAX_PLACES else ():
                if given[1] == place or (takes_many and given[1] > place):
                    callee = self._reader(other).meaning(links_of(given[0]), given[-1])
                    if callee is not None and Place(path, function) in callee.places:
                        yield other, given

    def _converted(self, path: str, kind: str, at: int) -> Iterator[_Source]:
        """Yield what is converted to a function type: `HandlerFunc(home)`."""
        own = self._reader(path).value([(kind, "{}")], at)
        asked = self._arguments.get(last_name(kind), ())
        for other, given in asked if own is not None and own.places and len(asked) <= MAX_PLACES else ():
            callee = self._reader(other).meaning(links_of(given[0]), given[-1])
            if callee is not None and own is not None and callee.kind == "type" and callee.places == own.places:
                yield other, given

    def _put_into(self, owner: Meaning, name: str) -> Iterator[_Source]:
        """Yield what literals and assignments put into a field of a type."""
        for other, given in [*self._fields.get(name, ()), *self._fields.get(owner.name, ())][:MAX_PLACES]:
            if given[1] != name and not self._is_at(owner, name, given[1]):
                continue
            made = self._reader(other).value([*links_of(given[0])[:-1], (links_of(given[0])[-1][0], "{}")], given[-1])
            if made is not None and set(made.places) & set(owner.places):
                yield other, given
        for other, given in self._stored.get(name, ())[:MAX_PLACES]:
            *before, _ = links_of(given[0])
            into = self._reader(other).value(before, given[-1]) if before else None
            if into is not None and set(into.places) & set(owner.places):
                yield other, given

    def _is_at(self, owner: Meaning, name: str, place: str) -> bool:
        """Return whether a field is at this position of its type."""
        for known in owner.places:
            fields = [
                symbol.name
                for symbol in self._all.facts[known.path].symbols
                if symbol.container == known.symbol and symbol.kind is SymbolKind.FIELD
            ]
            if place.isdigit() and int(place) < len(fields) and fields[int(place)] == name:
                return True
        return False


def _by(given: Iterator[_Source], key: Callable[[list[Any]], str]) -> dict[str, list[_Source]]:
    found: dict[str, list[_Source]] = {}
    for path, each in given:
        found.setdefault(key(each), []).append((path, each))
    return found
