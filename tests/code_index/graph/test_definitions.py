"""Definitions by their names."""

from scrubjay.code_index.graph.definitions import Named, Place
from scrubjay.code_index.models import FileFacts, Language, SymbolKind
from scrubjay.code_index.parsing.reader import read_facts


def test_what_was_prepared_is_found_without_reading_the_facts_again() -> None:
    code = b"class Cart:\n    def total(self):\n        pass\n\n\ndef total():\n    pass\n"
    facts: dict[str, FileFacts] = {"cart.py": read_facts(code, Language.PYTHON)}
    prepared = Named(facts, [Language.PYTHON], [SymbolKind.METHOD])
    prepared.prepare()
    late = Named(facts, [Language.PYTHON], [SymbolKind.METHOD])
    assert late.get("total") == [Place("cart.py", 1)]
    facts.clear()
    assert prepared.get("total") == late.get("total")


def test_names_and_kinds_can_be_told_by_another_than_the_symbols() -> None:
    facts = {"cart.py": FileFacts(Language.PYTHON, 1)}
    told = {"cart.py": [("load", "function"), ("total", "method")]}
    named = Named(facts, [Language.PYTHON], [SymbolKind.METHOD], defined=told.__getitem__)
    assert (named.get("total"), named.get("load")) == ([Place("cart.py", 1)], ())
