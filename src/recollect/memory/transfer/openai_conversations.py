"""Reads the `conversations.json` that OpenAI gives people who ask for their data."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from recollect.domain.memories import Kind
from recollect.memory.transfer.arrivals import Arrival, label_of, message, moment_of, text_of
from recollect.memory.transfer.source_file import SourceFile

SOURCE = "openai"


class OpenAIConversations:
    """One memory for each thing said in the branch that was last seen. Satisfies `arrivals.Format`."""

    name = SOURCE

    def __init__(self, now: datetime) -> None:
        self.left_out: Counter[str] = Counter()
        self._now = now

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
            for name in seen:
                if _has_message(nodes[name]):
                    yield from self._message(conversation, name, nodes[name]["message"])
        self.left_out = +self.left_out

    def _message(self, conversation: Mapping[str, Any], node: str, said: Mapping[str, Any]) -> Iterator[Arrival]:
        role = _inner(said, "author").get("role")
        if role not in ("user", "assistant"):
            self.left_out[f"message of role {str(role)[:40]}"] += 1
            return
        text = self._words(_inner(said, "content"))
        if not text:
            return
        told: dict[str, Any] = {}
        if title := text_of(conversation.get("title")):
            told["conversation"] = title
        if model := text_of(_inner(said, "metadata").get("model_slug")):
            told["model"] = model
        yield from message(
            SOURCE,
            text_of(said.get("id")) or node,
            is_prompt=role == "user",
            text=text,
            now=self._now,
            session_id=label_of(conversation.get("conversation_id") or conversation.get("id")),
            speaker=role,
            occurred_at=moment_of(said.get("create_time")) or moment_of(conversation.get("create_time")),
            provenance=told,
        )

    def _words(self, content: Mapping[str, Any]) -> str:
        kind, parts = content.get("content_type"), content.get("parts")
        if kind not in ("text", "multimodal_text") or not isinstance(parts, list):
            self.left_out[f"content of type {str(kind)[:40]}"] += 1
            return ""
        entries = cast(list[Any], parts)
        texts = [text for part in entries if (text := text_of(part))]
        pictures = sum(isinstance(part, dict) for part in entries)
        if pictures:
            self.left_out["picture or file in a message"] += pictures
        elif not texts:
            self.left_out["message without text"] += 1
        return "\n".join(texts)


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
