"""Which tool answers at which address under `/api`, and how what is given and what is answered is shaped."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scrubjay.compat.mira.event_wire import Json

Shape = Callable[[Json, Json], Any]
"""What is told, of the tool's arguments and its answer."""


def _all(arguments: Json, answer: Json) -> Any:
    return answer


def _field(name: str) -> Shape:
    def shape(arguments: Json, answer: Json) -> Any:
        return answer[name]

    return shape


def _made(arguments: Json, answer: Json) -> Any:
    """The one thing that was made or changed, or all of the answer when something else was asked for."""
    return next((value for value in answer.values() if _is_object(value)), answer)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _version(arguments: Json, answer: Json) -> Any:
    """Of all that a memory was and is, the one that was asked for."""
    return next((one for one in answer["versions"] if one["id"] == arguments["id"]), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One method of one address. It is there when the tool is: nothing stands in for one that is not."""

    method: str
    path: str
    tool: str
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that the address itself gives."""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments unless the client gives others."""
    named: Mapping[str, str] = field(default_factory=dict[str, str])
    """The argument that each part of the path is, when it has another name there."""
    shape: Shape = _all


def _at(route: str, summary: str, **more: Any) -> Endpoint:
    """An endpoint, of its method, its path and its tool."""
    method, path, tool = route.split()
    return Endpoint(method=method, path=f"/api/{path}", tool=tool, summary=summary, **more)


_SESSION: Final = {"id": "session_id"}
_INSTANCE: Final = {"id": "instance_id"}

# An address with a part of its own stands before one that would take any.
ENDPOINTS: Final[Sequence[Endpoint]] = (
    _at("GET health health_check", "Tell how the server is."),
    _at("GET memories list_memories", "List memories, the newest first.", shape=_field("memories")),
    _at("POST memories remember", "Remember something."),
    _at("GET memories/{id} memory_history", "Show a memory.", shape=_version),
    _at("DELETE memories/{id} forget", "Erase a memory."),
    _at("POST recall recall", "Find the memories that fit a question.", shape=_field("memories")),
    _at("POST symbols get_symbols", "List what a file defines."),
    _at("POST search/code semantic_code_search", "Find code."),
    _at("POST index index", "Index a folder, or what changed in it.", defaults={"action": "project"}),
    _at("GET tasks task", "List tasks.", fixed={"action": "list"}, shape=_field("tasks")),
    _at("POST tasks task", "Make a task.", defaults={"action": "create"}, shape=_made),
    _at("GET goals goal", "List goals.", fixed={"action": "list"}, shape=_field("goals")),
    _at("POST goals goal", "Make a goal.", defaults={"action": "create"}, shape=_made),
    _at("GET project get_project", "Tell which project is active.", shape=_field("project")),
    _at("POST project/set set_project", "Choose the project.", shape=_field("project")),
    _at("GET projects list_projects", "List projects.", shape=_field("projects")),
    _at(
        "GET sessions session_history",
        "List sessions.",
        fixed={"action": "list_sessions"},
        shape=_field("sessions"),
    ),
    _at(
        "GET sessions/{id} session_history",
        "Show a session.",
        fixed={"action": "get_history", "limit": 1},
        named=_SESSION,
        shape=_field("session"),
    ),
    _at(
        "GET sessions/{id}/history session_history",
        "List the calls of a session, the last first.",
        fixed={"action": "get_history"},
        named=_SESSION,
        shape=_field("history"),
    ),
    _at("GET sessions/{id}/export export_session", "Take a session along.", named=_SESSION),
    _at("GET claude/instances claude_status", "List the agents that run.", shape=_field("instances")),
    _at("GET claude/project claude_status", "Tell whether the project's agent runs."),
    _at("DELETE claude/project claude_close", "Stop the project's agent."),
    _at("POST claude/task claude_task", "Give the project's agent a task."),
    _at("POST claude/close claude_close", "Stop an agent."),
    _at("GET claude/{id} claude_status", "Show an agent.", named=_INSTANCE, shape=_field("instance")),
    _at("DELETE claude/{id} claude_close", "Stop an agent.", named=_INSTANCE),
    _at("GET persona persona", "Show the persona.", fixed={"action": "get"}),
    _at("POST persona/session persona", "Change the persona of this session.", fixed={"action": "set_session"}),
)
