"""What a question about code can ask for."""

from enum import StrEnum


class Intent(StrEnum):
    """What is asked for."""

    SYMBOL = "symbol"
    """What something is, and where it is defined."""
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
    """None of these: what fits the words."""
