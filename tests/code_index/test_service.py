"""Asking an index whose files go on changing."""

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.code_index import service
from scrubjay.code_index.index.indexer import Indexer, IndexOptions
from scrubjay.code_index.search.ranker import Toggles
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import NotFound, Unavailable
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.sqlite import SqliteCode

CART = "class Cart:\n    def total(self) -> int:\n        return sum(self.prices)\n"


@pytest.fixture
async def code(tmp_path: Path) -> AsyncGenerator[CodeService]:
    store = await SqliteCode.open(tmp_path / "home")
    yield CodeService(store, Indexer(store, tmp_path / "home" / "code"))
    await store.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text(CART, "utf-8")
    (folder / "user.py").write_text("def load_user() -> None:\n    pass\n", "utf-8")
    return folder


async def built(code: CodeService, root: Path) -> str:
    return (await code.indexer.build(str(root), "HEAD", IndexOptions(), SilentReporter())).record.id


async def found(code: CodeService, index_id: str, query: str) -> list[tuple[str, str, bool]]:
    hits = await code.search(index_id, query, limit=2, toggles=Toggles(), context_lines=0)
    return [(hit.file.path, hit.extract.text, hit.stale) for hit in hits]


async def test_what_is_made_while_uses_are_resolved_answers_as_what_is_made_later(
    code: CodeService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MANY_CHANGES", 1)
    index_id = await built(code, root)
    asked: list[object] = []
    really = code.store.digests
    monkeypatch.setattr(code.store, "digests", lambda *given: asked.append(given) or really(*given))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    made = await found(code, index_id, "total of the cart")
    assert (asked, made[0][0]) == ([], "cart.py")
    # Another process finds it kept; one that finds nothing makes it of the index.
    assert await found(CodeService(code.store, code.indexer), index_id, "total of the cart") == made
    assert asked == []
    shutil.rmtree(code.indexer.folder / index_id)
    assert await found(CodeService(code.store, code.indexer), index_id, "total of the cart") == made
    assert asked != []


async def test_what_was_made_for_a_build_that_failed_is_not_taken_for_that_of_another(
    code: CodeService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MANY_CHANGES", 1)
    with monkeypatch.context() as broken:

        async def write(*given: object, **named: object) -> bool:
            raise Unavailable("no disk", hint="add one")

        broken.setattr(code.store, "write", write)
        with pytest.raises(Unavailable):
            await built(code, root)
    (root / "cart.py").write_text(CART.replace("prices", "amounts"), "utf-8")
    # It may as well be another process that builds it.
    index_id = await built(CodeService(code.store, Indexer(code.store, code.indexer.folder)), root)
    (text,) = [text for path, text, _ in await found(code, index_id, "total of the cart") if path == "cart.py"]
    assert "amounts" in text
    assert [path for path, _, _ in await found(code, index_id, "amounts")] == ["cart.py"]


async def test_an_index_that_is_loaded_in_parts_answers_alike(
    code: CodeService, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (root / f"m{number}.py").write_text(
            f"def load_cart_{number}():\n    return load_cart_{number + 1}()\n", "utf-8"
        )
    index_id = await built(code, root)
    expected = await code.search(index_id, "load cart", limit=30, toggles=Toggles(), context_lines=0)
    shutil.rmtree(code.indexer.folder / index_id)  # what other processes would load
    monkeypatch.setattr(service, "AT_ONCE", 2)
    other = CodeService(code.store, code.indexer)
    assert await other.search(index_id, "load cart", limit=30, toggles=Toggles(), context_lines=0) == expected
    assert len(expected) >= 20


async def test_a_file_is_found_by_the_names_of_what_uses_it_now(
    code: CodeService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def users_say(asking: CodeService, query: str) -> dict[str, float]:
        loaded = await asking.load(index_id)
        hits = loaded.ranker.rank(query, 9)
        return {loaded.corpus.files[one.file].path: round(one.signals["users"], 3) for one in hits}

    monkeypatch.setattr(service, "MANY_CHANGES", 1)
    (root / "page.py").write_text("from user import load_user\n\n\ndef greet_visitor():\n    load_user()\n", "utf-8")
    index_id = await built(code, root)
    for asking in (code, CodeService(code.store, code.indexer)):  # another process finds it kept
        assert await users_say(asking, "greet a visitor") == {"page.py": 0.0, "user.py": 0.2}
    (root / "page.py").write_text("from cart import Cart\n\n\ndef greet_visitor():\n    Cart().total()\n", "utf-8")
    await built(code, root)
    for asking in (code, CodeService(code.store, code.indexer)):
        assert await users_say(asking, "greet a visitor") == {"page.py": 0.0, "cart.py": 0.2}
    before = await code.importance(await code.load(index_id))
    again = CodeService(code.store, code.indexer)
    after = await again.importance(await again.load(index_id))
    assert after.files[-1] == pytest.approx(before.files[-1])


async def test_116_a_file_that_changed_is_found_where_it_was_but_not_shown(code: CodeService, root: Path) -> None:
    index_id = await built(code, root)
    assert (await found(code, index_id, "Cart"))[0] == ("cart.py", CART.rstrip("\n"), False)
    (root / "cart.py").write_text("class Basket:\n    pass\n", "utf-8")
    assert (await found(code, index_id, "Cart"))[0] == ("cart.py", "", True)
    assert await built(code, root) == index_id
    assert (await found(code, index_id, "Basket"))[0][0] == "cart.py"
    loaded = await code.load(index_id)
    assert loaded.names.find("Cart") == []


async def test_110_another_process_finds_what_was_indexed_and_what_changed_since(
    code: CodeService, root: Path, tmp_path: Path
) -> None:
    index_id = await built(code, root)
    await code.load(index_id)
    (root / "new.py").write_text("def checkout() -> None:\n    pass\n", "utf-8")
    (root / "user.py").unlink()
    await built(code, root)
    store = await SqliteCode.open(tmp_path / "home")
    other = CodeService(store, Indexer(store, tmp_path / "home" / "code"))
    loaded = await other.load(index_id)
    assert sorted(loaded.corpus.row_of) == ["cart.py", "new.py"]
    assert (await found(other, index_id, "checkout"))[0][0] == "new.py"
    assert await found(other, index_id, "load_user") == await found(code, index_id, "load_user")
    await store.close()


async def test_104_a_small_index_is_brought_up_to_date_and_one_that_is_gone_is_removed(
    code: CodeService, root: Path
) -> None:
    index_id = await built(code, root)
    (root / "cart.py").write_text(CART.replace("Cart", "Basket"), "utf-8")
    assert await code.freshen(str(root), IndexOptions(), few=0) == 1
    assert await code.freshen(str(root), IndexOptions(), few=1) == 0
    assert (await code.load(index_id)).names.find("Basket") != []
    shutil.rmtree(root)
    assert await code.clean_up() == 1
    with pytest.raises(NotFound):
        await code.load(index_id)
