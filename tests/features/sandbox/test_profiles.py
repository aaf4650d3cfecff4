"""Profiles, overrides by callers, and the ceiling of the owner. Numbers are rows of the feature table."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from scrubjay.core.errors import Forbidden
from scrubjay.features.sandbox.profiles import PROFILES, LimitOverrides, LimitPolicy, RunLimits

CEILING = RunLimits(max_execution_time_ms=10_000, max_memory_mb=256, max_cpu_percent=100)


def test_121_the_three_profiles_have_the_documented_limits() -> None:
    limits = [
        (profile.max_execution_time_ms, profile.max_memory_mb, profile.max_cpu_percent) for profile in PROFILES.values()
    ]
    assert dict(zip(PROFILES, limits, strict=True)) == {
        "restrictive": (3_000, 64, 30),
        "default": (5_000, 128, 50),
        "permissive": (10_000, 256, 80),
    }
    assert [profile.allow_filesystem for profile in PROFILES.values()] == [False, False, True]


def test_121_the_owner_chooses_the_default_profile() -> None:
    assert LimitPolicy("restrictive", CEILING).limits(None, LimitOverrides()) == PROFILES["restrictive"]
    assert LimitPolicy("default", CEILING).limits(None, LimitOverrides()) == PROFILES["default"]


def test_121_a_profile_is_capped_at_the_ceiling() -> None:
    limits = LimitPolicy("default", replace(CEILING, max_memory_mb=100, allow_tools=False)).limits(
        "permissive", LimitOverrides()
    )
    assert (limits.max_memory_mb, limits.allow_tools, limits.allow_filesystem) == (100, False, False)


def test_121_an_override_replaces_only_its_own_limit() -> None:
    policy = LimitPolicy("default", replace(CEILING, allow_filesystem=True))
    limits = policy.limits("restrictive", LimitOverrides(max_execution_time_ms=9_000, allow_filesystem=True))
    expected = replace(PROFILES["restrictive"], max_execution_time_ms=9_000, allow_filesystem=True)
    assert asdict(limits) == asdict(expected)


@pytest.mark.parametrize(
    ("requested", "setting"),
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
def test_121_an_override_above_the_ceiling_is_refused(requested: dict[str, Any], setting: str) -> None:
    policy = LimitPolicy("default", replace(CEILING, max_cpu_percent=90, allow_tools=False))
    with pytest.raises(Forbidden) as refused:
        policy.limits(None, LimitOverrides(**requested))
    assert setting in (refused.value.hint or "")
