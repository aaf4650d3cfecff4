"""Wire format of episodes. Numbers are rows of the feature table."""

from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.episodes.views import EPISODE_FIELDS, episode_fields, episode_id_of, projected, refuse_unknown
from tests.features.episodes.samples import completed, episode, identifier, step


def test_073_every_returned_field_can_be_selected() -> None:
    assert tuple(episode_fields(episode())) == EPISODE_FIELDS
    whole = episode_fields(completed(episode(steps=(step(1),))))
    for name in EPISODE_FIELDS:
        assert projected(whole, [name]) == {name: whole[name]}


def test_073_dotted_paths_select_nested_fields_also_in_list_entries() -> None:
    whole = episode_fields(
        completed(episode(metadata={"a": "b"}, steps=(step(1, parameters={"x": {"y": 1}}), step(2, "?"))))
    )
    cases: list[tuple[list[str], dict[str, Any]]] = [
        (["reward.total", "reward.base"], {"reward": {"total": 1.5, "base": 1.0}}),
        (["context", "context.tags"], {"context": whole["context"]}),
        (["steps.result.type"], {"steps": [{"result": {"type": "success"}}, {"result": None}]}),
        (["steps.parameters.x.y"], {"steps": [{"parameters": {"x": {"y": 1}}}, {"parameters": {}}]}),
        (["metadata.a", "metadata.z"], {"metadata": {"a": "b"}}),
        (["end_time.year"], {"end_time": whole["end_time"]}),
    ]
    for paths, expected in cases:
        assert projected(whole, paths) == expected


def test_073_an_unknown_field_is_refused_with_a_suggestion() -> None:
    refuse_unknown(["steps.anything"], EPISODE_FIELDS)
    with pytest.raises(InvalidRequest) as refused:
        refuse_unknown(["outcome", "stps.tool"], EPISODE_FIELDS)
    assert (refused.value.message, refused.value.hint) == ("unknown field 'stps' in fields", "did you mean steps?")


@pytest.mark.parametrize("malformed", ["", "1", "x" * 36, identifier(1)[:-1], identifier(1) + "0", f"x{identifier(1)}"])
def test_073_a_malformed_id_is_refused(malformed: str) -> None:
    assert episode_id_of(f" {identifier(1).upper()} ") == identifier(1)
    with pytest.raises(InvalidRequest, match="Invalid episode_id format"):
        episode_id_of(malformed)
