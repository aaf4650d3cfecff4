"""Reasons why a model is unavailable."""

from enum import StrEnum
from typing import Any

from scrubjay.core.errors import Unavailable


class FailureReason(StrEnum):
    """Why a model or its provider is unavailable; the `reason` in an error's details."""

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


def unavailable(reason: FailureReason, message: str, *, hint: str, **details: Any) -> Unavailable:
    """Return the error to raise when a model cannot respond now."""
    return Unavailable(message, hint=hint, details={"reason": reason.value, **details})
