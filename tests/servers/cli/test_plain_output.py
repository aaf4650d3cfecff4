from scrubjay.servers.cli.blocks import Cell, NoteBlock, PairsBlock, TableBlock
from scrubjay.servers.cli.plain_output import plain_text


def test_a_row_is_one_line_with_the_widest_column_last():
    table = TableBlock(
        "notes (2)",
        ("content", "id", "漢字"),
        ((Cell("first line\nsecond line"), Cell("n1"), Cell("一")), (Cell("short"), Cell("note 2"), Cell("two"))),
    )
    assert plain_text([table, NoteBlock("total 2")]) == (
        "id      漢字  content\nn1      一    first line\\nsecond line\nnote 2  two   short\n\ntotal 2"
    )


def test_padding_is_limited():
    table = TableBlock("", ("a", "b"), ((Cell("x" * 60), Cell("y" * 61)), (Cell("x"), Cell("y"))))
    assert plain_text([table]).splitlines()[2] == f"x{' ' * 41}y"


def test_pairs_are_lines_and_longer_texts_are_indented():
    assert plain_text(
        [PairsBlock("", (("a", Cell("1")), ("b", Cell("x\ny")))), PairsBlock("inner", (("c", Cell("2")),))]
    ) == ("a: 1\nb:\n  x\n  y\n\ninner:\n  c: 2")
