"""Recorded calls are readable by those who may read what the tool returns."""

import pytest

from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.callers import Caller
from scrubjay.features.sessions.redaction import may_see_contents
from scrubjay.tooling.registry import Registry

ALL = Registry(TOOL_CATALOG)
WITHOUT_FACTS = Registry(TOOL_CATALOG, {"facts": "SCRUBJAY_FEATURES_FACTS"})


@pytest.mark.parametrize(
    ("tool", "scopes", "readable"),
    [
        ("list_memories", "memory:read", True),
        ("list_memories", "", False),
        ("search_vibes", "facts", False),
        ("search_vibes", "memory", False),
        ("search_vibes", "facts memory:read", True),
        ("search_repo", "code", False),  # its results may have memories beside code
        ("search_repo", "code memory:read", True),
        ("Bash", "", True),
        ("mcp__github__create_issue", "", True),
        ("mcp__scrubjay__recall", "", False),
        ("mcp__scrubjay__recall", "memory:read code:read", True),
        ("mcp__my__own__name__recall", "", False),
        ("mcp__scrubjay__search_vibes", "facts", False),
    ],
)
def test_15_a_recorded_call_is_readable_with_the_scopes_of_its_results(tool: str, scopes: str, readable: bool) -> None:
    caller = Caller("key", frozenset(scopes.split()))
    assert may_see_contents(caller, ALL, tool) is readable


def test_15_calls_of_tools_that_were_switched_off_are_readable_with_all_scopes_only() -> None:
    assert not may_see_contents(Caller("key", frozenset({"facts", "memory"})), WITHOUT_FACTS, "search_vibes")
    assert may_see_contents(Caller("key", frozenset({"*:read"})), WITHOUT_FACTS, "search_vibes")
