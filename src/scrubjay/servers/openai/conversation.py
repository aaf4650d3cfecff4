"""A conversation as the client sent it: its last prompt, its session, and the body for the language model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from scrubjay.servers.openai.errors import InvalidField
from scrubjay.servers.openai.wire import ChatCompletionRequest, Json, ScrubjayOptions, parse

# Characters; the limit of the recall and ask tools.
MAX_QUESTION = 10_000
MAX_SESSION = 500


class Conversation:
    """A validated chat completion request with its original body."""

    def __init__(self, body: Json, session: str | None = None) -> None:
        """`session` is the session named in a header; it takes precedence over the body."""
        self.request = parse(ChatCompletionRequest, body)
        self._body = body
        self.messages = cast(list[Json], body["messages"])
        self.options = self.request.scrubjay or ScrubjayOptions()
        self.session = session or self.options.session_id or _session_of(self.request)
        self.model = self.request.model
        self.streams = bool(self.request.stream)
        options = self.request.stream_options
        self.wants_usage = bool(options and options.include_usage)
        prompts = [index for index, message in enumerate(self.messages) if message["role"] == "user"]
        self._prompt_index = prompts[-1] if prompts else None

    @property
    def prompt(self) -> str | None:
        """The text of the last message of the user; None when there is no such message."""
        return None if self._prompt_index is None else text_of(self.messages[self._prompt_index].get("content"))

    @property
    def question(self) -> str:
        """The query for recall: the end of a long prompt, where the question usually is."""
        return (self.prompt or "").replace("\0", " ").strip()[-MAX_QUESTION:]

    @property
    def tool_results(self) -> list[str]:
        """The results of tools since the last message of the user."""
        since = self.messages[(self._prompt_index or 0) + 1 :]
        return [text_of(message.get("content")) for message in since if message["role"] == "tool"]

    @property
    def user_texts(self) -> set[str]:
        return {text_of(message.get("content")) for message in self.messages if message["role"] == "user"}

    def all_text(self) -> list[str]:
        return [text_of(message.get("content")) for message in self.messages]

    def upstream_body(self, model: str, memory_text: str | None) -> Json:
        """Return the body for the language model: without our own field, with this model and the memories."""
        body = {name: value for name, value in self._body.items() if name != "scrubjay"}
        body["model"] = model
        if memory_text is not None:
            body["messages"] = with_system_text(self.messages, memory_text)
        return body


def text_of(content: Any) -> str:
    """Return the text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [cast(Json, part) for part in cast(list[Any], content) if isinstance(part, dict)]
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))


def with_system_text(messages: Sequence[Json], text: str) -> list[Json]:
    """Add text to the system message, or insert one at the top: some services accept only one, and only there."""
    first = messages[0] if messages else {}
    if first.get("role") not in ("system", "developer"):
        return [{"role": "system", "content": text}, *messages]
    content = first.get("content")
    if isinstance(content, list):
        return [{**first, "content": [*cast(list[Any], content), {"type": "text", "text": text}]}, *messages[1:]]
    return [{**first, "content": f"{content}\n\n{text}" if content else text}, *messages[1:]]


def memories_in(content: str) -> list[Mapping[str, Any]]:
    """Return the memories in a tool's result, which is a list or an object that contains one."""
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError):
        return []
    for _ in range(3):  # an envelope, the result, its list
        if not isinstance(found, dict):
            break
        fields = cast(Json, found)
        found = next((fields[name] for name in ("data", "results", "memories") if name in fields), None)
    entries = cast(list[Any], found) if isinstance(found, list) else []
    return [cast(Json, entry) for entry in entries if isinstance(entry, dict) and "content" in entry]


def _session_of(request: ChatCompletionRequest) -> str | None:
    named = (request.metadata or {}).get("session_id")
    if named is not None and not isinstance(named, str):
        raise InvalidField("metadata.session_id must be a string", "metadata.session_id")
    session = named or request.user or None
    if session is not None and len(session) > MAX_SESSION:
        param = "metadata.session_id" if named else "user"
        raise InvalidField(f"{param} names the session and must have at most {MAX_SESSION} characters", param)
    return session
