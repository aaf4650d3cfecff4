"""Hooks for schemathesis that skip requests which hardly differ from others."""

import itertools
import re
from collections.abc import MutableMapping
from typing import Any, cast

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

_wrong_types = itertools.count()
# A valid wait for a message, in seconds, and what it is shortened to.
_MAX_WAIT, _SHORT_WAIT = 60, 0.01


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case[Any]) -> bool:
    """Keep every third wrong type, as a field has four or more; skip lists that are one item below the limit."""
    data = case.meta.phase.data if case.meta else None
    if not isinstance(data, CoveragePhaseData):
        return True
    if data.scenario is CoverageScenario.INCORRECT_TYPE:
        return next(_wrong_types) % 3 == 0
    return not data.description.endswith("Near-boundary items array")


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType]
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    """Shorten the wait for a message, as none will arrive, and for the result of a job, as some never end."""
    body: Any = case.body
    if isinstance(body, dict) and "wait_seconds" in body:
        given = cast(dict[str, Any], body)
        wait = given["wait_seconds"]
        if isinstance(wait, int | float) and _SHORT_WAIT < wait <= _MAX_WAIT:
            given["wait_seconds"] = _SHORT_WAIT
    headers: MutableMapping[str, str] | None = cast(Any, case).headers
    if headers and re.fullmatch(r"wait=\d+", str(headers.get("Prefer", ""))):
        headers["Prefer"] = "wait=1"
