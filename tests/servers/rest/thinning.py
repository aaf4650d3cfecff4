"""Loaded by schemathesis: fewer of the requests that hardly differ from others."""

import itertools
from typing import Any, cast

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

_wrong_types = itertools.count()
# Whoever asks to wait so long for a message is to wait no longer than this.
_LONGEST_WAIT, _A_MOMENT = 60, 0.01


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case[Any]) -> bool:
    """Every third of the wrong types, of which a field has four and more; the longest list, but not one item fewer."""
    data = case.meta.phase.data if case.meta else None
    if not isinstance(data, CoveragePhaseData):
        return True
    if data.scenario is CoverageScenario.INCORRECT_TYPE:
        return next(_wrong_types) % 3 == 0
    return not data.description.endswith("Near-boundary items array")


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    """Nobody sends messages meanwhile, so to wait for one would only take time."""
    body: Any = case.body
    if isinstance(body, dict) and "wait_seconds" in body:
        given = cast(dict[str, Any], body)
        wait = given["wait_seconds"]
        if isinstance(wait, int | float) and _A_MOMENT < wait <= _LONGEST_WAIT:
            given["wait_seconds"] = _A_MOMENT
