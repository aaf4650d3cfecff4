"""What a skill is made of, and what the owner allows of it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# What `${NAME}` in a value may name; the settings may name more.
VARIABLES = frozenset(
    {
        *("HOME", "PATH", "NODE_PATH", "PYTHONPATH", "MEMORY_PATH", "DATA_DIR", "CONFIG_DIR"),
        *("EXA_API_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"),
        *("BRAVE_API_KEY", "TAVILY_API_KEY"),
    }
)
INTERPOLATION = re.compile(r"\$\{([^}]*)\}")
FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """What one command may be given, and how long one of its calls may take."""

    max_args: int
    call_seconds: float
    refused: re.Pattern[str] | None = None
    """Arguments that this command must not be given, beside those that none is."""
    mounts: bool = False
    """Whether it can be given folders of the machine."""


# Code that comes as an argument runs without anybody having read a file; `npx -c` gives its argument to a shell.
# Options of one letter can stand together, the last with its value; npx also takes the beginning of a long one.
_INLINE_NODE = re.compile(r"-[a-zA-Z]*[ep]|--eval\b.*|--print\b.*|(?:--[a-z-]+=)?data:.*", re.I)
_INLINE_PYTHON = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*c.*")
_INLINE_NPX = re.compile(r"-[a-zA-Z]*c(?:=.*)?|--call?(?:=.*)?")
# `host` is refused only as the value of one of these options.
_OUT_OF_THE_CONTAINER = re.compile(
    r"--(?:net|network|pid|ipc|uts|userns|cgroupns)=host|host|--(?:privileged|cap-add|device|security-opt)\b.*"
)

COMMANDS: Mapping[str, CommandLimits] = {
    "npx": CommandLimits(20, 120, _INLINE_NPX),
    "docker": CommandLimits(30, 300, _OUT_OF_THE_CONTAINER, mounts=True),
    "node": CommandLimits(10, 60, _INLINE_NODE),
    "python": CommandLimits(10, 60, _INLINE_PYTHON),
    "python3": CommandLimits(10, 60, _INLINE_PYTHON),
}
# Of commands that only the settings allow.
OTHER_COMMANDS = CommandLimits(30, 60)
HTTP_CALL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What the owner allows."""

    commands: Mapping[str, CommandLimits] = field(default_factory=lambda: COMMANDS)
    variables: frozenset[str] = VARIABLES


@dataclass(frozen=True, slots=True)
class CommandSkill:
    """A program that speaks MCP over its standard input and output."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    call_seconds: float

    def environment(self, ours: Mapping[str, str]) -> dict[str, str]:
        """Everything that the program sees: what is named, and where programs and its home are."""
        clean = {"PATH": clean_path(ours.get("PATH", "")), "HOME": ours.get("HOME", "/"), "LANG": "C.UTF-8"}
        return clean | {name: interpolated(value, ours) for name, value in self.env.items()}


@dataclass(frozen=True, slots=True)
class HttpSkill:
    """A server that speaks MCP over Streamable HTTP."""

    url: str
    headers: Mapping[str, str]
    call_seconds: float = HTTP_CALL_SECONDS

    def sent_headers(self, ours: Mapping[str, str]) -> dict[str, str]:
        return {name: interpolated(value, ours) for name, value in self.headers.items()}


SkillConfig = CommandSkill | HttpSkill


def interpolated(value: str, variables: Mapping[str, str]) -> str:
    """The value with its `${NAME}`s filled in; one that is not set is empty."""
    return INTERPOLATION.sub(lambda match: variables.get(match[1], ""), value)


def config_hash(raw: Any) -> str:
    """Differs whenever the configuration does."""
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:32]


def clean_path(path: str) -> str:
    """Only whole paths: an empty or relative one would run whatever lies in the folder where the server stands."""
    return ":".join(part for part in path.split(":") if part.startswith("/")) or FALLBACK_PATH
