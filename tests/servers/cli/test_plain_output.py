from scrubjay.servers.cli.blocks import Cell, Note, Pairs, Table
from scrubjay.servers.cli.plain_output import plain_text


def test_a_row_is_a_line_with_the_longest_text_last():
    table = Table(
        "notes (2)",
        ("content", "id", "漢字"),
        ((Cell("first line\nsecond line"), Cell("n1"), Cell("一")), (Cell("short"), Cell("note 2"), Cell("two"))),
    )
    assert plain_text([table, Note("total 2")]) == (
        "id      漢字  content\nn1      一    first line\\nsecond line\nnote 2  two   short\n\ntotal 2"
    )


def test_one_long_value_does_not_fill_the_other_rows_with_blanks():
    table = Table("", ("a", "b"), ((Cell("x" * 60), Cell("y" * 61)), (Cell("x"), Cell("y"))))
    assert plain_text([table]).splitlines()[2] == f"x{' ' * 41}y"


def test_pairs_are_lines_and_longer_texts_are_indented():
    assert plain_text([Pairs("", (("a", Cell("1")), ("b", Cell("x\ny")))), Pairs("inner", (("c", Cell("2")),))]) == (
        "a: 1\nb:\n  x\n  y\n\ninner:\n  c: 2"
    )
