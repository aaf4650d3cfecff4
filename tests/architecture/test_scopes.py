"""A tool that can read records of another family declares it, so that the dispatcher checks the scope."""

from collections.abc import Mapping
from typing import Annotated, get_type_hints

import pytest
from pydantic import Field

from scrubjay.app.tool_catalog import TOOL_CATALOG
from scrubjay.core.callers import Caller
from scrubjay.features.code.resources import RESOURCES
from scrubjay.features.memory.link_views import stale_view, stale_views
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.summaries.service import Summariser
from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.dispatcher import Dispatcher
from scrubjay.tooling.jobs.service import JobService
from scrubjay.tooling.resources import Resource
from tests.architecture.stored_data import FAMILIES, families_reached, named_types, store_protocols, stores_reached

NUMBERS = "returns only numbers"
IDS = "returns ids of what it stored"

# Tools that use services which could read records of these families, but return none of them.
RETURNS_NONE: Mapping[str, Mapping[str, str]] = {
    "add_memory": {"memory": IDS, "sessions": "returns the id of the caller's own session"},
    "store_fact": {"memory": IDS},
    "extract_facts": {"memory": "returns ids and kinds of the facts that it stored"},
    "keep_summaries": {"memory": NUMBERS},
    "delete_all_summaries": {"memory": NUMBERS},
    "import_database": {"memory": NUMBERS, "planning": NUMBERS},
    "working_clear": {"memory": NUMBERS},
    "working_stats": {"memory": NUMBERS},
    "consolidate": {"memory": "returns working items that were no memories before the call"},
    "think": {"memory": "returns the thought of the call", "working": "returns the thought of the call"},
    "plan": {"memory": "returns the plan of the call", "working": "returns the plan of the call"},
    "configure_embeddings": {"memory": NUMBERS},
    "embed_memories": {"memory": NUMBERS},
    "rebuild_derived": {"memory": NUMBERS},
    "compact_index": {"memory": NUMBERS},
    "healthcheck": {"memory": NUMBERS},
    "get_metrics": {"episodes": NUMBERS},
}


# Tools that can reach other tools or jobs, but return only results of their own family.
OWN_JOBS = "returns jobs about code"
RELAYS_NOTHING: Mapping[str, str] = {
    "search_tools": "returns declarations",
    "describe_tool": "returns a declaration",
    **dict.fromkeys(("ensure_repo_index", "search_repo", "ask_index", "cancel", "watch_repo"), OWN_JOBS),
    **dict.fromkeys(("index", "keep_repo_index"), "calls the tool that builds an index"),
    "get_metrics": NUMBERS,
    "configure_embeddings": "starts a job and returns its id",
}


def undeclared(declared: Tool) -> set[str]:
    """Return the families whose records a tool can reach without a declaration or a known reason."""
    reached = families_reached(declared.injected.values()) - {declared.family}
    return reached - declared.reads - declared.withholds - {*RETURNS_NONE.get(declared.name, {})}


@pytest.mark.parametrize("declared", TOOL_CATALOG, ids=lambda declared: declared.name)
def test_a_tool_declares_the_families_whose_records_it_can_read(declared: Tool) -> None:
    assert undeclared(declared) == set()


def test_a_new_tool_that_reads_memories_without_declaring_it_fails() -> None:
    class Question(Request):
        text: Annotated[str, Field(description="What to find.")]

    class Answer(Result):
        texts: Annotated[list[str], Field(description="What was found.")]

    async def find(request: Question, memory: MemoryService) -> Answer:
        """Find memories."""
        return Answer(texts=[])

    async def summaries(request: Question, summariser: Summariser) -> Answer:
        """Find summaries, through a service that uses others."""
        return Answer(texts=[])

    assert undeclared(tool("facts")(find)) == {"memory"}
    assert undeclared(tool("code")(summaries)) == {"memory"}
    assert undeclared(tool("facts", reads=("memory",))(find)) == set()
    assert undeclared(tool("facts", withholds=("memory",))(find)) == set()
    assert undeclared(tool("memory")(find)) == set()


@pytest.mark.parametrize("declared", TOOL_CATALOG, ids=lambda declared: declared.name)
def test_a_tool_that_reaches_results_of_others_declares_whether_it_relays_them(declared: Tool) -> None:
    """Recorded results of such a tool are no results of its own family."""
    reaches = not {Dispatcher, JobService}.isdisjoint(declared.injected.values())
    assert declared.relays == (reaches and declared.name not in RELAYS_NOTHING)
    assert reaches or declared.name not in RELAYS_NOTHING


def test_every_known_reason_is_still_needed() -> None:
    by_name = {declared.name: declared for declared in TOOL_CATALOG}
    unneeded = {
        (name, family)
        for name, families in RETURNS_NONE.items()
        for family in families
        if family not in families_reached(by_name[name].injected.values())
        or family in {by_name[name].family, *by_name[name].reads, *by_name[name].withholds}
    }
    assert unneeded == set()


def test_every_store_belongs_to_families_that_exist() -> None:
    families = {declared.family for declared in TOOL_CATALOG}
    assert store_protocols() <= set(FAMILIES)
    assert {family for opened in FAMILIES.values() for family in opened} <= families
    assert {family for declared in TOOL_CATALOG for family in declared.reads | declared.withholds} <= families


def test_stores_behind_other_services_are_found() -> None:
    """Otherwise the tests above would pass because they find nothing."""
    by_name = {declared.name: declared for declared in TOOL_CATALOG}
    assert {"MemoryStore", "WorkingStore", "KnowledgeStore"} <= stores_reached(by_name["ask_mimo"].injected.values())
    assert "MemoryStore" in stores_reached(by_name["working_put"].injected.values())  # made late, by `partial`
    assert "LinkStore" in stores_reached(by_name["search_repo"].injected.values())
    assert stores_reached(by_name["task"].injected.values()) == {"TaskStore", "ProjectStore"}
    assert MemoryService in named_types(test_stores_behind_other_services_are_found)


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
def test_a_resource_reads_records_of_its_own_family_only(resource: Resource) -> None:
    hints = get_type_hints(resource.reading)
    reached = families_reached(hints[name] for name in hints if name not in {"return", *resource.parameters})
    assert reached == {resource.family}


def test_code_beside_a_memory_is_shown_by_functions_that_take_the_caller() -> None:
    for function in (stale_view, stale_views):
        assert function.__annotations__["caller"] is Caller
