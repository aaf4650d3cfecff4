"""Reader of Neo backups: one line per turn or summary."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from scrubjay.core.ids import last_id
from scrubjay.features.memory.models import MemoryKind
from scrubjay.features.summaries.models import KEY_PREFIXES, LEVEL_TAGS, GenerationMethod, Level, SummaryCategory
from scrubjay.features.transfer.records import ImportRecord, clean_text, make_record, parse_time, to_label
from scrubjay.features.transfer.source_file import ImportSource

SOURCE = "neo"
_TURN_FIELDS = ("prompt", "thought", "response")
_NUMBERS = ("memoryCount", "quality", "productivity", "impact", "complexity")
_COMMON_FIELDS = ("sessionId", "timestamp", "type")
_KNOWN = frozenset({*_TURN_FIELDS, *_NUMBERS, *_COMMON_FIELDS, "title", "summary", "category", "technologies"})


class NeoBackup:
    """Creates turns and summaries with sessions and times; vectors are recomputed. Implements `records.Format`."""

    name = SOURCE

    def __init__(self, now: datetime) -> None:
        self.ignored: Counter[str] = Counter()
        self._now = now
        self._held: set[MemoryKind] = set()

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        match document:
            case {"id": str(), "metadata": {"sessionId": _}, "document": _}:
                return True
            case _:
                return False

    def complete_kinds(self) -> frozenset[MemoryKind]:
        return frozenset(self._held)

    def records(self, file: ImportSource) -> Iterator[ImportRecord]:
        for _, document in file.objects():
            if not self.recognises(document):
                self.ignored["line that is neither turn nor summary"] += 1
                continue
            metadata = cast(dict[str, Any], document["metadata"])
            origin, text = document["id"], clean_text(document["document"])
            if any(clean_text(metadata.get(name)) for name in _TURN_FIELDS):
                self._held.add(MemoryKind.TURN)
                yield from self._turn(origin, text, metadata)
            elif not (text := clean_text(metadata.get("summary")) or text):
                self.ignored["record without text"] += 1
            elif "memoryCount" in metadata or "title" in metadata:
                self._held.add(MemoryKind.SUMMARY)
                yield from self._summary(origin, text, metadata)
            else:  # for example a plan; such records are not a complete copy of their kind
                category = to_label(metadata.get("type"))
                yield from self._memory(origin, text, metadata, kind=MemoryKind.CONTEXT, category=category)

    def _turn(self, origin: str, text: str, metadata: Mapping[str, Any]) -> Iterator[ImportRecord]:
        details = {name: clean_text(metadata.get(name)) for name in _TURN_FIELDS}
        written = (
            f"User Prompt: {details['prompt']}\nAgent Thought: {details['thought']}\n"
            f"Agent Response: {details['response']}"
        )
        return self._memory(origin, text or written, metadata, kind=MemoryKind.TURN, details=details)

    def _summary(self, origin: str, summary: str, metadata: Mapping[str, Any]) -> Iterator[ImportRecord]:
        title = clean_text(metadata.get("title"))
        session, made_at = to_label(metadata["sessionId"]), parse_time(metadata.get("timestamp"))
        category = metadata.get("category")
        technologies = [text for one in str(metadata.get("technologies") or "").split(",") if (text := clean_text(one))]
        numbers = {name: round(value) for name in _NUMBERS if isinstance(value := metadata.get(name), int | float)}
        details: dict[str, Any] = {
            "level": int(Level.SESSION),
            "sessionId": session,
            "title": title,
            "summary": summary,
            **numbers,
            "technologies": technologies,
            "method": GenerationMethod.LLM.value,
        }
        if made_at is not None:
            # It covers all turns up to then, so the session is summarised again only if it continues.
            through = last_id("mem", round(made_at.timestamp() * 1000))
            details |= {"turns": numbers.get("memoryCount", 0), "through": through}
        return self._memory(
            origin,
            f"{title}\n\n{summary}".strip(),
            metadata,
            kind=MemoryKind.SUMMARY,
            key=KEY_PREFIXES[Level.SESSION] + session if session else None,
            category=category if category in [*SummaryCategory] else SummaryCategory.OTHER.value,
            tags=tuple(dict.fromkeys([LEVEL_TAGS[Level.SESSION], *technologies])),
            details=details,
        )

    def _memory(self, origin: str, content: str, metadata: Mapping[str, Any], **fields: Any) -> Iterator[ImportRecord]:
        return make_record(
            SOURCE,
            origin,
            content,
            now=self._now,
            session_id=to_label(metadata["sessionId"]),
            occurred_at=parse_time(metadata.get("timestamp")),
            metadata={name: value for name, value in metadata.items() if name not in _KNOWN},
            **fields,
        )
