"""Forgetting, on every surface. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller


async def test_048_a_memory_reports_its_strength_and_remaining_time(call: Caller, project: str) -> None:
    stored = await call("remember", content="The kettle is in the cellar.", importance=0.8, project=project)
    memory = (await call("memory_health", id=stored["id"], project=project))["memory"]
    assert (memory["band"], memory["uses"], memory["protected"]) == ("strong", 0, False)
    assert memory["strength"] == pytest.approx(0.8, abs=0.01)
    assert memory["predicted_days"] == pytest.approx(20.79, abs=0.01)


async def test_049_faded_memories_are_removed_unless_they_are_protected(call: Caller, project: str) -> None:
    faded = await call("remember", content="Nobody needs this kettle.", importance=0.0, project=project)
    protected = await call("remember", content="Nobody but Ada needs this one.", importance=0.0, project=project)
    assert (await call("protect_memory", id=protected["id"], project=project))["protected"]
    result = (await call("forget_faded", dry_run=False))["result"]
    assert (faded["id"], "faded") in [(memory["id"], memory["reason"]) for memory in result["memories"]]
    assert protected["id"] not in [memory["id"] for memory in result["memories"]]


async def test_050_a_dry_run_of_the_clean_up_changes_nothing(call: Caller, project: str) -> None:
    stored = await call("remember", content="An old kettle.", importance=0.05, project=project)
    result = (await call("forget_faded"))["result"]
    assert (result["dry_run"], result["reasons"]["old"], result["reasons"]["over_capacity"]) == (True, 0, 0)
    assert stored["id"] in [memory["id"] for memory in result["memories"]]
    assert (await call("forget", id=stored["id"], project=project))["forgotten"]["id"] == stored["id"]
