"""The JSON that agents' programs send to hooks, and the JSON that they are answered."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent

if TYPE_CHECKING:
    from scrubjay.features.permissions.models import Verdict

# What Claude Code calls the moments, where an answer has to name its own.
AGENTS_EVENTS = {
    HookEvent.PERMISSION: frozenset({"PreToolUse", "PermissionRequest"}),
    HookEvent.SESSION_START: frozenset({"SessionStart"}),
    HookEvent.USER_PROMPT_SUBMIT: frozenset({"UserPromptSubmit"}),
    HookEvent.POST_TOOL_USE: frozenset({"PostToolUse", "PostToolUseFailure"}),
    HookEvent.STOP: frozenset({"Stop", "SubagentStop"}),
}
LONGEST_SESSION_ID = 500
LONGEST_MILLISECONDS = 7 * 86_400_000


def event_named(name: str) -> HookEvent:
    """The moment of this name; `InvalidRequest` for any other."""
    try:
        return HookEvent(name)
    except ValueError:
        known = ", ".join(HookEvent)
        raise InvalidRequest(f"there is no hook {name[:80]!r}", hint=f"there are {known}") from None


def read_call(event: HookEvent, told: Any, project_folder: str | None = None) -> HookCall:
    """What an agent tells, as far as we heed it; `InvalidRequest` when it cannot be what such a hook is told."""
    if not isinstance(told, Mapping):
        raise InvalidRequest("a hook is told one JSON object")
    fields: Mapping[str, Any] = told  # pyright: ignore[reportUnknownVariableType]
    agents_event = _text(fields, "hook_event_name") or None
    if agents_event is not None and agents_event not in AGENTS_EVENTS[event]:
        raise InvalidRequest(f"{agents_event[:80]!r} is not for the hook {event}")
    tool_name = _text(fields, "tool_name")
    tool_input: Any = fields.get("tool_input", {})
    if event in (HookEvent.PERMISSION, HookEvent.POST_TOOL_USE) and not tool_name:
        raise InvalidRequest(f"the hook {event} is told a tool_name")
    folders = [folder for folder in (project_folder, _text(fields, "cwd")) if folder]
    return HookCall(
        event=event,
        agents_event=agents_event,
        session_id=_text(fields, "session_id")[:LONGEST_SESSION_ID] or None,
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
    """How long a call took. What cannot be true is not heeded: an agent must not be stopped because of it."""
    return float(given) if isinstance(given, int | float) and 0 <= given <= LONGEST_MILLISECONDS else 0.0


def written(call: HookCall, answer: HookAnswer) -> dict[str, Any]:
    """The answer in the words of who asked; `{}` when there is nothing to say."""
    if answer.verdict is not None:
        return _of_verdict(call.agents_event, answer.verdict)
    if not answer.context:
        return {}
    (event,) = AGENTS_EVENTS[call.event]
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": answer.context}}


def _of_verdict(agents_event: str | None, verdict: "Verdict") -> dict[str, Any]:
    if verdict.effect is None:
        return {}
    from scrubjay.features.permissions.models import Effect  # which only this hook loads

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
            if verdict.effect is Effect.ASK:
                return {}  # the user is being asked already
            decision: dict[str, Any] = {"behavior": verdict.effect.value}
            if verdict.effect is Effect.DENY:
                decision["message"] = verdict.reason
            return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
        case _:  # a program that knows Mira's format
            if verdict.effect is Effect.ASK:
                return {}
            reason = {"reason": verdict.reason} if verdict.effect is Effect.DENY else {}
            return {"decision": verdict.effect.value, **reason}


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} is no text")
    return value.encode("utf-8", "replace").decode().replace("\0", "")
