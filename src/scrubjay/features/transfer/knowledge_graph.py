"""Reader of the MCP reference memory server's file: entities with observations, and relations."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from scrubjay.features.transfer.records import ImportRecord, PartialFormat, clean_text, make_record, to_label
from scrubjay.features.transfer.source_file import ImportSource

SOURCE = "mcp-memory"


class KnowledgeGraphFile(PartialFormat):
    """Creates one memory per observation and per relation. Implements `records.Format`."""

    name = SOURCE

    @staticmethod
    def recognises(document: Mapping[str, Any]) -> bool:
        match document:
            case {"type": "entity", "name": str(), "entityType": _}:
                return True
            case {"type": "relation", "from": str(), "to": str(), "relationType": _}:
                return True
            case _:
                return False

    def records(self, file: ImportSource) -> Iterator[ImportRecord]:
        for _, document in file.objects():
            match document:
                case {"type": "entity", "name": str(name), "entityType": kind} if name.strip():
                    yield from self._entity(name.strip(), clean_text(kind), document.get("observations"))
                case {"type": "relation", "from": str(one), "to": str(other), "relationType": str(relation)}:
                    yield from self._relation(one.strip(), relation.strip(), other.strip())
                case _:
                    self.ignored["line that is neither entity nor relation"] += 1

    def _entity(self, name: str, kind: str, observations: Any) -> Iterator[ImportRecord]:
        given = cast(list[Any], observations) if isinstance(observations, list) else []
        texts = [text for one in given if (text := clean_text(one))]
        if len(texts) < len(given):
            self.ignored["observation without text"] += len(given) - len(texts)
        details = {"entity": name, "entity_type": kind}
        for text in texts:
            content = text if name.casefold() in text.casefold() else f"{name}: {text}"
            yield from self._memory(f"{name}\n{text}", content, kind, {**details, "observation": text})
        if not given:
            yield from self._memory(name, f"{name}: {kind}" if kind else name, kind, details)

    def _relation(self, one: str, relation: str, other: str) -> Iterator[ImportRecord]:
        details = {"from": one, "relation": relation, "to": other}
        content = f"{one} {relation.replace('_', ' ')} {other}"
        yield from self._memory(f"{one}\n{relation}\n{other}", content, "relation", details)

    def _memory(self, origin: str, content: str, category: str, details: Mapping[str, Any]) -> Iterator[ImportRecord]:
        yield from make_record(SOURCE, origin, content, now=self._now, category=to_label(category), details=details)
