"""The index of definitions by name."""

from scrubjay.code_index.graph.definitions import NameIndex, SymbolRef
from scrubjay.code_index.models import FileFacts, Language, SymbolKind
from scrubjay.code_index.parsing.reader import read_facts


def test_a_prepared_index_does_not_read_the_facts_again() -> None:
    code = b"class Cart:\n    def total(self):\n        pass\n\n\ndef total():\n    pass\n"
    facts: dict[str, FileFacts] = {"cart.py": read_facts(code, Language.PYTHON)}
    prepared = NameIndex(facts, [Language.PYTHON], [SymbolKind.METHOD])
    prepared.prepare()
    unprepared = NameIndex(facts, [Language.PYTHON], [SymbolKind.METHOD])
    assert unprepared.get("total") == [SymbolRef("cart.py", 1)]
    facts.clear()
    assert prepared.get("total") == unprepared.get("total")


def test_names_and_kinds_can_come_from_another_source_than_the_symbols() -> None:
    facts = {"cart.py": FileFacts(Language.PYTHON, 1)}
    definitions = {"cart.py": [("load", "function"), ("total", "method")]}
    index = NameIndex(facts, [Language.PYTHON], [SymbolKind.METHOD], list_definitions=definitions.__getitem__)
    assert (index.get("total"), index.get("load")) == ([SymbolRef("cart.py", 1)], ())
