"""Parse the JSON that coding agents send to hooks, and format the JSON that they expect."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.lazy import lazy_module
from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent

if TYPE_CHECKING:
    from scrubjay.features.permissions import models as permission_models
else:  # only the permission hook needs them
    permission_models = lazy_module("scrubjay.features.permissions.models")

# Claude Code's names for the events; its answers must repeat them.
AGENT_EVENT_NAMES = {
    HookEvent.PERMISSION: frozenset({"PreToolUse", "PermissionRequest"}),
    HookEvent.SESSION_START: frozenset({"SessionStart"}),
    HookEvent.USER_PROMPT_SUBMIT: frozenset({"UserPromptSubmit"}),
    HookEvent.POST_TOOL_USE: frozenset({"PostToolUse", "PostToolUseFailure"}),
    HookEvent.STOP: frozenset({"Stop", "SubagentStop"}),
}
MAX_SESSION_ID_LENGTH = 500
MAX_MILLISECONDS = 7 * 86_400_000


def parse_event(name: str) -> HookEvent:
    """Return the event with this name; raise `InvalidRequest` for any other."""
    try:
        return HookEvent(name)
    except ValueError:
        known = ", ".join(HookEvent)
        raise InvalidRequest(f"there is no hook {name[:80]!r}", hint=f"the hooks are {known}") from None


def parse_call(event: HookEvent, payload: Any, project_folder: str | None = None) -> HookCall:
    """Return the fields that we use of an agent's call; raise `InvalidRequest` when they do not fit the event."""
    if not isinstance(payload, Mapping):
        raise InvalidRequest("the input of a hook must be one JSON object")
    fields: Mapping[str, Any] = payload  # pyright: ignore[reportUnknownVariableType]
    agents_event = _text(fields, "hook_event_name") or None
    if agents_event is not None and agents_event not in AGENT_EVENT_NAMES[event]:
        raise InvalidRequest(f"the hook {event} does not handle the event {agents_event[:80]!r}")
    tool_name = _text(fields, "tool_name")
    tool_input: Any = fields.get("tool_input", {})
    if event in (HookEvent.PERMISSION, HookEvent.POST_TOOL_USE) and not tool_name:
        raise InvalidRequest(f"the hook {event} needs a tool_name")
    folders = [folder for folder in (project_folder, _text(fields, "cwd")) if folder]
    return HookCall(
        event=event,
        agents_event=agents_event,
        session_id=_text(fields, "session_id")[:MAX_SESSION_ID_LENGTH] or None,
        folders=tuple(dict.fromkeys(folders)),
        prompt=_text(fields, "prompt"),
        response=_text(fields, "last_assistant_message"),
        tool_name=tool_name,
        tool_input=cast(Mapping[str, Any], tool_input) if isinstance(tool_input, Mapping) else {"input": tool_input},
        tool_response=fields.get("tool_response", fields.get("error")),
        succeeded=agents_event != "PostToolUseFailure",
        milliseconds=_milliseconds(fields.get("duration_ms")),
    )


def _milliseconds(given: Any) -> float:
    """Return the duration of a call; 0 for an invalid value, which must not block the agent."""
    return float(given) if isinstance(given, int | float) and 0 <= given <= MAX_MILLISECONDS else 0.0


def format_answer(call: HookCall, answer: HookAnswer) -> dict[str, Any]:
    """Return the answer in the format of the agent; `{}` when there is nothing to add."""
    if answer.verdict is not None:
        return _format_verdict(call.agents_event, answer.verdict)
    if not answer.context:
        return {}
    (event,) = AGENT_EVENT_NAMES[call.event]
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": answer.context}}


def format_undecided(body: bytes, problem: str) -> dict[str, Any]:
    """Return the answer to a permission call that cannot be judged: the agent must ask the user.

    The body may be invalid, so it is searched for the name of the event. `PermissionRequest` has no such answer: the
    agent is already asking.
    """
    if b'"PermissionRequest"' in body and b'"PreToolUse"' not in body:
        return {}
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": f"the permission rules cannot be evaluated: {problem[:500]}",
        }
    }


def _format_verdict(agents_event: str | None, verdict: "permission_models.PermissionVerdict") -> dict[str, Any]:
    if verdict.effect is None:
        return {}
    effects = permission_models.Effect
    match agents_event:
        case "PreToolUse":
            return {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": verdict.effect.value,
                    "permissionDecisionReason": verdict.reason,
                }
            }
        case "PermissionRequest":
            if verdict.effect is effects.ASK:
                return {}  # the agent is already asking the user
            decision: dict[str, Any] = {"behavior": verdict.effect.value}
            if verdict.effect is effects.DENY:
                decision["message"] = verdict.reason
            return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
        case _:  # a client of Mira's format
            if verdict.effect is effects.ASK:
                return {}
            reason = {"reason": verdict.reason} if verdict.effect is effects.DENY else {}
            return {"decision": verdict.effect.value, **reason}


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} must be a string")
    return value.encode("utf-8", "replace").decode().replace("\0", "")
