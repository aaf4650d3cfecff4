"""Hooks over HTTP in the OpenAPI document."""

from typing import Any

from scrubjay.features.hooks.models import HookEvent
from scrubjay.servers.hooks.formats import AGENTS_EVENTS
from scrubjay.servers.hooks.http import PATH

Json = dict[str, Any]

_FAILURES = (400, 401, 403, 404, 413, 422, 429, 500, 503)
_TEXTS = {
    "session_id": "The agent's own session.",
    "cwd": "The folder in which the agent works.",
    "prompt": "What the agent was asked, for user-prompt-submit.",
    "last_assistant_message": "What the agent answered, for stop.",
    "tool_name": "The agent's own tool, for permission and post-tool-use.",
}


def with_hooks(document: Json) -> Json:
    """The document with this route; its failures are those that the document has already."""
    document["paths"][PATH] = {
        "post": {
            "operationId": "answer_hook",
            "tags": ["hooks"],
            "summary": "Answer an agent's program at a moment that it tells of.",
            "description": "Fields that are not listed here are not heeded.",
            "parameters": [
                {
                    "name": "event",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string", "enum": [event.value for event in HookEvent]},
                }
            ],
            "requestBody": {"required": True, "content": {"application/json": {"schema": _told()}}},
            "responses": {
                "200": {
                    "description": "What the agent is answered, in the form that its moment has; {} says nothing.",
                    "content": {"application/json": {"schema": {"type": "object"}}},
                },
                **{str(status): {"$ref": f"#/components/responses/Failure{status}"} for status in _FAILURES},
            },
        }
    }
    document.setdefault("tags", []).append({"name": "hooks"})
    return document


def _told() -> Json:
    texts: Json = {name: {"type": ["string", "null"], "description": about} for name, about in _TEXTS.items()}
    known = sorted(name for names in AGENTS_EVENTS.values() for name in names)
    return {
        "type": "object",
        "properties": {
            **texts,
            "hook_event_name": {"type": "string", "enum": known, "description": "The agent's name for the moment."},
            "tool_input": {"description": "What the agent gives its tool."},
            "tool_response": {"description": "What the tool answered."},
            "duration_ms": {"type": "number", "minimum": 0, "description": "How long the tool took."},
        },
    }
