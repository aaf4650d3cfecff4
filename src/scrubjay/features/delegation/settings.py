"""Settings of the coding agent."""

from typing import Literal

from pydantic import BaseModel, Field


class DelegationSettings(BaseModel):
    """A coding agent on this machine that takes tasks and questions."""

    command: str = Field(
        default="claude",
        min_length=1,
        max_length=1000,
        description="Program of the agent: a name in PATH, or an absolute path. Callers cannot choose another.",
    )
    arguments: list[str] = Field(default_factory=list[str], description="Arguments of every run.")
    print_arguments: list[str] = Field(
        default=["--print"],
        description="Additional arguments with which it answers one question from standard input and exits.",
    )
    allow: Literal["none", "local", "keys", "all"] = Field(
        default="local",
        description="Callers that may use the agent if they may also run commands. none: no caller. local: users of "
        "this machine. keys: also network callers with a key. all: every caller. The agent has all rights of the "
        "server's user.",
    )
    in_chat: bool = Field(
        default=False,
        description="Let the chat's language model give tasks to the agent. Text that the model reads could trigger "
        "this (prompt injection).",
    )
    max_agents: int = Field(default=4, ge=0, le=100, description="Maximum number of agents that run at once.")
    memory_bytes: int = Field(
        default=8 * 1024**3, ge=64 * 1024**2, description="Maximum memory of each agent, in bytes (Linux)."
    )
    variables: list[str] = Field(
        default_factory=list[str],
        description="Environment variables passed to the agent, such as ANTHROPIC_API_KEY, besides PATH, HOME, USER "
        "and LANG.",
    )
