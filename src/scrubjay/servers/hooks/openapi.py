"""Hooks over HTTP in the OpenAPI document."""

from typing import Any

from scrubjay.features.hooks.models import HookEvent
from scrubjay.servers.hooks.formats import AGENT_EVENT_NAMES
from scrubjay.servers.hooks.http import PATH

Json = dict[str, Any]

_FAILURES = (400, 401, 403, 404, 413, 422, 429, 500, 503)
_TEXT_FIELDS = {
    "session_id": "The agent's own session.",
    "cwd": "The working folder of the agent.",
    "prompt": "The user's prompt, for user-prompt-submit.",
    "last_assistant_message": "The agent's answer, for stop.",
    "tool_name": "The agent's own tool, for permission and post-tool-use.",
}


def with_hooks(document: Json) -> Json:
    """Add this route to the document and return it; its error responses must be in the document already."""
    document["paths"][PATH] = {
        "post": {
            "operationId": "answer_hook",
            "tags": ["hooks"],
            "summary": "Answer the hook of a coding agent.",
            "description": "Fields that are not listed here are ignored. A permission that cannot be decided, because "
            "the request is invalid, too large or refused under load, is answered with 200 and `ask`. Only a missing "
            "or wrong key, or one without the scope, has another status.",
            "parameters": [
                {
                    "name": "event",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string", "enum": [event.value for event in HookEvent]},
                }
            ],
            "requestBody": {"required": True, "content": {"application/json": {"schema": _request_schema()}}},
            "responses": {
                "200": {
                    "description": "The answer, in the format of the agent's event; {} when there is nothing to add.",
                    "content": {"application/json": {"schema": {"type": "object"}}},
                },
                **{str(status): {"$ref": f"#/components/responses/Failure{status}"} for status in _FAILURES},
            },
        }
    }
    document.setdefault("tags", []).append({"name": "hooks"})
    return document


def _request_schema() -> Json:
    texts: Json = {name: {"type": ["string", "null"], "description": about} for name, about in _TEXT_FIELDS.items()}
    known = sorted(name for names in AGENT_EVENT_NAMES.values() for name in names)
    return {
        "type": "object",
        "properties": {
            **texts,
            "hook_event_name": {"type": "string", "enum": known, "description": "The agent's name for the event."},
            "tool_input": {"description": "The arguments of the agent's tool."},
            "tool_response": {"description": "The result of the agent's tool."},
            "duration_ms": {
                "type": "number",
                "minimum": 0,
                "description": "The duration of the tool call in milliseconds.",
            },
        },
    }
