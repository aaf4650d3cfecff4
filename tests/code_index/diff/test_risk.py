"""What a change may break is told in the order of the risk, with the reason in words."""

from pathlib import Path

from scrubjay.code_index.diff.files import difference
from scrubjay.code_index.diff.risk import consequences_of, reaching_tests
from scrubjay.code_index.index.indexer import IndexOptions
from tests.code_index.diff.shop_history import commit, first_commit, git, then, write
from tests.code_index.indexes import Home, opened


async def test_what_is_gone_and_still_used_comes_first_and_the_others_by_their_risk(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    first_commit(root)
    then(root)
    async with opened(tmp_path / "home") as home:
        built = await home.build(root)
        loaded = await home.code.load(built.record.id)
        changed = await difference(home.code, str(root), "HEAD", None, IndexOptions())
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
                "its signature changed; 1 uses it directly; 1 of them did not change with it; 1 test reaches it",
            ),
            (
                "price",
                "body",
                0.51,
                "its body changed; 1 uses it directly; no test reaches it",
            ),
            (
                "check_key",
                "renamed",
                0.495,
                "renamed from `check`; 1 uses it directly, 1 more through others; 1 test reaches it",
            ),
            ("", "top", 0.15, "what is outside of definitions changed; 1 file imports it"),
            ("count", "body", 0.14, "its body changed; nothing else uses it"),
            ("fresh", "added", 0.02, "new; nothing else uses it"),
        ]
        first = found.found[0]
        assert [(use.line, use.use, use.is_sure) for use in first.still_used] == [
            (1, "shop.store.load_user", True),
            (9, "load_user", True),
        ]
        await _the_other_way_round(home, root)
        names = [loaded.names.qualified(node.symbol) for node in reaching_tests(found.found, loaded)]
        assert names == ["test_register", "test_enter"]


async def _the_other_way_round(home: Home, root: Path) -> None:
    """What a change takes away is not missed where the index is of another moment, and still has it."""
    write(root, {"shop/more.py": "from shop.store import fresh\n"})
    commit(root, "Another shop")
    loaded = await home.code.load((await home.build(root)).record.id)
    back = await difference(home.code, str(root), "HEAD", "HEAD~1", IndexOptions())
    found = {one.touched.name: one for one in (await consequences_of(back, home.code, loaded, 1)).found}
    assert (found["fresh"].still_used, found["fresh"].reason) == ([], "removed; the index still has it")


async def test_a_name_that_something_else_has_too_is_not_said_to_be_broken(tmp_path: Path) -> None:
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
        changed = await difference(home.code, str(root), "HEAD", None, IndexOptions())
        found = {one.touched.name: one for one in (await consequences_of(changed, home.code, loaded, 3)).found}
        # Nobody knows what `thing` is; `lib` is another library.
        assert [(use.line, use.is_sure) for use in found["vanish"].still_used] == [(6, False)]
        assert "may still be used (the same name)" in found["vanish"].reason
        assert found["vanish"].risk == 0.5


async def test_who_uses_a_method_of_go_is_known_by_its_type(tmp_path: Path) -> None:
    root = tmp_path / "gin"
    write(root, {"go.mod": "module gin\n", "context.go": METHOD, "use.go": USE})
    git(root, "init", "-q", "-b", "main")
    commit(root, "first")
    write(root, {"context.go": METHOD.replace("name string", "name string, fallback string")})
    async with opened(tmp_path / "home") as home:
        built = await home.build(root)
        loaded = await home.code.load(built.record.id)
        changed = await difference(home.code, str(root), "HEAD", None, IndexOptions())
        (one,) = (await consequences_of(changed, home.code, loaded, 3)).found
        assert (one.touched.name, one.reason) == (
            "Context.Query",
            "its signature changed; 1 uses it directly; 1 of them did not change with it; no test reaches it",
        )


METHOD = """package gin

type Context struct{ path string }

func (c *Context) Query(name string) string { return c.path + name }
"""
USE = """package gin

func Handle(c *Context) string { return c.Query("a") }
"""
