"""Facts of Python files."""

from scrubjay.code_index.models import Import, Language
from tests.code_index.parsing.parsing_helpers import facts_of, symbols_of, uses_of

PYTHON = Language.PYTHON


def test_definitions_of_every_kind_are_symbols():
    facts = facts_of(
        '''
        LIMIT: int = 3
        """How many at most."""
        first, (second, *rest) = split(LIMIT)
        Alias: TypeAlias = int
        type Pair[T] = tuple[T, T]
        double = lambda x: x + x

        @register
        class Shape(Base[T], geometry.Thing, metaclass=Meta):
            """Something drawn."""
            sides: int = 4
            area = lambda self: 1

            def __init__(self):
                self.colour = "red"
                self.colour = "blue"
                self._hidden, self.size = 1, 2

            @overload
            def scale(self, by: int): ...

            # Makes it larger.
            @cached(1)
            async def grow(self):
                def inner():
                    pass

        class Colour(enum.Enum):
            RED = 1

        def _private():
            local = 1
        ''',
        PYTHON,
    )
    assert symbols_of(facts) == [
        "constant LIMIT",
        "variable first",
        "variable second",
        "variable rest",
        "type Alias",
        "type Pair",
        "function double",
        "class Shape",
        "field Shape.sides",
        "method Shape.area",
        "constructor Shape.__init__",
        "field Shape.colour",
        "-field Shape._hidden",
        "field Shape.size",
        "signature Shape.scale",
        "method Shape.grow",
        "-function Shape.grow.inner",
        "enum Colour",
        "member Colour.RED",
        "-function _private",
    ]
    by_name = {symbol.name: symbol for symbol in facts.symbols}
    assert by_name["LIMIT"].doc == "How many at most."
    shape = by_name["Shape"]
    assert (shape.doc, shape.bases, shape.decorators, shape.signature, shape.span.first_line, shape.line) == (
        "Something drawn.",
        ("Base[T]", "geometry.Thing"),
        ("register",),
        "class Shape(Base[T], geometry.Thing, metaclass=Meta)",
        8,
        9,
    )
    grow = by_name["grow"]
    assert (grow.doc, grow.decorators, grow.signature, grow.span.first_line) == (
        "Makes it larger.",
        ("cached(1)",),
        "async def grow(self)",
        22,
    )


def test_every_form_of_import_is_read():
    facts = facts_of(
        """
        import os, a.b
        import numpy as np
        from . import sibling
        from ..up.there import (one as uno, two)
        from wide import *
        from shown import it as it
        def f():
            import late
            importlib.import_module("by.name")
        """,
        PYTHON,
    )
    assert facts.imports == [
        Import("os", line=1),
        Import("a.b", line=1),
        Import("numpy", alias="np", line=2),
        Import(".", "sibling", line=3),
        Import("..up.there", "one", "uno", 4),
        Import("..up.there", "two", line=4),
        Import("wide", "*", line=5, exported=True),
        Import("shown", "it", "it", 6, exported=True),
        Import("late", line=8, container=0),
        Import("by.name", line=9, container=0),
    ]


def test_dunder_all_lists_the_exported_names():
    facts = facts_of(
        """
        from .deep import taken
        __all__ = ["shown", "taken"]
        __all__ += ["later"]
        __all__.append("last")
        def shown(): pass
        def not_shown(): pass
        """,
        PYTHON,
    )
    assert facts.exports == [(name, name) for name in ("shown", "taken", "later", "last")]
    assert symbols_of(facts) == ["-variable __all__", "function shown", "-function not_shown"]
    assert facts.imports == [Import(".deep", "taken", line=1, exported=True)]


def test_uses_have_a_path_and_the_symbol_that_contains_them():
    facts = facts_of(
        """
        @app.route("/")
        @plain
        class K(Base[T], metaclass=Meta):
            def run(self, other: "Foo.Bar | None" = make(1)) -> Optional[Out]:
                self.count = other
                other.parts.total += STEP
                raise errors.Missing("x") from other
            def stop(self):
                try:
                    "".join(x) + make()().go(a[0].b(), key=VALUE)
                except (KeyError, m.E) as error:
                    raise error
                except OSError:
                    raise
        """,
        PYTHON,
    )
    assert uses_of(facts) == [
        "1 K: decorate app.route",
        "1 : call app.route",
        "2 K: decorate plain",
        "3 K: inherit Base",
        "3 K: type T",
        "3 : read Meta",
        "4 run: type Foo.Bar",
        "4 run: type None",
        "4 K: call make",
        "4 run: type Optional",
        "4 run: type Out",
        "5 run: write self.count",
        "6 run: write other.parts.total",
        "6 run: read STEP",
        "7 run: call errors.Missing",
        "7 run: raise errors.Missing",
        "10 stop: call .join",
        "10 stop: read x",
        "10 stop: call make()",
        "10 stop: call make",
        "10 stop: call make()().go",
        "10 stop: read a",
        "10 stop: call a[].b",
        "10 stop: read VALUE",
        "11 stop: catch KeyError",
        "11 stop: catch m.E",
        "13 stop: catch OSError",
    ]


def test_local_variables_are_not_uses():
    facts = facts_of(
        """
        def f(a, *b, c=OUTER, **d):
            global G
            G = 1
            with open(a) as (e, g):
                for h, i in zip(b, c):
                    if (j := d):
                        print(a, b, c, d, e, g, h, i, j, G)
            def inner(k):
                return a, k, FREE
            match a:
                case Point(x=1, y=l) | [m, *n]:
                    return l, m, n
                case colours.RED:
                    return inner
            return [o for o in a if o and p], lambda q: q + r
        """,
        PYTHON,
    )
    assert uses_of(facts) == [
        "1 : read OUTER",
        "3 f: write G",
        "4 f: call open",
        "5 f: call zip",
        "7 f: call print",
        "7 f: read G",
        "9 inner: read FREE",
        "11 f: type Point",
        "13 f: read colours.RED",
        "14 f: read inner",
        "15 f: read p",
        "15 f: read r",
    ]


def test_names_in_an_f_string_are_used():
    facts = facts_of("text = f'{name!r} {make(1):>{width}}' 'plain {not}'", PYTHON)
    assert uses_of(facts) == ["1 : read name", "1 : call make", "1 : read width"]


def test_members_of_self_are_used_by_a_method():
    facts = facts_of(
        """
        class A:
            def f(self, other):
                return self, self.size, other.size, [self.parts[i] for i in other]
            @staticmethod
            def g(this):
                return this.size
        """,
        PYTHON,
    )
    assert uses_of(facts) == ["3 f: read self.size", "3 f: read self.parts", "4 g: decorate staticmethod"]
