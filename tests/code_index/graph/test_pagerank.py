"""Files are ranked by what uses them."""

import pytest

from scrubjay.code_index.graph.pagerank import file_ranks
from scrubjay.code_index.models import Edge, Evidence, FileEdges, UseKind


def _call(source: int, path: str, target: int) -> Edge:
    return Edge(source, path, target, UseKind.CALL, 1, Evidence.LOCAL, 1.0)


def test_the_most_used_file_ranks_highest_and_the_ranks_sum_to_one():
    edges = {"a": FileEdges([_call(-1, "c", 0)]), "b": FileEdges(imports=["c"]), "c": FileEdges()}
    ranks = file_ranks(edges)
    assert sorted(ranks, key=lambda path: -ranks[path])[0] == "c"
    assert ranks["a"] == ranks["b"]
    assert sum(ranks.values()) == pytest.approx(1)


def test_a_file_without_edges_shares_its_rank_equally():
    assert file_ranks({"a": FileEdges(), "b": FileEdges()}) == {"a": 0.5, "b": 0.5}
    assert file_ranks({}) == {}


def test_ranks_do_not_depend_on_the_order_of_the_files():
    edges = {"a": FileEdges(imports=["b", "c"]), "b": FileEdges(imports=["c"]), "c": FileEdges(imports=["a"])}
    assert file_ranks(edges) == file_ranks(dict(reversed(edges.items())))
