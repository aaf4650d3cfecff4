"""Reader of `conversations.json` from an OpenAI data export."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from scrubjay.features.transfer.records import ImportRecord, PartialFormat, clean_text, make_turn, parse_time, to_label
from scrubjay.features.transfer.source_file import ImportSource

SOURCE = "openai"
# Citation and entity marks, delimited by private-use characters.
_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
_IN_A_MARK = "\ue202"


class OpenAIConversations(PartialFormat):
    """Creates one memory per message of the current branch. Implements `records.Format`."""

    name = SOURCE

    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self._thought: list[str] = []
        """Thoughts since the last message."""

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        return isinstance(document.get("mapping"), dict)

    def records(self, file: ImportSource) -> Iterator[ImportRecord]:
        for _, conversation in file.elements():
            if not self.recognises(conversation):
                self.ignored["entry without a conversation"] += 1
                continue
            nodes = cast(dict[str, Any], conversation["mapping"])
            seen = _branch(nodes, conversation.get("current_node"))
            others = nodes.keys() - set(seen)
            self.ignored["message of another branch"] += sum(_has_message(nodes[name]) for name in others)
            at = parse_time(conversation.get("create_time"))
            for name in seen:
                if _has_message(nodes[name]):
                    message = nodes[name]["message"]
                    at = (
                        parse_time(message.get("create_time")) or at
                    )  # a message without a time gets that of the one before
                    yield from self._message(conversation, name, message, at)
            self._drop_thought()
        self.ignored = +self.ignored

    def _message(
        self, conversation: Mapping[str, Any], node: str, message: Mapping[str, Any], at: datetime | None
    ) -> Iterator[ImportRecord]:
        role, content, metadata = (
            _inner(message, "author").get("role"),
            _inner(message, "content"),
            _inner(message, "metadata"),
        )
        if role not in ("user", "assistant"):
            self.ignored[f"message of role {str(role)[:40]}"] += 1
            return
        if content.get("content_type") == "thoughts":
            self._thought += _thoughts(content)
            return
        if metadata.get("is_visually_hidden_from_conversation"):
            self.ignored["hidden message"] += 1
            return
        if message.get("recipient") not in (None, "all"):
            self.ignored["message to a tool"] += 1
            return
        text = self._words(content)
        if not text:
            return
        if role == "user":
            self._drop_thought()
        thought, self._thought = "\n".join(self._thought), []
        provenance: dict[str, Any] = {}
        if title := clean_text(conversation.get("title")):
            provenance["conversation"] = title
        if model := clean_text(metadata.get("model_slug")):
            provenance["model"] = model
        yield from make_turn(
            SOURCE,
            clean_text(message.get("id")) or node,
            is_prompt=role == "user",
            text=text,
            thought=thought,
            now=self._now,
            session_id=to_label(conversation.get("conversation_id") or conversation.get("id")),
            speaker=role,
            occurred_at=at,
            provenance=provenance,
        )

    def _words(self, content: Mapping[str, Any]) -> str:
        kind, parts = content.get("content_type"), content.get("parts")
        if kind not in ("text", "multimodal_text") or not isinstance(parts, list):
            self.ignored[f"content of type {str(kind)[:40]}"] += 1
            return ""
        entries = cast(list[Any], parts)
        texts = [text for part in entries if (text := _MARK.sub(_shown, clean_text(_spoken(part))).strip())]
        others = sum(isinstance(part, dict) and not isinstance(_spoken(part), str) for part in entries)
        if others:
            self.ignored["picture or file in a message"] += others
        elif not texts:
            self.ignored["message without text"] += 1
        return "\n".join(texts)

    def _drop_thought(self) -> None:
        if self._thought:
            self.ignored["thought without a message"] += 1
            self._thought = []


def _branch(nodes: Mapping[str, Any], last: Any) -> list[str]:
    """Return the node names from the root to `last`; all nodes if `last` is unknown."""
    names: dict[str, None] = {}
    while isinstance(last, str) and last in nodes and last not in names:
        names[last] = None
        last = nodes[last].get("parent") if isinstance(nodes[last], dict) else None
    return list(reversed(names)) or list(nodes)


def _has_message(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(cast(dict[str, Any], node).get("message"), dict)


def _inner(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = document.get(name)
    return cast(dict[str, Any], inner) if isinstance(inner, dict) else {}


def _spoken(part: Any) -> Any:
    """Return a message part, or the transcript of an audio part."""
    match part:
        case {"content_type": "audio_transcription", "text": str(text)}:
            return text
        case _:
            return part


def _thoughts(content: Mapping[str, Any]) -> Iterator[str]:
    for one in cast(list[Any], content.get("thoughts")) if isinstance(content.get("thoughts"), list) else []:
        match one:
            case {"content": str(text)} if text.strip():
                yield text.strip()
            case {"summary": str(text)} if text.strip():
                yield text.strip()
            case _:
                pass


def _shown(mark: re.Match[str]) -> str:
    """Return the visible text of a mark: the name of an entity, nothing for a citation."""
    kind, _, data = mark.group(1).partition(_IN_A_MARK)
    try:
        return str(json.loads(data)[1]) if kind == "entity" else ""
    except (ValueError, TypeError, LookupError):
        return ""
