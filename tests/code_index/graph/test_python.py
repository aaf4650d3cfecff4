"""Resolution of calls and names in Python files."""

from textwrap import dedent

import pytest

from scrubjay.code_index.graph.python import resolve
from scrubjay.code_index.models import Edge, Evidence, FileFacts, Language, Unresolved, UseKind
from scrubjay.code_index.parsing.reader import read_facts


def facts_of(**sources: str) -> dict[str, FileFacts]:
    """Return the facts of files whose paths are written with `__` for `/`."""
    return {
        f"{name.replace('__', '/').replace('/init/', '/__init__')}.py": read_facts(
            dedent(text).encode(), Language.PYTHON
        )
        for name, text in sources.items()
    }


def calls(facts: dict[str, FileFacts], path: str = "main.py", *, guesses: bool = False) -> set[str]:
    """Return the calls of a file as `caller -> callee`; a callee in another file is prefixed with its path."""
    found: set[str] = set()
    for edge in resolve(facts, facts)[path].edges:
        if edge.kind is UseKind.CALL and (guesses or edge.confidence >= 0.5):
            there = "" if edge.path == path else f"{edge.path}:"
            found.add(f"{_name(facts, path, edge.source)} -> {there}{_name(facts, edge.path, edge.target)}")
    return found


def _name(facts: dict[str, FileFacts], path: str, index: int) -> str:
    names: list[str] = []
    while index >= 0:
        names.append(facts[path].symbols[index].name)
        index = facts[path].symbols[index].container
    return ".".join(reversed(names)) or "top"


