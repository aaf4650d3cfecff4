"""Which files changed is told between any two moments, and the work tree is only read."""

from pathlib import Path

import pytest

from scrubjay.code_index.diff import files
from scrubjay.code_index.diff.files import Hunk, difference, hunks
from scrubjay.code_index.index.indexer import IndexOptions
from scrubjay.core.errors import InvalidRequest, NotFound
from tests.code_index.diff.shop_history import commit, first_commit, git, then, write
from tests.code_index.indexes import opened


def test_hunks_name_the_lines_that_were_replaced() -> None:
    assert hunks(b"a\nb\nc\n", b"a\nx\ny\nc\n") == [Hunk(2, 1, 2, 2)]
    assert hunks(b"a\nb\nc\n", b"b\nc\n") == [Hunk(1, 1, 1, 0)]
    assert hunks(b"a\n", b"a\n") == []
    before = b"".join(b"%d\n" % number for number in range(9_000))
    assert hunks(before, before[::-1])[0].old_lines > 2_000  # told as one, and soon
    assert len(hunks(before, before[::-1])) == 1


async def test_files_are_compared_between_the_work_tree_and_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shop"
    first_commit(root)
    then(root)
    async with opened(tmp_path / "home") as home:

        async def told(base: str, head: str | None) -> list[tuple[str, str, str]]:
            found = await difference(home.code, str(root), base, head, IndexOptions())
            return [(one.status.value, one.old_path, one.path) for one in found.files]

        changes = [("renamed", "web/cart.ts", "shop/cart.ts"), ("modified", "shop/store.py", "shop/store.py")]
        assert await told("HEAD", None) == changes
        assert await told("HEAD", "HEAD") == []
        git(root, "branch", "before")
        commit(root, "Another shop")
        assert await told("HEAD", None) == []
        assert await told("before", "HEAD") == changes
        assert await told("main", "before") == [
            ("modified", "shop/store.py", "shop/store.py"),
            ("renamed", "shop/cart.ts", "web/cart.ts"),
        ]
        monkeypatch.setattr(files, "MOST_BYTES", 800)
        assert await told("before", "HEAD") == changes
        assert (await difference(home.code, str(root), "before", "HEAD", IndexOptions())).unread == ["shop/store.py"]
        write(root, {"notes.txt": "new\n"})
        (root / "README.md").unlink()
        assert await told("HEAD", None) == [("removed", "README.md", ""), ("added", "", "notes.txt")]
        with pytest.raises(NotFound, match="no commit 'nowhere'"):
            await told("nowhere", None)
        plain = tmp_path / "plain"
        write(plain, {"a.py": "x = 1\n"})
        with pytest.raises(InvalidRequest):
            await difference(home.code, str(plain), "HEAD", None, IndexOptions())
