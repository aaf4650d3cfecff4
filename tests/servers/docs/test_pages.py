from pathlib import Path

from scrubjay.servers.docs.pages import stale_pages, write_pages

PAGES = {"errors.md": "# Errors\n", "tools/notes.md": "# Notes ⚑\n"}


def test_writing_removes_all_other_files(tmp_path: Path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "old.md").write_text("old")
    write_pages(PAGES, tmp_path)
    assert stale_pages(PAGES, tmp_path) == []
    assert {
        path.relative_to(tmp_path).as_posix(): path.read_bytes().decode() for path in tmp_path.rglob("*.md")
    } == PAGES


def test_every_difference_is_reported(tmp_path: Path):
    write_pages(PAGES, tmp_path)
    (tmp_path / "errors.md").write_bytes(b"# Errors\r\n")
    (tmp_path / "tools" / "notes.md").unlink()
    (tmp_path / "tools" / "more.md").write_text("more")
    assert stale_pages(PAGES, tmp_path) == [
        "errors.md: is out of date",
        "tools/more.md: should not exist",
        "tools/notes.md: is missing",
    ]


def test_in_a_missing_folder_every_page_is_missing(tmp_path: Path):
    assert stale_pages({"a.md": "x"}, tmp_path / "none") == ["a.md: is missing"]
