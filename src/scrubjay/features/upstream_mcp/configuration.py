"""Configuration of a skill, and the policy that limits it."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Variables that `${NAME}` in a value may use; the settings may add more.
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
    """Limits of one command: its arguments and the duration of a call."""

    max_args: int
    call_seconds: float
    refused: re.Pattern[str] | None = None
    """Arguments refused for this command, in addition to those refused for all."""
    mounts: bool = False
    """True if its arguments can mount folders of the host."""


# Code in an argument would run without a file that can be reviewed; `npx -c` passes its argument to a shell.
# One-letter options can be combined, the last one with its value; npx also accepts abbreviated long options.
_INLINE_NODE = re.compile(r"-[a-zA-Z]*[ep]|--eval\b.*|--print\b.*|(?:--[a-z-]+=)?data:.*", re.I)
_INLINE_PYTHON = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*c.*")
_INLINE_NPX = re.compile(r"-[a-zA-Z]*c(?:=.*)?|--call?(?:=.*)?")
# A bare `host` is refused only as the value of one of these options.
_DOCKER_ESCAPE = re.compile(
    r"--(?:net|network|pid|ipc|uts|userns|cgroupns)=host|host|--(?:privileged|cap-add|device|security-opt)\b.*"
)

COMMANDS: Mapping[str, CommandLimits] = {
    "npx": CommandLimits(20, 120, _INLINE_NPX),
    "docker": CommandLimits(30, 300, _DOCKER_ESCAPE, mounts=True),
    "node": CommandLimits(10, 60, _INLINE_NODE),
    "python": CommandLimits(10, 60, _INLINE_PYTHON),
    "python3": CommandLimits(10, 60, _INLINE_PYTHON),
}
# For commands that the settings add.
OTHER_COMMANDS = CommandLimits(30, 60)
HTTP_CALL_SECONDS = 60.0


# Variables by which the linker, an interpreter or a package manager runs other code than the command names.
_CODE_VARIABLE = re.compile(
    r"LD_.*|DYLD_.*|GCONV_PATH|OPENSSL_(?:CONF|MODULES|ENGINES)|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|IFS|PS4"
    r"|PROMPT_COMMAND|PERL5.*|RUBY(?:OPT|LIB)"
    r"|PYTHON(?:STARTUP|HOME|INSPECT|BREAKPOINT|USERBASE|PLATLIBDIR|EXECUTABLE|WARNINGS)|NODE_OPTIONS"
    r"|(?:JAVA|JDK)_.*OPTIONS|_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|NPM_CONFIG_(?:NODE_OPTIONS|SCRIPT_SHELL|SHELL|PREFIX"
    r"|GLOBALCONFIG|USERCONFIG)|GIT_(?:SSH|EXEC|EXTERNAL|PAGER|EDITOR|CONFIG).*|DOCKER_(?:CONFIG|CLI_PLUGIN.*)"
)
# Folders of modules, for the commands whose arguments can name any file anyway.
_MODULE_FOLDERS = {"PYTHONPATH": ("python", "python3"), "NODE_PATH": ("node", "npx")}


def runs_other_code(command: str, variable: str) -> bool:
    """Return whether this variable makes the command run code that neither it nor its arguments name."""
    if (commands := _MODULE_FOLDERS.get(variable)) is not None:
        return command not in commands
    return _CODE_VARIABLE.fullmatch(variable) is not None


@dataclass(frozen=True, slots=True)
class SkillPolicy:
    """Commands and variables that the owner allows."""

    commands: Mapping[str, CommandLimits] = field(default_factory=lambda: COMMANDS)
    variables: frozenset[str] = VARIABLES


@dataclass(frozen=True, slots=True)
class CommandSkill:
    """A program that serves MCP over stdio."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    call_seconds: float

    def environment(self, ours: Mapping[str, str]) -> dict[str, str]:
        """Return the program's whole environment: its configured variables, PATH, HOME and LANG.

        A configured PATH is appended to ours, so that it cannot replace the programs that the command itself starts.
        """
        path = clean_path(ours.get("PATH", ""))
        given = {name: interpolate(value, ours) for name, value in self.env.items()}
        if "PATH" in given:
            folders = [*path.split(":"), *clean_path(given.pop("PATH")).split(":")]
            path = ":".join(dict.fromkeys(folders))
        return {"PATH": path, "HOME": ours.get("HOME", "/"), "LANG": "C.UTF-8", **given}

    def program(self, ours: Mapping[str, str]) -> str:
        """Return the path of the command in our own PATH; the configured variables cannot choose another program."""
        found = shutil.which(self.command, path=clean_path(ours.get("PATH", "")))
        if found is None:
            raise FileNotFoundError(f"{self.command} cannot be started: it is not in the PATH of the server")
        return found


@dataclass(frozen=True, slots=True)
class HttpSkill:
    """A server that offers MCP over Streamable HTTP."""

    url: str
    headers: Mapping[str, str]
    call_seconds: float = HTTP_CALL_SECONDS

    def sent_headers(self, ours: Mapping[str, str]) -> dict[str, str]:
        return {name: interpolate(value, ours) for name, value in self.headers.items()}


SkillConfig = CommandSkill | HttpSkill


def interpolate(value: str, variables: Mapping[str, str]) -> str:
    """Replace each `${NAME}` in the value; unset variables become empty."""
    return INTERPOLATION.sub(lambda match: variables.get(match[1], ""), value)


def config_hash(raw: Any) -> str:
    """Return a digest that identifies this configuration."""
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:32]


def clean_path(path: str) -> str:
    """Drop empty and relative entries, which would run programs from the server's working folder."""
    return ":".join(part for part in path.split(":") if part.startswith("/")) or FALLBACK_PATH
