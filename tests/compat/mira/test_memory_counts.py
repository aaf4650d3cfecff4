"""The number of memories that a finished call added."""

import pytest
from pydantic import BaseModel

from scrubjay.compat.mira.memory_counts import memories_added
from scrubjay.core.callers import OWNER
from scrubjay.features.facts.tools import StoreFactResult
from scrubjay.features.memory.tools import RememberManyResult, RememberResult
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.events import CallEnded


def remember_result(outcome: str, *, repeated: bool) -> RememberResult:
    return RememberResult.model_validate(
        {
            "id": "mem_1",
            "outcome": outcome,
            "scope": "project",
            "project": None,
            "superseded": [],
            "conflicts": [],
            "masked": [],
            "repeated": repeated,
        }
    )


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        (remember_result("stored", repeated=False), 1),
        (remember_result("stored", repeated=True), 0),
        (remember_result("updated", repeated=False), 0),
        (RememberManyResult(memories=[], stored=4, updated=2), 4),
        (StoreFactResult(stored=True, id="mem_1"), 1),
        (None, 0),
    ],
)
def test_6_only_new_memories_of_successful_calls_are_counted(answer: BaseModel | None, count: int) -> None:
    call = CallEnded(
        name="remember",
        tool=None,
        arguments={},
        context=CallContext(caller=OWNER, surface="rest"),
        started=None,
        accepted=True,
        outcome="ok",
        problem="ok",
        answer=answer,
        milliseconds=1.0,
        ids=(),
        time=0.0,
    )
    assert memories_added(call) == count
