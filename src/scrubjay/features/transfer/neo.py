"""Reads the backups of Neo's memory core: one line for each turn or each summary."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from scrubjay.core.ids import last_id
from scrubjay.features.memory.models import Kind
from scrubjay.features.summaries.models import KEY_PREFIXES, LEVEL_TAGS, Level, Method, SummaryCategory
from scrubjay.features.transfer.records import Arrival, foreign, label_of, moment_of, text_of
from scrubjay.features.transfer.source_file import SourceFile

SOURCE = "neo"
_OF_A_TURN = ("prompt", "thought", "response")
_NUMBERS = ("memoryCount", "quality", "productivity", "impact", "complexity")
_OF_BOTH = ("sessionId", "timestamp", "type")
_KNOWN = frozenset({*_OF_A_TURN, *_NUMBERS, *_OF_BOTH, "title", "summary", "category", "technologies"})


class NeoBackup:
    """Turns and summaries with their sessions and times; vectors are made anew. Satisfies `arrivals.Format`."""

    name = SOURCE

    def __init__(self, now: datetime) -> None:
        self.left_out: Counter[str] = Counter()
        self._now = now
        self._held: set[Kind] = set()

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        match document:
            case {"id": str(), "metadata": {"sessionId": _}, "document": _}:
                return True
            case _:
                return False

    def holds(self) -> frozenset[Kind]:
        return frozenset(self._held)

    def arrivals(self, file: SourceFile) -> Iterator[Arrival]:
        for _, document in file.objects():
            if not self.recognises(document):
                self.left_out["line that is neither turn nor summary"] += 1
                continue
            metadata = cast(dict[str, Any], document["metadata"])
            origin, text = document["id"], text_of(document["document"])
            if any(text_of(metadata.get(name)) for name in _OF_A_TURN):
                self._held.add(Kind.TURN)
                yield from self._turn(origin, text, metadata)
            elif not (text := text_of(metadata.get("summary")) or text):
                self.left_out["record without text"] += 1
            elif "memoryCount" in metadata or "title" in metadata:
                self._held.add(Kind.SUMMARY)
                yield from self._summary(origin, text, metadata)
            else:  # a plan, for example, which is no copy of all that is known of its kind
                category = label_of(metadata.get("type"))
                yield from self._memory(origin, text, metadata, kind=Kind.CONTEXT, category=category)

    def _turn(self, origin: str, text: str, metadata: Mapping[str, Any]) -> Iterator[Arrival]:
        details = {name: text_of(metadata.get(name)) for name in _OF_A_TURN}
        written = (
            f"User Prompt: {details['prompt']}\nAgent Thought: {details['thought']}\n"
            f"Agent Response: {details['response']}"
        )
        return self._memory(origin, text or written, metadata, kind=Kind.TURN, details=details)

    def _summary(self, origin: str, summary: str, metadata: Mapping[str, Any]) -> Iterator[Arrival]:
        title = text_of(metadata.get("title"))
        session, made_at = label_of(metadata["sessionId"]), moment_of(metadata.get("timestamp"))
        category = metadata.get("category")
        technologies = [text for one in str(metadata.get("technologies") or "").split(",") if (text := text_of(one))]
        numbers = {name: round(value) for name in _NUMBERS if isinstance(value := metadata.get(name), int | float)}
        details: dict[str, Any] = {
            "level": int(Level.SESSION),
            "sessionId": session,
            "title": title,
            "summary": summary,
            **numbers,
            "technologies": technologies,
            "method": Method.LLM.value,
        }
        if made_at is not None:
            # It is made of all turns up to then, so summarising begins anew only if the session goes on.
            through = last_id("mem", round(made_at.timestamp() * 1000))
            details |= {"turns": numbers.get("memoryCount", 0), "through": through}
        return self._memory(
            origin,
            f"{title}\n\n{summary}".strip(),
            metadata,
            kind=Kind.SUMMARY,
            key=KEY_PREFIXES[Level.SESSION] + session if session else None,
            category=category if category in [*SummaryCategory] else SummaryCategory.OTHER.value,
            tags=tuple(dict.fromkeys([LEVEL_TAGS[Level.SESSION], *technologies])),
            details=details,
        )

    def _memory(self, origin: str, content: str, metadata: Mapping[str, Any], **fields: Any) -> Iterator[Arrival]:
        return foreign(
            SOURCE,
            origin,
            content,
            now=self._now,
            session_id=label_of(metadata["sessionId"]),
            occurred_at=moment_of(metadata.get("timestamp")),
            metadata={name: value for name, value in metadata.items() if name not in _KNOWN},
            **fields,
        )
