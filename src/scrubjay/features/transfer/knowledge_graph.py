"""Reads what the reference memory server of MCP keeps: entities with observations, and relations between them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from scrubjay.features.memory.models import Kind
from scrubjay.features.transfer.records import Arrival, foreign, label_of, text_of
from scrubjay.features.transfer.source_file import SourceFile

SOURCE = "mcp-memory"


class KnowledgeGraph:
    """One memory for each observation and each relation. Satisfies `arrivals.Format`."""

    name = SOURCE

    def __init__(self, now: datetime) -> None:
        self.left_out: Counter[str] = Counter()
        self._now = now

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        match document:
            case {"type": "entity", "name": str(), "entityType": _}:
                return True
            case {"type": "relation", "from": str(), "to": str(), "relationType": _}:
                return True
            case _:
                return False

    def holds(self) -> frozenset[Kind]:
        """It knows nothing of sessions, projects and times, so it cannot take the place of what does."""
        return frozenset()

    def arrivals(self, file: SourceFile) -> Iterator[Arrival]:
        for _, document in file.objects():
            match document:
                case {"type": "entity", "name": str(name), "entityType": kind} if name.strip():
                    yield from self._entity(name.strip(), text_of(kind), document.get("observations"))
                case {"type": "relation", "from": str(one), "to": str(other), "relationType": str(relation)}:
                    yield from self._relation(one.strip(), relation.strip(), other.strip())
                case _:
                    self.left_out["line that is neither entity nor relation"] += 1

    def _entity(self, name: str, kind: str, observations: Any) -> Iterator[Arrival]:
        said = cast(list[Any], observations) if isinstance(observations, list) else []
        texts = [text for one in said if (text := text_of(one))]
        if len(texts) < len(said):
            self.left_out["observation without text"] += len(said) - len(texts)
        told = {"entity": name, "entity_type": kind}
        for text in texts:
            content = text if name.casefold() in text.casefold() else f"{name}: {text}"
            yield from self._memory(f"{name}\n{text}", content, kind, {**told, "observation": text})
        if not said:
            yield from self._memory(name, f"{name}: {kind}" if kind else name, kind, told)

    def _relation(self, one: str, relation: str, other: str) -> Iterator[Arrival]:
        told = {"from": one, "relation": relation, "to": other}
        content = f"{one} {relation.replace('_', ' ')} {other}"
        yield from self._memory(f"{one}\n{relation}\n{other}", content, "relation", told)

    def _memory(self, origin: str, content: str, category: str, details: Mapping[str, Any]) -> Iterator[Arrival]:
        yield from foreign(SOURCE, origin, content, now=self._now, category=label_of(category), details=details)
