"""What a program may use: the three profiles, settings of one's own, and what the server's owner allows at most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from scrubjay.core.errors import Forbidden

ProfileName = Literal["restrictive", "default", "permissive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use of the machine."""

    max_execution_time_ms: int
    max_memory_mb: int
    max_cpu_percent: int
    """Of one processor, after the first quarter of a second."""
    allow_filesystem: bool = False
    """Whether it may read files in the folders that the owner opened."""
    allowed_paths: Sequence[str] | None = None
    """Of these only some; None for all."""
    allow_tools: bool = True
    """Whether it may call tools, with the rights of whoever runs it."""


PROFILES: Final[Mapping[ProfileName, Limits]] = {
    "restrictive": Limits(max_execution_time_ms=3_000, max_memory_mb=64, max_cpu_percent=30, allow_tools=False),
    "default": Limits(max_execution_time_ms=5_000, max_memory_mb=128, max_cpu_percent=50),
    "permissive": Limits(max_execution_time_ms=10_000, max_memory_mb=256, max_cpu_percent=80, allow_filesystem=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a caller wants otherwise than the profile has it."""

    max_execution_time_ms: int | None = None
    max_memory_mb: int | None = None
    max_cpu_percent: int | None = None
    allow_filesystem: bool | None = None
    allow_tools: bool | None = None
    allow_network: bool = False
    allow_subprocesses: bool = False
    allowed_paths: Sequence[str] | None = None
    """Of the folders that the owner opened only these, or parts of them."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the owner decided: the profile of who names none, and what nobody gets more of."""

    usual: ProfileName
    ceiling: Limits

    def limits(self, profile: ProfileName | None, wishes: Wishes) -> Limits:
        """What a run gets. More than the owner allows is refused when it is asked for, and is not in a profile."""
        for name in ("allow_network", "allow_subprocesses"):
            if getattr(wishes, name):
                raise Forbidden(
                    f"{name} is never given: a program in the sandbox has no network and starts no other",
                    hint="call a tool that does it, from the program or beside it",
                )
        limits = _lesser(PROFILES[profile or self.usual], self.ceiling)
        for name in ("max_execution_time_ms", "max_memory_mb", "max_cpu_percent", "allow_filesystem", "allow_tools"):
            wished = getattr(wishes, name)
            if wished is None:
                continue
            most = getattr(self.ceiling, name)
            if wished > most:
                raise Forbidden(
                    f"{name} is {_told(most)} at most on this server",
                    hint=f"ask for less, or have the owner set SCRUBJAY_SANDBOX_{_setting(name)}",
                )
            limits = replace(limits, **{name: wished})
        return replace(limits, allowed_paths=wishes.allowed_paths)


def _lesser(one: Limits, other: Limits) -> Limits:
    names = ("max_execution_time_ms", "max_memory_mb", "max_cpu_percent", "allow_filesystem", "allow_tools")
    return replace(one, **{name: min(getattr(one, name), getattr(other, name)) for name in names})


def _told(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _setting(name: str) -> str:
    return {"allow_filesystem": "ALLOWED_PATHS", "allow_tools": "TOOLS"}.get(name, name.upper())
