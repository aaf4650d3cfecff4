"""Import of the file of MCP's reference memory server: entities, observations and relations."""

from collections import Counter

from scrubjay.features.transfer.knowledge_graph import KnowledgeGraphFile
from tests.features.transfer.files import NOW, lines, read_records

GRAPH = lines(
    {
        "type": "entity",
        "name": "John_Smith",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "john_smith joined in 2019"],
    },
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "John_Smith", "to": "Acme", "relationType": "works_at"},
)


def test_101_each_observation_and_relation_becomes_a_memory_that_names_its_entity() -> None:
    reader = KnowledgeGraphFile(NOW)
    found = read_records(reader, GRAPH)
    assert [(one.transfer.memory.content, one.transfer.memory.category) for one in found] == [
        ("John_Smith: Speaks fluent Spanish", "person"),
        ("john_smith joined in 2019", "person"),
        ("Acme: company", "company"),
        ("John_Smith works at Acme", "relation"),
    ]
    assert found[0].transfer.memory.details == {
        "entity": "John_Smith",
        "entity_type": "person",
        "observation": "Speaks fluent Spanish",
    }
    assert found[3].transfer.memory.details == {"from": "John_Smith", "relation": "works_at", "to": "Acme"}
    assert len({one.origin for one in found}) == 4
    assert (reader.ignored, reader.complete_kinds()) == (Counter(), frozenset())


def test_101_a_last_line_without_line_end_is_read() -> None:
    """The reference server joins the lines, entities first, without a final line end."""
    assert len(read_records(KnowledgeGraphFile(NOW), GRAPH.rstrip(b"\n"))) == 4


def test_101_unknown_lines_are_counted() -> None:
    reader = KnowledgeGraphFile(NOW)
    odd = {"type": "entity", "name": "X", "entityType": "t", "observations": ["", 7, "fine"]}
    assert len(read_records(reader, lines(odd, {"type": "relation", "from": "X"}, {"other": 1}))) == 1
    assert reader.ignored == Counter({"observation without text": 2, "line that is neither entity nor relation": 2})
