"""Episodes as tools tell them. Numbers are rows of the feature table."""

from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.episodes.views import EPISODE_FIELDS, episode_id_of, projected, refuse_unknown, told
from tests.features.episodes.samples import completed, episode, identifier, step


def test_073_every_field_that_is_told_can_be_asked_for() -> None:
    assert tuple(told(episode())) == EPISODE_FIELDS
    whole = told(completed(episode(steps=(step(1),))))
    for name in EPISODE_FIELDS:
        assert projected(whole, [name]) == {name: whole[name]}


def test_073_dots_lead_into_what_is_inside_and_into_every_entry_of_lists() -> None:
    whole = told(completed(episode(metadata={"a": "b"}, steps=(step(1, parameters={"x": {"y": 1}}), step(2, "?")))))
    asks: list[tuple[list[str], dict[str, Any]]] = [
        (["reward.total", "reward.base"], {"reward": {"total": 1.5, "base": 1.0}}),
        (["context", "context.tags"], {"context": whole["context"]}),
        (["steps.result.type"], {"steps": [{"result": {"type": "success"}}, {"result": None}]}),
        (["steps.parameters.x.y"], {"steps": [{"parameters": {"x": {"y": 1}}}, {"parameters": {}}]}),
        (["metadata.a", "metadata.z"], {"metadata": {"a": "b"}}),
        (["end_time.year"], {"end_time": whole["end_time"]}),
    ]
    for paths, expected in asks:
        assert projected(whole, paths) == expected


def test_073_a_field_that_is_not_there_is_refused_with_the_nearest() -> None:
    refuse_unknown(["steps.anything"], EPISODE_FIELDS)
    with pytest.raises(InvalidRequest) as refused:
        refuse_unknown(["outcome", "stps.tool"], EPISODE_FIELDS)
    assert (refused.value.message, refused.value.hint) == ("there is no field 'stps' to select", "did you mean steps?")


@pytest.mark.parametrize("strange", ["", "1", "x" * 36, identifier(1)[:-1], identifier(1) + "0", f"x{identifier(1)}"])
def test_073_only_an_id_is_an_id(strange: str) -> None:
    assert episode_id_of(f" {identifier(1).upper()} ") == identifier(1)
    with pytest.raises(InvalidRequest, match="Invalid episode_id format"):
        episode_id_of(strange)
