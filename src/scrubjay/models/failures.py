"""Why a model cannot answer, so that callers can go on without it and say so."""

from enum import StrEnum
from typing import Any

from scrubjay.core.errors import Unavailable


class Reason(StrEnum):
    """What is wrong with a model or its provider; kept under `reason` in an error's details."""

    NOT_INSTALLED = "not_installed"
    DAMAGED = "damaged"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    FAILING = "failing"
    BROKEN_ANSWER = "broken_answer"
    WRONG_DIMENSIONS = "wrong_dimensions"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    PAUSED = "paused"
    MISCONFIGURED = "misconfigured"


def unavailable(reason: Reason, message: str, *, hint: str, **details: Any) -> Unavailable:
    """The error to raise when no vectors, or no answer, can be had for now."""
    return Unavailable(message, hint=hint, details={"reason": reason.value, **details})
