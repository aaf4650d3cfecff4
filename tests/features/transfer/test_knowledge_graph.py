"""The file of MCP's reference memory server: entities, observations and relations."""

from collections import Counter

from scrubjay.features.transfer.knowledge_graph import KnowledgeGraph
from tests.features.transfer.files import NOW, arrivals, lines

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


def test_101_each_observation_and_each_relation_is_a_memory_that_names_whom_it_is_about() -> None:
    reading = KnowledgeGraph(NOW)
    found = arrivals(reading, GRAPH)
    assert [(one.moved.memory.content, one.moved.memory.category) for one in found] == [
        ("John_Smith: Speaks fluent Spanish", "person"),
        ("john_smith joined in 2019", "person"),
        ("Acme: company", "company"),
        ("John_Smith works at Acme", "relation"),
    ]
    assert found[0].moved.memory.details == {
        "entity": "John_Smith",
        "entity_type": "person",
        "observation": "Speaks fluent Spanish",
    }
    assert found[3].moved.memory.details == {"from": "John_Smith", "relation": "works_at", "to": "Acme"}
    assert len({one.origin for one in found}) == 4
    assert (reading.left_out, reading.holds()) == (Counter(), frozenset())


def test_101_the_last_line_has_no_end() -> None:
    """The server joins its lines, entities first, and ends the file with the last one."""
    assert len(arrivals(KnowledgeGraph(NOW), GRAPH.rstrip(b"\n"))) == 4


def test_101_lines_that_are_nothing_of_this_are_counted() -> None:
    reading = KnowledgeGraph(NOW)
    odd = {"type": "entity", "name": "X", "entityType": "t", "observations": ["", 7, "fine"]}
    assert len(arrivals(reading, lines(odd, {"type": "relation", "from": "X"}, {"other": 1}))) == 1
    assert reading.left_out == Counter({"observation without text": 2, "line that is neither entity nor relation": 2})
