"""The error hierarchy: each error has a code for programs, and a message and a hint for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class ErrorCode(StrEnum):
    """Stable error codes; each server maps all of them to its own protocol."""

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
    """An error as data, for storage in a job or for a response."""

    code: ErrorCode
    message: str
    hint: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


class ScrubjayError(Exception):
    """Base class of expected errors: what happened, and what the caller can do."""

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
    """The arguments are invalid; nothing was changed."""

    code = ErrorCode.INVALID_REQUEST


class UnknownTool(ScrubjayError):
    """There is no tool with this name."""

    code = ErrorCode.UNKNOWN_TOOL


class NotFound(ScrubjayError):
    """The named thing does not exist, or is not visible in this scope."""

    code = ErrorCode.NOT_FOUND


class Conflict(ScrubjayError):
    """The request conflicts with the current state; nothing was changed."""

    code = ErrorCode.CONFLICT


class SourceGone(Conflict):
    """A source was deleted while a result was derived from it; nothing was changed."""


class Unauthenticated(ScrubjayError):
    """A key is required, and it is missing or wrong."""

    code = ErrorCode.UNAUTHENTICATED


class Forbidden(ScrubjayError):
    """The key's scopes or the operator's rules do not allow this."""

    code = ErrorCode.FORBIDDEN


class TooLarge(ScrubjayError):
    """The request exceeds a size limit."""

    code = ErrorCode.TOO_LARGE


class RateLimited(ScrubjayError):
    """The caller exceeded a rate limit; retrying later works."""

    code = ErrorCode.RATE_LIMITED


class QuotaExceeded(ScrubjayError):
    """The caller has reached its storage quota; nothing was changed."""

    code = ErrorCode.QUOTA_EXCEEDED


class Cancelled(ScrubjayError):
    """The work was cancelled and has stopped."""

    code = ErrorCode.CANCELLED


class Busy(ScrubjayError):
    """A resource stayed locked for longer than the timeout; retrying may work."""

    code = ErrorCode.BUSY


class Unavailable(ScrubjayError):
    """A required component is not available."""

    code = ErrorCode.UNAVAILABLE


class StoreUnusable(ScrubjayError):
    """The store is damaged, newer than this program, or on a file system that cannot hold it."""

    code = ErrorCode.STORE_UNUSABLE


class Misconfigured(ScrubjayError):
    """The settings do not allow this."""

    code = ErrorCode.MISCONFIGURED


class Internal(ScrubjayError):
    """A bug; the log has the details under the request id."""

    code = ErrorCode.INTERNAL


def _classes_by_code() -> dict[ErrorCode, type[ScrubjayError]]:
    return {cls.code: cls for cls in ScrubjayError.__subclasses__()}


def error_from_record(record: ErrorRecord) -> ScrubjayError:
    """Return the exception for a stored record."""
    return _classes_by_code()[record.code](record.message, hint=record.hint, details=record.details)
