"""The consequences of a change are ordered by risk and give the reason in words."""

from pathlib import Path

from scrubjay.code_index.diff.files import diff_files
from scrubjay.code_index.diff.risk import consequences_of, reaching_tests
from scrubjay.code_index.index.options import IndexOptions
from tests.code_index.diff.shop_history import change_work_tree, commit, first_commit, git, write
from tests.code_index.indexes import Home, opened


async def test_consequences_are_ordered_by_risk_and_removed_definitions_still_in_use_are_first(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    first_commit(root)
    change_work_tree(root)
    async with opened(tmp_path / "home") as home:
        built = await home.build(root)
        loaded = await home.code.load(built.record.id)
        changed = await diff_files(home.code, str(root), "HEAD", None, IndexOptions())
        found = await consequences_of(changed, home.code, loaded, 3)
        assert [(one.touched.name, one.touched.touch.value, one.risk, one.reason) for one in found.found] == [
            (
                "load_user",
                "removed",
                1.0,
                "removed; `load_user` is still used at shop/auth.py:1 and 1 more; 1 test reaches it",
            ),
            (
                "save_user",
                "signature",
                0.76,
                "its signature changed; 1 direct user; 1 of them did not change with it; 1 test reaches it",
            ),
            (
                "price",
                "body",
                0.51,
                "its body changed; 1 direct user; no test reaches it",
            ),
            (
                "check_key",
                "renamed",
                0.495,
                "renamed from `check`; 1 direct user, 1 more through others; 1 test reaches it",
            ),
            ("", "top", 0.15, "code outside of definitions changed; 1 file imports it"),
            ("count", "body", 0.14, "its body changed; nothing else uses it"),
            ("fresh", "added", 0.02, "new; nothing else uses it"),
        ]
        first = found.found[0]
        assert [(use.line, use.use, use.is_sure) for use in first.still_used] == [
            (1, "shop.store.load_user", True),
            (9, "load_user", True),
        ]
        await _assert_outdated_index_is_recognized(home, root)
        names = [loaded.names.qualified(node.symbol) for node in reaching_tests(found.found, loaded)]
        assert names == ["test_register", "test_enter"]


async def _assert_outdated_index_is_recognized(home: Home, root: Path) -> None:
    """Check that a removed definition is not reported as missing while the index still contains it."""
    write(root, {"shop/more.py": "from shop.store import fresh\n"})
    commit(root, "Another shop")
    loaded = await home.code.load((await home.build(root)).record.id)
    back = await diff_files(home.code, str(root), "HEAD", "HEAD~1", IndexOptions())
    found = {one.touched.name: one for one in (await consequences_of(back, home.code, loaded, 1)).found}
    assert (found["fresh"].still_used, found["fresh"].reason) == ([], "removed; the index still has it")


async def test_a_use_that_may_mean_another_definition_is_not_certain_to_break(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    first_commit(root)
    using = "import lib\n\n\ndef use(thing):\n    thing.count()\n    thing.vanish()\n    lib.vanish()\n"
    write(root, {"shop/other.py": using})
    store = (root / "shop/store.py").read_text() + "\n\ndef vanish():\n    return None\n"
    async with opened(tmp_path / "home") as home:
        write(root, {"shop/store.py": store})
        commit(root, "More")
        write(root, {"shop/store.py": store.replace("def vanish():\n    return None\n", "").replace("count", "number")})
        built = await home.build(root)
        loaded = await home.code.load(built.record.id)
        changed = await diff_files(home.code, str(root), "HEAD", None, IndexOptions())
        found = {one.touched.name: one for one in (await consequences_of(changed, home.code, loaded, 3)).found}
        # The type of `thing` is unknown; `lib` is another library.
        assert [(use.line, use.is_sure) for use in found["vanish"].still_used] == [(6, False)]
        assert "may still be used (the same name)" in found["vanish"].reason
        assert found["vanish"].risk == 0.5


async def test_users_of_a_go_method_are_found_by_its_type(tmp_path: Path) -> None:
    root = tmp_path / "gin"
    write(root, {"go.mod": "module gin\n", "context.go": METHOD, "use.go": USE})
    git(root, "init", "-q", "-b", "main")
    commit(root, "first")
    write(root, {"context.go": METHOD.replace("name string", "name string, fallback string")})
    async with opened(tmp_path / "home") as home:
        built = await home.build(root)
        loaded = await home.code.load(built.record.id)
        changed = await diff_files(home.code, str(root), "HEAD", None, IndexOptions())
        (one,) = (await consequences_of(changed, home.code, loaded, 3)).found
        assert (one.touched.name, one.reason) == (
            "Context.Query",
            "its signature changed; 1 direct user; 1 of them did not change with it; no test reaches it",
        )


METHOD = """package gin

type Context struct{ path string }

func (c *Context) Query(name string) string { return c.path + name }
"""
USE = """package gin

func Handle(c *Context) string { return c.Query("a") }
"""
