"""Forgetting behaves alike through every door. Numbers are rows of the feature table."""

import pytest

from tests.surfaces.callers import Caller


async def test_048_a_memory_tells_how_strong_it_is_and_how_long_it_lasts(call: Caller, project: str) -> None:
    kept = await call("remember", content="The kettle is in the cellar.", importance=0.8, project=project)
    memory = (await call("memory_health", id=kept["id"], project=project))["memory"]
    assert (memory["band"], memory["uses"], memory["protected"]) == ("strong", 0, False)
    assert memory["strength"] == pytest.approx(0.8, abs=0.01)
    assert memory["predicted_days"] == pytest.approx(20.79, abs=0.01)


async def test_049_what_has_faded_goes_but_not_what_is_protected(call: Caller, project: str) -> None:
    gone = await call("remember", content="Nobody needs this kettle.", importance=0.0, project=project)
    kept = await call("remember", content="Nobody but Ada needs this one.", importance=0.0, project=project)
    assert (await call("protect_memory", id=kept["id"], project=project))["protected"]
    done = (await call("forget_faded", dry_run=False))["result"]
    assert (gone["id"], "faded") in [(one["id"], one["reason"]) for one in done["memories"]]
    assert kept["id"] not in [one["id"] for one in done["memories"]]


async def test_050_a_rehearsal_of_the_clean_up_changes_nothing(call: Caller, project: str) -> None:
    kept = await call("remember", content="An old kettle.", importance=0.05, project=project)
    told = (await call("forget_faded"))["result"]
    assert (told["dry_run"], told["reasons"]["old"], told["reasons"]["crowded"]) == (True, 0, 0)
    assert kept["id"] in [one["id"] for one in told["memories"]]
    assert (await call("forget", id=kept["id"], project=project))["forgotten"]["id"] == kept["id"]
