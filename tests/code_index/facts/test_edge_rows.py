"""Edges in columns behave like a list of edges."""

from scrubjay.code_index.facts.edge_rows import LazyRows
from scrubjay.code_index.facts.packing import pack_edges, unpack_edges
from scrubjay.code_index.models import Edge, Evidence, FileEdges, Unresolved, UseKind

EDGES = [
    Edge(0, "b.py", 2, UseKind.CALL, 3, Evidence.IMPORTED, 0.95),
    Edge(-1, "a.py", 1, UseKind.INHERIT, 4, Evidence.LOCAL, 0.76),
]
UNRESOLVED = [Unresolved(1, "os.getpid", UseKind.CALL, 9, "os")]
AS_COLUMNS = FileEdges(
    LazyRows(
        Edge, [(0, -1), ("b.py", "a.py"), (2, 1), ("call", "inherit"), (3, 4), ("imported", "local"), (0.95, 0.76)]
    ),
    LazyRows(Unresolved, [(1,), ("os.getpid",), ("call",), (9,), ("os",)]),
    ["b.py"],
)


def test_columns_compare_equal_to_rows() -> None:
    rows = AS_COLUMNS.edges
    assert rows == EDGES
    assert rows != EDGES[:1]
    assert rows == LazyRows(Edge, rows.columns if isinstance(rows, LazyRows) else ())
    assert (len(rows), rows[0], rows[1:], [*rows], repr(rows)) == (2, EDGES[0], EDGES[1:], EDGES, repr(EDGES))
    assert [type(value) for value in rows[0]] == [int, str, int, UseKind, int, Evidence, float]
    assert AS_COLUMNS.unresolved == UNRESOLVED


def test_columns_are_packed_like_rows() -> None:
    assert pack_edges(AS_COLUMNS) == pack_edges(FileEdges(EDGES, UNRESOLVED, ["b.py"]))
    assert unpack_edges(pack_edges(AS_COLUMNS).edges) == FileEdges(EDGES, UNRESOLVED, ["b.py"])
