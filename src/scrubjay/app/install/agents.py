"""Where each agent's program has its configuration, and what ours looks like in it."""

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
# Claude Code's moments, which of our hooks heeds each, and for which tools or beginnings.
HOOKS = {
    "SessionStart": ("session-start", "startup|resume|clear|compact|fork"),
    "UserPromptSubmit": ("user-prompt-submit", None),
    "PreToolUse": ("permission", "*"),
    "PostToolUse": ("post-tool-use", "*"),
    "Stop": ("stop", None),
}
HOOK_SECONDS = 5
HOME_VARIABLE = "SCRUBJAY_HOME"
# What we write into an entry. Whatever else is there is the owner's, or the agent's.
OWN_FIELDS = frozenset({"type", "command", "args", "env", "url", "headers", "bearer_token_env_var"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be installed."""

    agent: str
    scope: Scope
    folder: Path
    """The project's."""
    program: Sequence[str]
    """What starts `scrubjay`."""
    home: str | None = None
    """The store's folder, when it is not the usual one."""
    url: str | None = None
    key_env: str | None = None
    hooks: bool = False


def configuration_file(wish: Wish, environment: Mapping[str, str]) -> Path:
    """The file that has the agent's MCP servers."""
    user = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111
    xdg = Path(environment.get("XDG_CONFIG_HOME") or user / ".config")
    claude = environment.get("CLAUDE_CONFIG_DIR")
    if wish.scope == "project":
        inside = {
            "claude-code": ".mcp.json",
            "codex": ".codex/config.toml",
            "gemini": ".gemini/settings.json",
            "vscode": ".vscode/mcp.json",
            "cursor": ".cursor/mcp.json",
        }
        return wish.folder / inside[wish.agent]
    return {
        "claude-code": Path(claude) / ".claude.json" if claude else user / ".claude.json",
        "codex": Path(environment.get("CODEX_HOME") or user / ".codex") / "config.toml",
        "gemini": Path(environment.get("GEMINI_CLI_HOME") or user) / ".gemini" / "settings.json",
        "vscode": xdg / "Code" / "User" / "mcp.json",
        "cursor": user / ".cursor" / "mcp.json",
    }[wish.agent]


def hooks_file(wish: Wish, environment: Mapping[str, str]) -> Path:
    """The file that has Claude Code's hooks."""
    if wish.scope == "project":
        return wish.folder / ".claude" / "settings.json"
    claude = environment.get("CLAUDE_CONFIG_DIR")
    user = Path(environment.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111
    return (Path(claude) if claude else user / ".claude") / "settings.json"


def servers_name(agent: str) -> str:
    """What the agent calls its list of servers."""
    return {"vscode": "servers", "codex": "mcp_servers"}.get(agent, "mcpServers")


def entry(wish: Wish) -> dict[str, Any]:
    """Our server as the agent writes it. A key is only ever named, by the variable that holds it."""
    if wish.url is not None:
        return _http_entry(wish, wish.url)
    program, *arguments = wish.program
    made: dict[str, Any] = {"command": program, "args": [*arguments, "mcp", *_project(wish)]}
    if wish.agent in ("claude-code", "vscode"):
        made = {"type": "stdio", **made}
    if wish.home is not None:
        made["env"] = {HOME_VARIABLE: wish.home}
    return made


def _http_entry(wish: Wish, url: str) -> dict[str, Any]:
    made: dict[str, Any] = {"url": url}
    if wish.agent in ("claude-code", "gemini", "vscode"):
        made = {"type": "http", **made}
    if wish.key_env is None:
        return made
    if wish.agent == "codex":
        return {**made, "bearer_token_env_var": wish.key_env}
    named = {"vscode": "${env:%s}", "cursor": "${env:%s}"}.get(wish.agent, "${%s}") % wish.key_env
    return {**made, "headers": {"Authorization": f"Bearer {named}"}}


def _project(wish: Wish) -> list[str]:
    """How the server is told the project: programs of the command line start it there, editors name its folder."""
    if wish.agent in ("vscode", "cursor"):
        return ["--project", "${workspaceFolder}"] if wish.scope == "project" else []
    return ["--project", "."]


def hook_groups(wish: Wish) -> dict[str, dict[str, Any]]:
    """For each of Claude Code's moments what it shall do: start a command, or ask a server."""
    groups: dict[str, dict[str, Any]] = {}
    for moment, (event, matcher) in HOOKS.items():
        handler: dict[str, Any]
        if wish.url is not None:
            handler = {"type": "http", "url": f"{_root(wish.url)}/v1/hooks/{event}", "timeout": HOOK_SECONDS}
            if wish.key_env is not None:
                handler["headers"] = {"Authorization": f"Bearer ${wish.key_env}"}
                handler["allowedEnvVars"] = [wish.key_env]
        else:
            home = ["--home", wish.home] if wish.home is not None else []
            command = shlex.join([*wish.program, "hook", event, *home])
            handler = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
            if event == "post-tool-use":
                handler["async"] = True
        groups[moment] = {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    return groups


def merged(present: Any, ours: dict[str, Any]) -> dict[str, Any]:
    """Our entry with what the owner or the agent wrote beside: that it is trusted, how long it may take, variables."""
    if not isinstance(present, dict):
        return ours
    theirs: dict[str, Any] = {name: value for name, value in present.items() if name not in OWN_FIELDS}  # pyright: ignore[reportUnknownVariableType]
    variables: Any = present.get("env")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if "command" in ours and isinstance(variables, dict):
        kept = {name: value for name, value in variables.items() if name != HOME_VARIABLE}  # pyright: ignore[reportUnknownVariableType]
        if kept or "env" in ours:
            ours = {**ours, "env": {**ours.get("env", {}), **kept}}
    return {**ours, **theirs}


def our_handlers(group: Any) -> list[int]:
    """Which of a group's hooks are ours, whatever version of us wrote them."""
    handlers = group.get("hooks") if isinstance(group, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(handlers, list):
        return []
    return [place for place, handler in enumerate(handlers) if _is_our_handler(handler)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _is_our_handler(handler: Any) -> bool:
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


def _root(url: str) -> str:
    return url.rstrip("/").removesuffix("/mcp")
