"""Kinds of questions about code."""

from enum import StrEnum


class Intent(StrEnum):
    """The kind of information that a question asks for."""

    SYMBOL = "symbol"
    """What a symbol is, and where it is defined."""
    FILE = "file"
    IMPORT = "import"
    CALLGRAPH = "callgraph"
    USAGE = "usage"
    FLOW = "flow"
    RAISE = "raise"
    CATCH = "catch"
    CONFIGURATION = "configuration"
    RELATIONSHIP = "relationship"
    SEARCH = "search"
    """None of the others: a text search."""
