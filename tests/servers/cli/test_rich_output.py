from collections.abc import Callable

import pytest

from scrubjay.servers.cli.blocks import Block, Cell, Note, Pairs, Table
from scrubjay.servers.cli.rich_output import draw

Drawn = Callable[..., list[str]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Drawn:
    def drawn(width: int, *blocks: Block) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        draw(blocks)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return drawn


MEMORIES = Table(
    "memories (2)",
    ("id", "content", "scope", "tags", "recorded at", "updated at", "score"),
    (
        (
            Cell("mem_01jd8x7c2v9w4h6k1m3n5p7q9s"),
            Cell("Production runs PostgreSQL, and the tests need no service at all because they use SQLite."),
            Cell("project"),
            Cell("db, prod"),
            Cell("2026-01-31 11:57 (3 minutes ago)", "time"),
            Cell("2026-01-31 11:57 (3 minutes ago)", "time"),
            Cell("0.873", "number"),
        ),
        (
            Cell("mem_01jd8x7c2v9w4h6k1m3n5p7q8s"),
            Cell("[bold]We[/bold] chose :smile: Postgres."),
            Cell("project"),
            Cell("", "nothing"),
            Cell("2026-01-31 11:00 (1 hour ago)", "time"),
            Cell("2026-01-31 11:57 (3 minutes ago)", "time"),
            Cell("0.412", "number"),
        ),
    ),
)


def test_a_table_that_fits_has_all_its_columns(drawn: Drawn):
    table = Table(
        "files (2)",
        ("name", "rows"),
        ((Cell("text index"), Cell("10000", "number")), (Cell("vectors"), Cell("5", "number"))),
    )
    assert drawn(80, table, Note("memories 3")) == [
        "files (2)",
        " name          rows",
        "────────────────────",
        " text index   10000",
        " vectors          5",
        "",
        " memories 3",
    ]


def test_a_crowded_table_keeps_its_text_readable_and_tells_the_rest_below_it(drawn: Drawn):
    assert drawn(80, MEMORIES) == [
        "memories (2)",
        " score   tags       content",
        "────────────────────────────────────────────────────────────────────────────────",
        " 0.873   db, prod   Production runs PostgreSQL, and the tests need no service",
        "                    at all because they use SQLite.",
        "                    id mem_01jd8x7c2v9w4h6k1m3n5p7q9s",
        "                    recorded at 2026-01-31 11:57 (3 minutes ago)",
        "",
        " 0.412              [bold]We[/bold] chose :smile: Postgres.",
        "                    id mem_01jd8x7c2v9w4h6k1m3n5p7q8s",
        "                    recorded at 2026-01-31 11:00 (1 hour ago)",
        "",
        " all have scope project · updated at 2026-01-31 11:57 (3 minutes ago)",
    ]


def test_more_columns_stand_side_by_side_where_there_is_room(drawn: Drawn):
    assert drawn(140, MEMORIES)[1].split() == ["score", "id", "tags", "content"]


def test_equal_times_are_told_once(drawn: Drawn):
    (first, _) = MEMORIES.rows
    lines = drawn(120, Table("memories (1)", MEMORIES.headers, (first,)))
    assert "recorded at, updated at 2026-01-31 11:57 (3 minutes ago)" in "\n".join(lines)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_no_line_is_wider_than_the_terminal(drawn: Drawn, width: int):
    pairs = Pairs("thing", (("id", Cell("x" * 200)), ("text", Cell("words " * 50))))
    assert max(len(line) for line in drawn(width, MEMORIES, pairs, Note("note " * 50))) <= width


def test_one_thing_is_a_panel(drawn: Drawn):
    assert drawn(80, Pairs("part", (("id", Cell("n1")), ("pinned", Cell("yes", "yes"))))) == [
        "╭─ part ──────╮",
        "│ id      n1  │",
        "│ pinned  yes │",
        "╰─────────────╯",
    ]
