"""Settings of files, commands and the web."""

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr, field_validator

from scrubjay.core.paths import absolute_path


class FileSettings(BaseModel):
    """File access of callers."""

    enabled: bool = Field(default=True, description="Enable the tool for files.")
    root: Path | None = Field(
        default=None,
        description="Root folder of files and commands. Default: the folder that the server was started in, unless "
        "that is /.",
    )
    max_bytes: int = Field(
        default=10 * 1024 * 1024,
        ge=1,
        le=1024**3,
        description="Largest file that is read or written, and the total that one call reads, in bytes.",
    )
    search_seconds: float = Field(
        default=10,
        gt=0,
        le=600,
        description="Time limit of a search in files, in seconds. Matches found until then are returned.",
    )

    @field_validator("root")
    @classmethod
    def _absolute_path(cls, path: Path | None) -> Path | None:
        return absolute_path(path)


class TerminalSettings(BaseModel):
    """Command execution."""

    enabled: bool = Field(default=True, description="Enable the tool for commands.")
    unrestricted: bool = Field(
        default=False,
        description="Allow callers to run any command with `restricted: false`, with all rights of the server's user. "
        "Otherwise only allowlisted programs run, with read-only arguments.",
    )
    max_sessions: int = Field(
        default=10, ge=0, le=1000, description="Maximum number of programs that keep running between calls."
    )
    max_output_bytes: int = Field(
        default=1024 * 1024, ge=1024, le=1024**3, description="Maximum output of a program that is kept, in bytes."
    )
    memory_bytes: int = Field(
        default=2 * 1024**3, ge=64 * 1024**2, description="Memory limit of each program, in bytes (Linux)."
    )
    file_bytes: int = Field(default=100 * 1024**2, ge=0, description="Largest file that a program may write, in bytes.")
    variables: list[str] = Field(
        default_factory=list[str],
        description="Environment variables passed to programs, besides PATH, HOME, LANG, TZ and similar.",
    )


class WebSettings(BaseModel):
    """Web access of callers."""

    enabled: bool = Field(default=True, description="Enable the tools for the web.")
    allowed_hosts: list[str] = Field(
        default_factory=list[str],
        description="Non-public hosts that may be fetched from, such as `localhost` or `localhost:8080`.",
    )
    max_bytes: int = Field(
        default=5 * 1024 * 1024,
        ge=1024,
        le=1024**3,
        description="Maximum size of a response body, in bytes. The rest is cut off.",
    )
    search_url: str = Field(
        default="https://api.exa.ai", description="Base URL of the search service, without `/search`."
    )
    search_key: SecretStr | None = Field(
        default=None, description="API key of the search service. Default: the environment variable EXA_API_KEY."
    )
