"""The configuration files of each coding agent, and the format of Scrubjay's entry in them."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

NAME = "scrubjay"
Scope = Literal["user", "project"]
AGENTS = ("claude-code", "codex", "gemini", "vscode", "cursor")
# Events of Claude Code, each with the hook of ours that handles it and the matcher (tools, or kinds of session start).
HOOKS = {
    "SessionStart": ("session-start", "startup|resume|clear|compact|fork"),
    "UserPromptSubmit": ("user-prompt-submit", None),
    "PreToolUse": ("permission", "*"),
    "PostToolUse": ("post-tool-use", "*"),
    "Stop": ("stop", None),
}
HOOK_SECONDS = 5
HOME_VARIABLE = "SCRUBJAY_HOME"
# Fields of an entry that we write. All others belong to the owner or to the agent.
OWN_FIELDS = frozenset({"type", "command", "args", "env", "url", "headers", "bearer_token_env_var"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A requested installation: the agent, the scope, and how the agent reaches Scrubjay."""

    agent: str
    scope: Scope
    folder: Path
    """Folder of the project."""
    program: Sequence[str]
    """Command that starts `scrubjay`."""
    home: str | None = None
    """Folder of the store; None for the default one."""
    url: str | None = None
    """URL of a running server; None to let the agent start one over standard input and output."""
    key_env: str | None = None
    """Environment variable that holds the key of that server."""
    hooks: bool = False


def configuration_file(installation: Installation, environment: Mapping[str, str]) -> Path:
    """Return the file that lists the agent's MCP servers."""
    user = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111
    xdg = Path(environment.get("XDG_CONFIG_HOME") or user / ".config")
    claude = environment.get("CLAUDE_CONFIG_DIR")
    if installation.scope == "project":
        files = {
            "claude-code": ".mcp.json",
            "codex": ".codex/config.toml",
            "gemini": ".gemini/settings.json",
            "vscode": ".vscode/mcp.json",
            "cursor": ".cursor/mcp.json",
        }
        return installation.folder / files[installation.agent]
    return {
        "claude-code": Path(claude) / ".claude.json" if claude else user / ".claude.json",
        "codex": Path(environment.get("CODEX_HOME") or user / ".codex") / "config.toml",
        "gemini": Path(environment.get("GEMINI_CLI_HOME") or user) / ".gemini" / "settings.json",
        "vscode": xdg / "Code" / "User" / "mcp.json",
        "cursor": user / ".cursor" / "mcp.json",
    }[installation.agent]


def hooks_file(installation: Installation, environment: Mapping[str, str]) -> Path:
    """Return the file that lists Claude Code's hooks."""
    if installation.scope == "project":
        return installation.folder / ".claude" / "settings.json"
    claude = environment.get("CLAUDE_CONFIG_DIR")
    user = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111
    return (Path(claude) if claude else user / ".claude") / "settings.json"


def servers_key(agent: str) -> str:
    """Return the key under which the agent lists its servers."""
    return {"vscode": "servers", "codex": "mcp_servers"}.get(agent, "mcpServers")


def server_entry(installation: Installation) -> dict[str, Any]:
    """Return our server in the agent's format. It names the variable that holds the key, never the key itself."""
    if installation.url is not None:
        return _http_entry(installation, installation.url)
    program, *arguments = installation.program
    entry: dict[str, Any] = {"command": program, "args": [*arguments, "mcp", *_project_option(installation)]}
    if installation.agent in ("claude-code", "vscode"):
        entry = {"type": "stdio", **entry}
    if installation.home is not None:
        entry["env"] = {HOME_VARIABLE: installation.home}
    return entry


def _http_entry(installation: Installation, url: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"url": url}
    if installation.agent in ("claude-code", "gemini", "vscode"):
        entry = {"type": "http", **entry}
    if installation.key_env is None:
        return entry
    if installation.agent == "codex":
        return {**entry, "bearer_token_env_var": installation.key_env}
    reference = {"vscode": "${env:%s}", "cursor": "${env:%s}"}.get(installation.agent, "${%s}") % installation.key_env
    return {**entry, "headers": {"Authorization": f"Bearer {reference}"}}


def _project_option(installation: Installation) -> list[str]:
    """Return the option that names the project: terminal agents start the server there, editors fill in the folder."""
    if installation.agent in ("vscode", "cursor"):
        return ["--project", "${workspaceFolder}"] if installation.scope == "project" else []
    return ["--project", "."]


def hook_groups(installation: Installation) -> dict[str, dict[str, Any]]:
    """Return our hooks by event of Claude Code: each starts a command, or calls a server."""
    groups: dict[str, dict[str, Any]] = {}
    for agent_event, (event, matcher) in HOOKS.items():
        handler: dict[str, Any]
        if installation.url is not None:
            url = f"{_base_url(installation.url)}/v1/hooks/{event}"
            handler = {"type": "http", "url": url, "timeout": HOOK_SECONDS}
            if installation.key_env is not None:
                handler["headers"] = {"Authorization": f"Bearer ${installation.key_env}"}
                handler["allowedEnvVars"] = [installation.key_env]
        else:
            home = ["--home", installation.home] if installation.home is not None else []
            command = shlex.join([*installation.program, "hook", event, *home])
            handler = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
            if event == "post-tool-use":
                handler["async"] = True
        groups[agent_event] = {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    return groups


def was_installed(entry: Any, installation: Installation) -> bool:
    """Return True for an entry that starts Scrubjay as `install` writes it: by an absolute path."""
    if not isinstance(entry, dict):
        return False
    command, arguments = entry.get("command"), entry.get("args")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(command, str) or not isinstance(arguments, list) or not Path(command).is_absolute():
        return False
    return arguments in (  # pyright: ignore[reportUnknownVariableType]
        [*program, "mcp", *_project_option(installation)] for program in ([], ["-m", "scrubjay.app"])
    )


def merge_entry(present: Any, ours: dict[str, Any]) -> dict[str, Any]:
    """Return our entry with the fields and variables that the owner or the agent added to the present one."""
    if not isinstance(present, dict):
        return ours
    theirs: dict[str, Any] = {name: value for name, value in present.items() if name not in OWN_FIELDS}  # pyright: ignore[reportUnknownVariableType]
    variables: Any = present.get("env")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if "command" in ours and isinstance(variables, dict):
        kept = {name: value for name, value in variables.items() if name != HOME_VARIABLE}  # pyright: ignore[reportUnknownVariableType]
        if kept or "env" in ours:
            ours = {**ours, "env": {**ours.get("env", {}), **kept}}
    return {**ours, **theirs}


def own_handler_indexes(group: Any) -> list[int]:
    """Return the indexes of our hooks in a group, whichever version of Scrubjay wrote them."""
    handlers = group.get("hooks") if isinstance(group, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(handlers, list):
        return []
    return [index for index, handler in enumerate(handlers) if _is_own_handler(handler)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _is_own_handler(handler: Any) -> bool:
    if not isinstance(handler, dict):
        return False
    events = {event for event, _ in HOOKS.values()}
    url, command = str(handler.get("url", "")), str(handler.get("command", ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    if url:
        return any(url.endswith(f"/v1/hooks/{event}") for event in events)
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return NAME in command and any(pair in {("hook", event) for event in events} for pair in pairwise(words))


def _base_url(url: str) -> str:
    return url.rstrip("/").removesuffix("/mcp")
