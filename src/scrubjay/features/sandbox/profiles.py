"""Limits of a run: the three profiles, overrides by the caller, and the maximum that the server owner allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from scrubjay.core.errors import Forbidden

ProfileName = Literal["restrictive", "default", "permissive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Resource limits and permissions of one run."""

    max_execution_time_ms: int
    max_memory_mb: int
    max_cpu_percent: int
    """Share of one CPU core, enforced after the first 250 ms."""
    allow_filesystem: bool = False
    """Allow reading files in the folders that the owner permits."""
    allowed_paths: Sequence[str] | None = None
    """Restrict reading to these folders; None for all permitted ones."""
    allow_tools: bool = True
    """Allow calling tools, with the rights of the caller."""


PROFILES: Final[Mapping[ProfileName, RunLimits]] = {
    "restrictive": RunLimits(max_execution_time_ms=3_000, max_memory_mb=64, max_cpu_percent=30, allow_tools=False),
    "default": RunLimits(max_execution_time_ms=5_000, max_memory_mb=128, max_cpu_percent=50),
    "permissive": RunLimits(max_execution_time_ms=10_000, max_memory_mb=256, max_cpu_percent=80, allow_filesystem=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOverrides:
    """Limits that a caller sets instead of those of the profile; None keeps the profile's."""

    max_execution_time_ms: int | None = None
    max_memory_mb: int | None = None
    max_cpu_percent: int | None = None
    allow_filesystem: bool | None = None
    allow_tools: bool | None = None
    allow_network: bool = False
    allow_subprocesses: bool = False
    allowed_paths: Sequence[str] | None = None
    """Restrict reading to these folders, which must lie in the permitted ones."""


@dataclass(frozen=True, slots=True)
class LimitPolicy:
    """The default profile and the maximum limits that the owner set."""

    default_profile: ProfileName
    ceiling: RunLimits

    def limits(self, profile: ProfileName | None, overrides: LimitOverrides) -> RunLimits:
        """Return the limits of a run.

        A profile is capped at the ceiling. An override above the ceiling raises `Forbidden`.
        """
        for name in ("allow_network", "allow_subprocesses"):
            if getattr(overrides, name):
                raise Forbidden(
                    f"{name} is not supported: sandboxed programs have no network and start no processes",
                    hint="call a tool for it, from the program or directly",
                )
        limits = _capped(PROFILES[profile or self.default_profile], self.ceiling)
        for name in ("max_execution_time_ms", "max_memory_mb", "max_cpu_percent", "allow_filesystem", "allow_tools"):
            requested = getattr(overrides, name)
            if requested is None:
                continue
            maximum = getattr(self.ceiling, name)
            if requested > maximum:
                raise Forbidden(
                    f"{name} is limited to {_format(maximum)} on this server",
                    hint=f"request less, or ask the server owner to set SCRUBJAY_SANDBOX_{_setting(name)}",
                )
            limits = replace(limits, **{name: requested})
        return replace(limits, allowed_paths=overrides.allowed_paths)


def _capped(limits: RunLimits, ceiling: RunLimits) -> RunLimits:
    names = ("max_execution_time_ms", "max_memory_mb", "max_cpu_percent", "allow_filesystem", "allow_tools")
    return replace(limits, **{name: min(getattr(limits, name), getattr(ceiling, name)) for name in names})


def _format(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _setting(name: str) -> str:
    return {"allow_filesystem": "ALLOWED_PATHS", "allow_tools": "TOOLS"}.get(name, name.upper())
