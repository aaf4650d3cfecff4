"""Everything that can go wrong, once: a code for programs, a message and a hint for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class ErrorCode(StrEnum):
    """The stable names of failures; each gateway has one table over all of them."""

    INVALID_REQUEST = "invalid_request"
    UNKNOWN_TOOL = "unknown_tool"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    QUOTA_EXCEEDED = "quota_exceeded"
    CANCELLED = "cancelled"
    BUSY = "busy"
    UNAVAILABLE = "unavailable"
    STORE_UNUSABLE = "store_unusable"
    MISCONFIGURED = "misconfigured"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error as it is kept in a job or sent over a wire."""

    code: ErrorCode
    message: str
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ScrubjayError(Exception):
    """A failure that was foreseen: what happened, and what the caller can do."""

    code: ClassVar[ErrorCode]

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: Mapping[str, Any] = details or {}

    @property
    def record(self) -> ErrorRecord:
        return ErrorRecord(self.code, self.message, self.hint, self.details)


class InvalidRequest(ScrubjayError):
    """The arguments do not fit; nothing was changed."""

    code = ErrorCode.INVALID_REQUEST


class UnknownTool(ScrubjayError):
    """No tool has this name."""

    code = ErrorCode.UNKNOWN_TOOL


class NotFound(ScrubjayError):
    """The named thing does not exist, or is not visible in this scope."""

    code = ErrorCode.NOT_FOUND


class Conflict(ScrubjayError):
    """The request contradicts the present state; nothing was changed."""

    code = ErrorCode.CONFLICT


class SourceGone(Conflict):
    """Something that this is made of was forgotten while it was made; nothing was changed."""


class Unauthenticated(ScrubjayError):
    """A key is needed, and the given one is missing or wrong."""

    code = ErrorCode.UNAUTHENTICATED


class Forbidden(ScrubjayError):
    """The operator does not allow this, or callers from there, whatever key they hold."""

    code = ErrorCode.FORBIDDEN


class TooLarge(ScrubjayError):
    """The request is bigger than the server accepts."""

    code = ErrorCode.TOO_LARGE


class RateLimited(ScrubjayError):
    """The caller does more at once than the operator allows; trying again later works."""

    code = ErrorCode.RATE_LIMITED


class QuotaExceeded(ScrubjayError):
    """The caller keeps as much as the operator allows; nothing was changed."""

    code = ErrorCode.QUOTA_EXCEEDED


class Cancelled(ScrubjayError):
    """The work was asked to stop, and has stopped."""

    code = ErrorCode.CANCELLED


class Busy(ScrubjayError):
    """Others hold what is needed for longer than we wait; trying again may work."""

    code = ErrorCode.BUSY


class Unavailable(ScrubjayError):
    """A part that this needs is not there."""

    code = ErrorCode.UNAVAILABLE


class StoreUnusable(ScrubjayError):
    """The store is damaged, newer than this program, or on a file system that cannot hold it."""

    code = ErrorCode.STORE_UNUSABLE


class Misconfigured(ScrubjayError):
    """The settings do not allow this."""

    code = ErrorCode.MISCONFIGURED


class Internal(ScrubjayError):
    """A bug of ours; the log has the details under the request id."""

    code = ErrorCode.INTERNAL


def _classes_by_code() -> dict[ErrorCode, type[ScrubjayError]]:
    return {cls.code: cls for cls in ScrubjayError.__subclasses__()}


def error_from_record(record: ErrorRecord) -> ScrubjayError:
    """The exception that a kept record stands for."""
    return _classes_by_code()[record.code](record.message, hint=record.hint, details=record.details)
