"""What a caller can ask for, and what only the owner decides. Numbers are rows of the feature table."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from scrubjay.core.errors import Forbidden
from scrubjay.features.sandbox.profiles import PROFILES, Limits, Policy, Wishes

CEILING = Limits(max_execution_time_ms=10_000, max_memory_mb=256, max_cpu_percent=100)


def test_121_the_three_profiles_are_those_that_are_documented() -> None:
    limits = [(own.max_execution_time_ms, own.max_memory_mb, own.max_cpu_percent) for own in PROFILES.values()]
    assert dict(zip(PROFILES, limits, strict=True)) == {
        "restrictive": (3_000, 64, 30),
        "default": (5_000, 128, 50),
        "permissive": (10_000, 256, 80),
    }
    assert [own.allow_filesystem for own in PROFILES.values()] == [False, False, True]


def test_121_who_names_nothing_gets_what_the_owner_chose() -> None:
    assert Policy("restrictive", CEILING).limits(None, Wishes()) == PROFILES["restrictive"]
    assert Policy("default", CEILING).limits(None, Wishes()) == PROFILES["default"]


def test_121_a_profile_never_gives_more_than_the_owner_allows() -> None:
    limits = Policy("default", replace(CEILING, max_memory_mb=100, allow_tools=False)).limits("permissive", Wishes())
    assert (limits.max_memory_mb, limits.allow_tools, limits.allow_filesystem) == (100, False, False)


def test_121_wishes_change_what_they_name() -> None:
    policy = Policy("default", replace(CEILING, allow_filesystem=True))
    limits = policy.limits("restrictive", Wishes(max_execution_time_ms=9_000, allow_filesystem=True))
    expected = replace(PROFILES["restrictive"], max_execution_time_ms=9_000, allow_filesystem=True)
    assert asdict(limits) == asdict(expected)


@pytest.mark.parametrize(
    ("wished", "setting"),
    [
        ({"max_execution_time_ms": 10_001}, "SCRUBJAY_SANDBOX_MAX_EXECUTION_TIME_MS"),
        ({"max_memory_mb": 257}, "SCRUBJAY_SANDBOX_MAX_MEMORY_MB"),
        ({"max_cpu_percent": 91}, "SCRUBJAY_SANDBOX_MAX_CPU_PERCENT"),
        ({"allow_filesystem": True}, "SCRUBJAY_SANDBOX_ALLOWED_PATHS"),
        ({"allow_tools": True}, "SCRUBJAY_SANDBOX_TOOLS"),
        ({"allow_network": True}, "call a tool"),
        ({"allow_subprocesses": True}, "call a tool"),
    ],
)
def test_121_more_than_the_owner_allows_is_refused(wished: dict[str, Any], setting: str) -> None:
    policy = Policy("default", replace(CEILING, max_cpu_percent=90, allow_tools=False))
    with pytest.raises(Forbidden) as refused:
        policy.limits(None, Wishes(**wished))
    assert setting in (refused.value.hint or "")
