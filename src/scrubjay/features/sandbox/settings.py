"""Settings of the sandbox."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, field_validator

from scrubjay.core.paths import absolute_path


class SandboxSettings(BaseModel):
    """Execution of agent code."""

    enabled: bool = Field(default=True, description="Enable the tool that runs agent code.")
    profile: Literal["restrictive", "default", "permissive"] = Field(
        default="default", description="The limits of a program whose caller names no profile."
    )
    max_execution_time_ms: int = Field(
        default=10_000,
        ge=1,
        le=600_000,
        description="Maximum run time of a program, in milliseconds. Requests for more are refused.",
    )
    max_memory_mb: int = Field(
        default=256,
        ge=8,
        le=4_000,
        description="Maximum memory of a program, in megabytes. Requests for more are refused.",
    )
    max_cpu_percent: int = Field(
        default=100, ge=1, le=100, description="Maximum share of one CPU core that a program may use."
    )
    tools: bool = Field(default=True, description="Allow programs to call tools, with the rights of their callers.")
    allowed_paths: list[Path] = Field(
        default_factory=list[Path],
        description="Folders whose files programs may read if their profile or config allows it. Default: none.",
    )
    slots: int | None = Field(
        default=None, ge=1, le=100, description="Programs that run at once. Default: two per CPU core, at most 20."
    )

    @field_validator("allowed_paths")
    @classmethod
    def _absolute_paths(cls, paths: list[Path]) -> list[Path]:
        return [absolute_path(path) or path for path in paths]
