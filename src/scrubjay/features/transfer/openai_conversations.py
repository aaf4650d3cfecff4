"""Reads the `conversations.json` that OpenAI gives people who ask for their data."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from scrubjay.features.memory.models import Kind
from scrubjay.features.transfer.records import Arrival, label_of, message, moment_of, text_of
from scrubjay.features.transfer.source_file import SourceFile

SOURCE = "openai"
# Marks that the page shows as links or names, between signs that no text has.
_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
_IN_A_MARK = "\ue202"


class OpenAIConversations:
    """One memory for each thing said in the branch that was last seen. Satisfies `arrivals.Format`."""

    name = SOURCE

    def __init__(self, now: datetime) -> None:
        self.left_out: Counter[str] = Counter()
        self._now = now
        self._thought: list[str] = []
        """What was thought since somebody last said something."""

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        return isinstance(document.get("mapping"), dict)

    def holds(self) -> frozenset[Kind]:
        """Conversations with one assistant are not all that there is to know."""
        return frozenset()

    def arrivals(self, file: SourceFile) -> Iterator[Arrival]:
        for _, conversation in file.elements():
            if not self.recognises(conversation):
                self.left_out["entry that is no conversation"] += 1
                continue
            nodes = cast(dict[str, Any], conversation["mapping"])
            seen = _branch(nodes, conversation.get("current_node"))
            others = nodes.keys() - set(seen)
            self.left_out["message of another branch"] += sum(_has_message(nodes[name]) for name in others)
            at = moment_of(conversation.get("create_time"))
            for name in seen:
                if _has_message(nodes[name]):
                    said = nodes[name]["message"]
                    at = moment_of(said.get("create_time")) or at  # some have no time: they came after the last one
                    yield from self._message(conversation, name, said, at)
            self._drop_thought()
        self.left_out = +self.left_out

    def _message(
        self, conversation: Mapping[str, Any], node: str, said: Mapping[str, Any], at: datetime | None
    ) -> Iterator[Arrival]:
        role, content, metadata = _inner(said, "author").get("role"), _inner(said, "content"), _inner(said, "metadata")
        if role not in ("user", "assistant"):
            self.left_out[f"message of role {str(role)[:40]}"] += 1
            return
        if content.get("content_type") == "thoughts":
            self._thought += _thoughts(content)
            return
        if metadata.get("is_visually_hidden_from_conversation"):
            self.left_out["hidden message"] += 1
            return
        if said.get("recipient") not in (None, "all"):
            self.left_out["message to a tool"] += 1
            return
        text = self._words(content)
        if not text:
            return
        if role == "user":
            self._drop_thought()
        thought, self._thought = "\n".join(self._thought), []
        told: dict[str, Any] = {}
        if title := text_of(conversation.get("title")):
            told["conversation"] = title
        if model := text_of(metadata.get("model_slug")):
            told["model"] = model
        yield from message(
            SOURCE,
            text_of(said.get("id")) or node,
            is_prompt=role == "user",
            text=text,
            thought=thought,
            now=self._now,
            session_id=label_of(conversation.get("conversation_id") or conversation.get("id")),
            speaker=role,
            occurred_at=at,
            provenance=told,
        )

    def _words(self, content: Mapping[str, Any]) -> str:
        kind, parts = content.get("content_type"), content.get("parts")
        if kind not in ("text", "multimodal_text") or not isinstance(parts, list):
            self.left_out[f"content of type {str(kind)[:40]}"] += 1
            return ""
        entries = cast(list[Any], parts)
        texts = [text for part in entries if (text := _MARK.sub(_shown, text_of(_spoken(part))).strip())]
        others = sum(isinstance(part, dict) and not isinstance(_spoken(part), str) for part in entries)
        if others:
            self.left_out["picture or file in a message"] += others
        elif not texts:
            self.left_out["message without text"] += 1
        return "\n".join(texts)

    def _drop_thought(self) -> None:
        if self._thought:
            self.left_out["thought without words"] += 1
            self._thought = []


def _branch(nodes: Mapping[str, Any], last: Any) -> list[str]:
    """The names of the nodes from the first to this last one; all of them when it is not known which is the last."""
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
    """What a part of a message says; of what was spoken aloud there is a transcript."""
    match part:
        case {"content_type": "audio_transcription", "text": str(text)}:
            return text
        case _:
            return part


def _thoughts(content: Mapping[str, Any]) -> Iterator[str]:
    for one in cast(list[Any], content.get("thoughts")) if isinstance(content.get("thoughts"), list) else []:
        match one:
            case {"content": str(told)} if told.strip():
                yield told.strip()
            case {"summary": str(told)} if told.strip():
                yield told.strip()
            case _:
                pass


def _shown(mark: re.Match[str]) -> str:
    """What the page shows for a mark: of a name that name, of a source nothing."""
    kind, _, told = mark.group(1).partition(_IN_A_MARK)
    try:
        return str(json.loads(told)[1]) if kind == "entity" else ""
    except (ValueError, TypeError, LookupError):
        return ""