CASES: dict[str, tuple[str, set[str]]] = {
    "a name has the value it was bound to last": (
        """
        def ring(): ...
        def knock(): ...
        signal = ring
        signal = knock
        signal()
        """,
        {"top -> knock"},
    ),
    "after a branch a name may have either value": (
        """
        def ring(): ...
        def knock(): ...
        if input():
            signal = ring
        else:
            signal = knock
        signal()
        """,
        {"top -> ring", "top -> knock"},
    ),
    "an argument is followed into the parameter": (
        """
        def ring(): ...
        def twice(action, *, times=2):
            action()
        twice(action=ring)
        """,
        {"top -> twice", "twice -> ring"},
    ),
    "a returned parameter is what this call passed": (
        """
        def same(thing):
            return thing
        def ring(): ...
        def knock(): ...
        def first():
            same(ring)()
        def second():
            same(knock)()
        """,
        {"first -> same", "first -> ring", "second -> same", "second -> knock"},
    ),
    "items are distinguished by key": (
        """
        def ring(): ...
        def knock(): ...
        table = {"a": ring, "b": ring}
        table["b"] = knock
        table["b"]()
        """,
        {"top -> knock"},
    ),
    "unpacking keeps positions": (
        """
        def ring(): ...
        def knock(): ...
        def wave(): ...
        first, *others = ring, knock, wave
        first()
        others[1]()
        """,
        {"top -> ring", "top -> wave"},
    ),
    "a loop yields what was put into a list": (
        """
        def ring(): ...
        def run():
            waiting = []
            waiting.append(ring)
            for each in waiting:
                each()
        """,
        {"run -> ring"},
    ),
    "a loop gets what a generator yields": (
        """
        def ring(): ...
        def every():
            yield ring
        for each in every():
            each()
        """,
        {"top -> every", "top -> ring"},
    ),
    "a method is found in method resolution order": (
        """
        class Top:
            def show(self): ...
        class Left(Top): ...
        class Right(Top):
            def show(self): ...
        class Both(Left, Right): ...
        Both().show()
        """,
        {"top -> Right.show"},
    ),
    "super is the next class in that order": (
        """
        class Top:
            def __init__(self): ...
        class Below(Top):
            def __init__(self):
                super().__init__()
        """,
        {"Below.__init__ -> Top.__init__"},
    ),
    "an attribute of self has the values that any method assigns": (
        """
        class Bell:
            def ring(self): ...
        class House:
            def __init__(self, bell):
                self.bell = bell
            def knock(self):
                self.bell.ring()
        House(Bell()).knock()
        """,
        {"top -> House.__init__", "top -> House.knock", "House.knock -> Bell.ring"},
    ),
    "an annotation gives the type of a parameter": (
        """
        class Bell:
            def ring(self): ...
        def press(bell: "Bell | None", more: list[Bell]):
            bell.ring()
            for each in more:
                each.ring()
        """,
        {"press -> Bell.ring"},
    ),
    "isinstance gives the type in its branch": (
        """
        class Bell:
            def ring(self): ...
        def press(thing):
            if isinstance(thing, Bell):
                thing.ring()
        """,
        {"press -> Bell.ring"},
    ),
    "a decorated name is both the wrapper and the function": (
        """
        def logged(action):
            def wrapper():
                action()
            return wrapper
        @logged
        def ring(): ...
        ring()
        """,
        {"top -> logged", "top -> logged.wrapper", "top -> ring", "logged.wrapper -> ring"},
    ),
    "a property has the value it returns": (
        """
        class Bell:
            def ring(self): ...
        class House:
            @property
            def bell(self):
                return Bell()
            @classmethod
            def made(cls):
                return cls()
            @staticmethod
            def open(): ...
        House.made().bell.ring()
        House.open()
        """,
        {"top -> House.made", "top -> Bell.ring", "top -> House.open"},
    ),
    "with and for call the methods of their protocols": (
        """
        class Box:
            def __enter__(self):
                return self
            def __exit__(self, *_): ...
            def __iter__(self):
                return self
            def __next__(self): ...
            def shut(self): ...
        with Box() as box:
            box.shut()
        for each in Box(): ...
        """,
        {
            "top -> Box.__enter__",
            "top -> Box.__exit__",
            "top -> Box.shut",
            "top -> Box.__iter__",
            "top -> Box.__next__",
        },
    ),
    "a function may assign a global": (
        """
        signal = None
        def ring(): ...
        def prepare():
            global signal
            signal = ring
        def use():
            signal()
        """,
        {"use -> ring"},
    ),
    "a lambda with a name is a function": (
        """
        def ring(): ...
        press = lambda: ring()
        press()
        """,
        {"top -> press", "press -> ring"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_calls_are_resolved_by_following_values(case: str):
    source, expected = CASES[case]
    assert calls(facts_of(main=source)) == expected


def test_imports_are_followed_through_packages_and_re_exports():
    facts = facts_of(
        src__shop__init__="from .cart import *\nfrom .till import pay as charge\n",
        src__shop__cart="__all__ = ['add']\ndef add(): ...\ndef hidden(): ...\n",
        src__shop__till="from . import cart\ndef pay():\n    cart.add()\n",
        main="""
        import shop.till
        from shop import add, hidden, charge
        add()
        charge()
        shop.till.pay()
        hidden()
        """,
    )
    edges = resolve(facts, facts)
    assert calls(facts) == {"top -> src/shop/cart.py:add", "top -> src/shop/till.py:pay"}
    assert calls(facts, "src/shop/till.py") == {"pay -> src/shop/cart.py:add"}
    assert edges["main.py"].imports == ["src/shop/__init__.py", "src/shop/till.py"]


def test_a_standard_library_module_is_not_confused_with_a_file_of_the_same_name():
    facts = facts_of(
        app__init__="",
        app__formats__init__="",
        app__formats__json="def loads(): ...\n",
        main="import json\njson.loads()\n",
    )
    assert resolve(facts, facts)["main.py"].unresolved == [Unresolved(-1, "json.loads", UseKind.CALL, 2, "json")]


def test_edges_have_line_evidence_and_confidence():
    facts = facts_of(
        bells="class Bell:\n    def ring(self): ...\n",
        main="from bells import Bell\n\nclass Loud(Bell): ...\n\ndef press():\n    Loud().ring()\n",
    )
    assert resolve(["main.py"], facts)["main.py"].edges == [
        Edge(0, "bells.py", 0, UseKind.INHERIT, 3, Evidence.IMPORTED, 0.95),
        Edge(1, "bells.py", 1, UseKind.CALL, 6, Evidence.INHERITED, 0.85),
        Edge(1, "main.py", 0, UseKind.NEW, 6, Evidence.LOCAL, 1.0),
    ]


def test_a_method_of_an_unknown_value_is_guessed_only_by_a_rare_name():
    facts = facts_of(
        bells="class Bell:\n    def ring_twice(self): ...\n    def get(self): ...\n",
        main="def press(thing):\n    thing.ring_twice()\n    thing.get()\n",
    )
    found = resolve(["main.py"], facts)["main.py"]
    assert found.edges == [Edge(0, "bells.py", 1, UseKind.CALL, 2, Evidence.UNIQUE, 0.45)]
    assert found.unresolved == [Unresolved(0, "thing.get", UseKind.CALL, 3)]


def test_arguments_of_callers_count_when_one_file_is_resolved_again():
    facts = facts_of(
        bells="def press(action):\n    action()\n",
        main="from bells import press\ndef ring(): ...\npress(ring)\n",
    )
    everything = resolve(facts, facts)
    assert resolve(["bells.py"], facts, callers={"main.py": {3}}) == {"bells.py": everything["bells.py"]}
    assert calls(facts, "bells.py") == {"press -> main.py:ring"}


def test_circular_bases_and_functions_that_return_themselves_do_not_recurse():
    facts = facts_of(
        main="""
        from other import B
        class A(B):
            def run(self): return self.run().walk()
        def again(): return again()()
        again().x.y()
        values = {}
        for name in names:
            values[name] = values
            values.update(values)
        values["a"]["b"]()
        """,
        other="from main import A\nclass B(A): ...\nB().run()\n",
    )
    assert calls(facts) == {"A.run -> A.run", "again -> again", "top -> again"}
    assert calls(facts, "other.py") == {"top -> main.py:A.run"}


def test_a_container_merged_into_itself_many_times_is_read_once():
    source = (
        "def ring(): ...\nvalues = {'a': ring}\n" + "values.update(values)\n" * 40 + "values['b']()\nvalues['a']()\n"
    )
    assert calls(facts_of(main=source)) == {"top -> ring"}


def test_a_script_without_a_suffix_is_resolved_and_other_languages_are_skipped():
    facts = facts_of(bells="def ring(): ...\n")
    facts["bin/press"] = read_facts(b"from bells import ring\nring()\n", Language.PYTHON)
    facts["notes.md"] = FileFacts(Language.MARKDOWN, 1)
    found = resolve(facts, facts, callers={"notes.md": {1}, "gone.py": {1}})
    assert sorted(found) == ["bells.py", "bin/press"]
    assert found["bin/press"].edges == [Edge(-1, "bells.py", 0, UseKind.CALL, 2, Evidence.IMPORTED, 1.0)]


def test_a_lone_surrogate_in_a_literal_is_ignored():
    facts = facts_of(
        bells="def ring(): ...\n__all__ = ['ring', '\\udc81']\n",
        main="from bells import *\nvalues = {'\\udc81': ring, 'a': ring}\nvalues['a']()\n",
    )
    assert calls(facts) == {"top -> bells.py:ring"}
