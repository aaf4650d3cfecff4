from collections.abc import Callable

import pytest

from scrubjay.servers.cli.blocks import Block, Cell, NoteBlock, PairsBlock, TableBlock
from scrubjay.servers.cli.rich_output import draw

Render = Callable[..., list[str]]


@pytest.fixture
def render(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Render:
    def render(width: int, *blocks: Block) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        draw(blocks)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    return render


MEMORIES = TableBlock(
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


def test_a_table_that_fits_has_all_its_columns(render: Render):
    table = TableBlock(
        "files (2)",
        ("name", "rows"),
        ((Cell("text index"), Cell("10000", "number")), (Cell("vectors"), Cell("5", "number"))),
    )
    assert render(80, table, NoteBlock("memories 3")) == [
        "files (2)",
        " name          rows",
        "────────────────────",
        " text index   10000",
        " vectors          5",
        "",
        " memories 3",
    ]


def test_a_narrow_table_shows_the_remaining_fields_below_the_text(render: Render):
    assert render(80, MEMORIES) == [
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


def test_a_wider_terminal_shows_more_columns(render: Render):
    assert render(140, MEMORIES)[1].split() == ["score", "id", "tags", "content"]


def test_equal_times_are_merged(render: Render):
    (first, _) = MEMORIES.rows
    lines = render(120, TableBlock("memories (1)", MEMORIES.headers, (first,)))
    assert "recorded at, updated at 2026-01-31 11:57 (3 minutes ago)" in "\n".join(lines)


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_no_line_is_wider_than_the_terminal(render: Render, width: int):
    pairs = PairsBlock("thing", (("id", Cell("x" * 200)), ("text", Cell("words " * 50))))
    assert max(len(line) for line in render(width, MEMORIES, pairs, NoteBlock("note " * 50))) <= width


def test_an_object_is_a_panel(render: Render):
    assert render(80, PairsBlock("part", (("id", Cell("n1")), ("pinned", Cell("yes", "yes"))))) == [
        "╭─ part ──────╮",
        "│ id      n1  │",
        "│ pinned  yes │",
        "╰─────────────╯",
    ]
