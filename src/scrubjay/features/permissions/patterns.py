"""Comparison of a rule's pattern with a text: exact, prefix, glob and regular expression."""

import json
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.lazy import lazy_module
from scrubjay.features.permissions.models import MatchType, PermissionRule

# Hooks must start fast, and few of them need these.
if TYPE_CHECKING:
    import secrets

    import pydantic_core
    from pydantic_core import core_schema
else:
    secrets = lazy_module("secrets")
    pydantic_core = lazy_module("pydantic_core")
    core_schema = lazy_module("pydantic_core.core_schema")

# CPU time limit for compiling a regular expression; typical ones take a tenth.
MAX_REGEX_SECONDS = 0.015


def canonical(value: Any) -> str:
    """Return the value as JSON with sorted fields and without spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def fits(rule: PermissionRule, text: str) -> bool:
    """Return True if the rule's pattern matches the text, character by character."""
    match rule.match_type:
        case MatchType.EXACT:
            return text == rule.pattern or (rule.field is None and text == _canonical_text(rule.pattern))
        case MatchType.PREFIX:
            return text.startswith(rule.pattern)
        case MatchType.GLOB:
            return matches_glob(rule.pattern, text)
        case MatchType.REGEX:
            return _found(rule.pattern, text)


def matches_glob(pattern: str, text: str) -> bool:
    """Return True if the whole text matches; `*` matches any characters. Linear time."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        place = text.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


def validate_pattern(match_type: MatchType, pattern: str) -> None:
    """Raise `InvalidRequest` for an invalid or too slow pattern."""
    if match_type is MatchType.REGEX:
        try:
            _compile(_whole(pattern))
            _compile(pattern)  # also by itself: a pattern such as `a)(b` must not close the group around it
        except ValueError as error:
            raise InvalidRequest(
                f"pattern: invalid regular expression ({error})",
                hint="use the syntax of Rust's regex crate, without look-around and backreferences",
            ) from None
        # An agent waits while it is compiled. Measured with a random suffix, because compiled patterns are cached.
        started = time.thread_time()
        _compile(f"(?:{pattern})|{secrets.token_hex()}")
        if time.thread_time() - started > MAX_REGEX_SECONDS:
            raise InvalidRequest(
                "pattern: takes too long to compile", hint="use fewer repetitions, or [a-z] instead of \\w"
            )


def _canonical_text(pattern: str) -> str | None:
    """Return a JSON pattern in canonical form, or None if it is not JSON."""
    try:
        return canonical(json.loads(pattern))
    except (ValueError, RecursionError):
        return None


def _found(pattern: str, text: str) -> bool:
    try:
        _compiled(pattern)(text.encode("utf-8", "replace").decode())  # a lone surrogate must not hide the rest
    except pydantic_core.ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    """Return a function that raises unless the whole text matches."""
    return _compile(_whole(pattern))


def _whole(pattern: str) -> str:
    return rf"(?s)\A(?:{pattern})\z"


def _compile(pattern: str) -> Any:
    """Return a function that raises unless the pattern is found.

    Uses the regex engine of pydantic-core: linear time, no backtracking.
    """
    try:
        schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
        return pydantic_core.SchemaValidator(schema).validate_python
    except pydantic_core.SchemaError as error:
        raise ValueError(str(error).rpartition("error: ")[2].strip()) from None
