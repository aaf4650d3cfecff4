"""A conversation as it was sent: what was asked last, in which session, and with what it can be given to a model."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from scrubjay.servers.openai.errors import WrongField
from scrubjay.servers.openai.wire import ChatRequest, Json, OwnWishes, read

# As much as recall and ask take.
MAX_QUESTION = 10_000
MAX_SESSION = 500


class Conversation:
    """A checked request for a chat completion, and the body that it came as."""

    def __init__(self, body: Json, session: str | None = None) -> None:
        """`session` is what a header says, which counts most."""
        self.request = read(ChatRequest, body)
        self._body = body
        self.messages = cast(list[Json], body["messages"])
        self.wishes = self.request.scrubjay or OwnWishes()
        self.session = session or self.wishes.session_id or _session_in(self.request)
        self.model = self.request.model
        self.streams = bool(self.request.stream)
        options = self.request.stream_options
        self.wants_usage = bool(options and options.include_usage)
        asked = [place for place, message in enumerate(self.messages) if message["role"] == "user"]
        self._asked_at = asked[-1] if asked else None

    @property
    def prompt(self) -> str | None:
        """The text of the last message of the user; None when there is no such message."""
        return None if self._asked_at is None else text_of(self.messages[self._asked_at].get("content"))

    @property
    def question(self) -> str:
        """What to recall about: the end of a long text, where the question mostly is."""
        return (self.prompt or "").replace("\0", " ").strip()[-MAX_QUESTION:]

    @property
    def tool_answers(self) -> list[str]:
        """What tools answered since the user spoke."""
        since = self.messages[(self._asked_at or 0) + 1 :]
        return [text_of(message.get("content")) for message in since if message["role"] == "tool"]

    @property
    def said_by_user(self) -> set[str]:
        return {text_of(message.get("content")) for message in self.messages if message["role"] == "user"}

    def all_text(self) -> list[str]:
        return [text_of(message.get("content")) for message in self.messages]

    def passed_on(self, model: str, remembered: str | None) -> Json:
        """The body for a language model: as it came, but for the model, our own field, and what is remembered."""
        body = {name: value for name, value in self._body.items() if name != "scrubjay"}
        body["model"] = model
        if remembered is not None:
            body["messages"] = with_system_text(self.messages, remembered)
        return body


def text_of(content: Any) -> str:
    """The words of a message, whether it is a text or has parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [cast(Json, part) for part in cast(list[Any], content) if isinstance(part, dict)]
    return "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))


def with_system_text(messages: Sequence[Json], text: str) -> list[Json]:
    """The messages with more said by the system: in its message at the top, as some services take only that one."""
    first = messages[0] if messages else {}
    if first.get("role") not in ("system", "developer"):
        return [{"role": "system", "content": text}, *messages]
    content = first.get("content")
    if isinstance(content, list):
        return [{**first, "content": [*cast(list[Any], content), {"type": "text", "text": text}]}, *messages[1:]]
    return [{**first, "content": f"{content}\n\n{text}" if content else text}, *messages[1:]]


def memories_in(content: str) -> list[Mapping[str, Any]]:
    """The memories in what a tool answered: a list, or an object that has one."""
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError):
        return []
    for _ in range(3):  # an envelope, a result, and its list
        if not isinstance(found, dict):
            break
        fields = cast(Json, found)
        found = next((fields[name] for name in ("data", "results", "memories") if name in fields), None)
    entries = cast(list[Any], found) if isinstance(found, list) else []
    return [cast(Json, entry) for entry in entries if isinstance(entry, dict) and "content" in entry]


def _session_in(request: ChatRequest) -> str | None:
    named = (request.metadata or {}).get("session_id")
    if named is not None and not isinstance(named, str):
        raise WrongField("metadata.session_id must be a text", "metadata.session_id")
    session = named or request.user or None
    if session is not None and len(session) > MAX_SESSION:
        param = "metadata.session_id" if named else "user"
        raise WrongField(f"{param} must have at most {MAX_SESSION} characters to name a session", param)
    return session
