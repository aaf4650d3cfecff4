"""The endpoints under `/api`: path, tool, and how arguments and results are translated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scrubjay.compat.mira.event_wire import Json

Shape = Callable[[Json, Json], Any]
"""Returns the response data for a tool's arguments and result."""


def _all(arguments: Json, answer: Json) -> Any:
    return answer


def _field(name: str) -> Shape:
    def shape(arguments: Json, answer: Json) -> Any:
        return answer[name]

    return shape


def _first_object(arguments: Json, answer: Json) -> Any:
    """Return the object that was created or changed; the whole result when it has none."""
    return next((value for value in answer.values() if _is_object(value)), answer)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _version(arguments: Json, answer: Json) -> Any:
    """Return the requested version of a memory; None when there is none."""
    return next((one for one in answer["versions"] if one["id"] == arguments["id"]), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MiraEndpoint:
    """A method of a path, answered by a tool; 404 while the tool is not registered."""

    method: str
    path: str
    tool: str
    summary: str
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that the path implies."""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Default arguments."""
    path_arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path parameter -> argument name, where the two differ."""
    shape: Shape = _all


def _endpoint(route: str, summary: str, **more: Any) -> MiraEndpoint:
    """Return an endpoint for `METHOD path tool`."""
    method, path, tool = route.split()
    return MiraEndpoint(method=method, path=f"/api/{path}", tool=tool, summary=summary, **more)


_SESSION: Final = {"id": "session_id"}
_INSTANCE: Final = {"id": "instance_id"}

# The first match wins: a fixed path stands before a path with a parameter.
ENDPOINTS: Final[Sequence[MiraEndpoint]] = (
    _endpoint("GET health health_check", "Check the server's health."),
    _endpoint("GET memories list_memories", "List memories, newest first.", shape=_field("memories")),
    _endpoint("POST memories remember", "Store a memory."),
    _endpoint("GET memories/{id} memory_history", "Get a memory.", shape=_version),
    _endpoint("DELETE memories/{id} forget", "Delete a memory."),
    _endpoint("POST recall recall", "Find the memories that answer a question.", shape=_field("memories")),
    _endpoint("POST symbols get_symbols", "List the symbols of a file."),
    _endpoint("POST search/code semantic_code_search", "Search code."),
    _endpoint("POST index index", "Index a folder, or the changes in it.", defaults={"action": "project"}),
    _endpoint("GET tasks task", "List tasks.", fixed={"action": "list"}, shape=_field("tasks")),
    _endpoint("POST tasks task", "Create a task.", defaults={"action": "create"}, shape=_first_object),
    _endpoint("GET goals goal", "List goals.", fixed={"action": "list"}, shape=_field("goals")),
    _endpoint("POST goals goal", "Create a goal.", defaults={"action": "create"}, shape=_first_object),
    _endpoint("GET project get_project", "Get the active project.", shape=_field("project")),
    _endpoint("POST project/set set_project", "Set the active project.", shape=_field("project")),
    _endpoint("GET projects list_projects", "List projects.", shape=_field("projects")),
    _endpoint(
        "GET sessions session_history",
        "List sessions.",
        fixed={"action": "list_sessions"},
        shape=_field("sessions"),
    ),
    _endpoint(
        "GET sessions/{id} session_history",
        "Get a session.",
        fixed={"action": "get_history", "limit": 1},
        path_arguments=_SESSION,
        shape=_field("session"),
    ),
    _endpoint(
        "GET sessions/{id}/history session_history",
        "List the calls of a session, newest first.",
        fixed={"action": "get_history"},
        path_arguments=_SESSION,
        shape=_field("history"),
    ),
    _endpoint("GET sessions/{id}/export export_session", "Export a session.", path_arguments=_SESSION),
    _endpoint("GET claude/instances claude_status", "List running agents.", shape=_field("instances")),
    _endpoint("GET claude/project claude_status", "Get the status of the project's agent."),
    _endpoint("DELETE claude/project claude_close", "Stop the project's agent."),
    _endpoint("POST claude/task claude_task", "Send a task to the project's agent."),
    _endpoint("POST claude/close claude_close", "Stop an agent."),
    _endpoint("GET claude/{id} claude_status", "Get an agent.", path_arguments=_INSTANCE, shape=_field("instance")),
    _endpoint("DELETE claude/{id} claude_close", "Stop an agent.", path_arguments=_INSTANCE),
    _endpoint("GET persona persona", "Get the persona.", fixed={"action": "get"}),
    _endpoint("POST persona/session persona", "Change the persona of this session.", fixed={"action": "set_session"}),
)
