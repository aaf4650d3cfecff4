"""Settings of upstream MCP servers."""

from pathlib import Path

from pydantic import BaseModel, Field


class SkillSettings(BaseModel):
    """Other MCP servers whose tools this server offers."""

    file: Path = Field(
        default=Path("skills.json"),
        description="Configuration file of the skills; a relative path starts at the home folder.",
    )
    commands: list[str] = Field(
        default_factory=list[str],
        description="Commands that may start skills, besides npx, docker, node, python and python3.",
    )
    variables: list[str] = Field(
        default_factory=list[str],
        description="Variables that `${NAME}` in skills.json may use, besides the default ones.",
    )
    max_processes: int = Field(
        default=10,
        ge=1,
        le=100,
        description="Maximum number of running skills; the least recently used one is stopped.",
    )
    memory_bytes: int = Field(
        default=2 * 1024**3, ge=64 * 1024**2, description="Maximum memory of each process of a skill, in bytes (Linux)."
    )
    pause_seconds: float = Field(
        default=30, ge=0, le=3600, description="Seconds that a skill is paused after too many failures."
    )
