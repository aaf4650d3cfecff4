import pytest

from scrubjay.code_index.graph.pagerank import file_ranks
from scrubjay.code_index.models import Edge, Evidence, FileEdges, UseKind


def _call(source: int, path: str, target: int) -> Edge:
    return Edge(source, path, target, UseKind.CALL, 1, Evidence.LOCAL, 1.0)


def test_what_many_files_use_ranks_highest_and_all_ranks_make_one():
    edges = {"a": FileEdges([_call(-1, "c", 0)]), "b": FileEdges(imports=["c"]), "c": FileEdges()}
    ranks = file_ranks(edges)
    assert sorted(ranks, key=lambda path: -ranks[path])[0] == "c"
    assert ranks["a"] == ranks["b"]
    assert sum(ranks.values()) == pytest.approx(1)


def test_a_file_that_leads_nowhere_gives_to_all_alike():
    assert file_ranks({"a": FileEdges(), "b": FileEdges()}) == {"a": 0.5, "b": 0.5}
    assert file_ranks({}) == {}


def test_ranks_are_the_same_whatever_the_order_of_the_files():
    edges = {"a": FileEdges(imports=["b", "c"]), "b": FileEdges(imports=["c"]), "c": FileEdges(imports=["a"])}
    assert file_ranks(edges) == file_ranks(dict(reversed(edges.items())))
