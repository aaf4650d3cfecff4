"""Changed files are found between any two revisions, and the work tree is only read."""

from pathlib import Path

import pytest

from scrubjay.code_index.diff import files
from scrubjay.code_index.diff.files import Hunk, diff_files, find_hunks
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.core.errors import InvalidRequest, NotFound
from tests.code_index.diff.shop_history import change_work_tree, commit, first_commit, git, write
from tests.code_index.indexes import opened


def test_hunks_name_the_lines_that_were_replaced() -> None:
    assert find_hunks(b"a\nb\nc\n", b"a\nx\ny\nc\n") == [Hunk(2, 1, 2, 2)]
    assert find_hunks(b"a\nb\nc\n", b"b\nc\n") == [Hunk(1, 1, 1, 0)]
    assert find_hunks(b"a\n", b"a\n") == []
    before = b"".join(b"%d\n" % number for number in range(9_000))
    assert find_hunks(before, before[::-1])[0].old_lines > 2_000  # one hunk, found quickly
    assert len(find_hunks(before, before[::-1])) == 1


async def test_files_are_compared_between_the_work_tree_and_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shop"
    first_commit(root)
    change_work_tree(root)
    async with opened(tmp_path / "home") as home:

        async def changed_files(base: str, head: str | None) -> list[tuple[str, str, str]]:
            found = await diff_files(home.code, str(root), base, head, IndexOptions())
            return [(one.status.value, one.old_path, one.path) for one in found.files]

        changes = [("renamed", "web/cart.ts", "shop/cart.ts"), ("modified", "shop/store.py", "shop/store.py")]
        assert await changed_files("HEAD", None) == changes
        assert await changed_files("HEAD", "HEAD") == []
        git(root, "branch", "before")
        commit(root, "Another shop")
        assert await changed_files("HEAD", None) == []
        assert await changed_files("before", "HEAD") == changes
        assert await changed_files("main", "before") == [
            ("modified", "shop/store.py", "shop/store.py"),
            ("renamed", "shop/cart.ts", "web/cart.ts"),
        ]
        monkeypatch.setattr(files, "MAX_BYTES", 800)
        assert await changed_files("before", "HEAD") == changes
        assert (await diff_files(home.code, str(root), "before", "HEAD", IndexOptions())).unread == ["shop/store.py"]
        write(root, {"notes.txt": "new\n"})
        (root / "README.md").unlink()
        assert await changed_files("HEAD", None) == [("removed", "README.md", ""), ("added", "", "notes.txt")]
        with pytest.raises(NotFound, match="no commit 'nowhere'"):
            await changed_files("nowhere", None)
        plain = tmp_path / "plain"
        write(plain, {"a.py": "x = 1\n"})
        with pytest.raises(InvalidRequest):
            await diff_files(home.code, str(plain), "HEAD", None, IndexOptions())
