"""Settings of hooks and permission rules."""

from pydantic import BaseModel, Field


class HookSettings(BaseModel):
    """Hooks of coding agents, and their permission rules."""

    callers_may_allow: bool = Field(
        default=False,
        description="Let callers of every surface add permission rules that allow, and remove rules that deny or ask. "
        "By default only the owner may, on the command line, so that an agent cannot widen its own permissions.",
    )
    keep_turns: bool = Field(
        default=True, description="Store the prompts and responses of agents as turns, with secrets masked."
    )
    brief_tokens: int = Field(
        default=600, ge=50, le=10_000, description="Maximum tokens of context injected when a session starts."
    )
    prompt_tokens: int = Field(
        default=400, ge=0, le=10_000, description="Maximum tokens of context added to a prompt; 0 adds none."
    )
    server_ms: int = Field(
        default=60,
        ge=1,
        le=1_500,
        description="Milliseconds that the hook command waits for a running server before it reads the store itself. "
        "If not set, it waits less, down to 20 ms, when its own start was slow.",
    )
