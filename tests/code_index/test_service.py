"""Queries of an index whose files change."""

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.code_index import service
from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.search.ranker import SignalToggles
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


async def search(code: CodeService, index_id: str, query: str) -> list[tuple[str, str, bool]]:
    """Return path, text and staleness of the two best results."""
    hits = await code.search(index_id, query, limit=2, toggles=SignalToggles(), context_lines=0)
    return [(hit.file.path, hit.excerpt.text, hit.stale) for hit in hits]


async def test_a_corpus_prepared_during_the_build_gives_the_same_results_as_one_loaded_later(
    code: CodeService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PERSIST_THRESHOLD", 1)
    index_id = await built(code, root)
    reads: list[object] = []
    read_digests = code.store.digests
    monkeypatch.setattr(code.store, "digests", lambda *args: reads.append(args) or read_digests(*args))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    results = await search(code, index_id, "total of the cart")
    assert (reads, results[0][0]) == ([], "cart.py")
    # Another process loads the stored corpus; without it, the corpus is rebuilt from the digests.
    assert await search(CodeService(code.store, code.indexer), index_id, "total of the cart") == results
    assert reads == []
    shutil.rmtree(code.indexer.folder / index_id)
    assert await search(CodeService(code.store, code.indexer), index_id, "total of the cart") == results
    assert reads != []


async def test_a_corpus_prepared_for_a_failed_build_is_not_used_for_another_build(
    code: CodeService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PERSIST_THRESHOLD", 1)
    with monkeypatch.context() as broken:

        async def write(*args: object, **kwargs: object) -> bool:
            raise Unavailable("no disk", hint="add one")

        broken.setattr(code.store, "write", write)
        with pytest.raises(Unavailable):
            await built(code, root)
    (root / "cart.py").write_text(CART.replace("prices", "amounts"), "utf-8")
    # The next build is by another process.
    index_id = await built(CodeService(code.store, Indexer(code.store, code.indexer.folder)), root)
    (text,) = [text for path, text, _ in await search(code, index_id, "total of the cart") if path == "cart.py"]
    assert "amounts" in text
    assert [path for path, _, _ in await search(code, index_id, "amounts")] == ["cart.py"]


async def test_an_index_loaded_in_batches_gives_the_same_results(
    code: CodeService, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (root / f"m{number}.py").write_text(
            f"def load_cart_{number}():\n    return load_cart_{number + 1}()\n", "utf-8"
        )
    index_id = await built(code, root)
    expected = await code.search(index_id, "load cart", limit=30, toggles=SignalToggles(), context_lines=0)
    shutil.rmtree(code.indexer.folder / index_id)  # the stored corpus
    monkeypatch.setattr(service, "DIGEST_BATCH", 2)
    other = CodeService(code.store, code.indexer)
    assert await other.search(index_id, "load cart", limit=30, toggles=SignalToggles(), context_lines=0) == expected
    assert len(expected) >= 20


async def test_a_file_is_found_by_the_names_of_its_current_callers(
    code: CodeService, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def caller_scores(service: CodeService, query: str) -> dict[str, float]:
        loaded = await service.load(index_id)
        hits = loaded.ranker.rank(query, 9)
        return {loaded.corpus.files[hit.file].path: round(hit.signals["callers"], 3) for hit in hits}

    monkeypatch.setattr(service, "PERSIST_THRESHOLD", 1)
    (root / "page.py").write_text("from user import load_user\n\n\ndef greet_visitor():\n    load_user()\n", "utf-8")
    index_id = await built(code, root)
    for each in (code, CodeService(code.store, code.indexer)):  # another process loads it from the store
        assert await caller_scores(each, "greet a visitor") == {"page.py": 0.0, "user.py": 0.2}
    (root / "page.py").write_text("from cart import Cart\n\n\ndef greet_visitor():\n    Cart().total()\n", "utf-8")
    await built(code, root)
    for each in (code, CodeService(code.store, code.indexer)):
        assert await caller_scores(each, "greet a visitor") == {"page.py": 0.0, "cart.py": 0.2}
    before = await code.importance(await code.load(index_id))
    again = CodeService(code.store, code.indexer)
    after = await again.importance(await again.load(index_id))
    assert after.files[-1] == pytest.approx(before.files[-1])


async def test_116_a_file_changed_since_indexing_is_found_as_stale_and_without_text(
    code: CodeService, root: Path
) -> None:
    index_id = await built(code, root)
    assert (await search(code, index_id, "Cart"))[0] == ("cart.py", CART.rstrip("\n"), False)
    (root / "cart.py").write_text("class Basket:\n    pass\n", "utf-8")
    assert (await search(code, index_id, "Cart"))[0] == ("cart.py", "", True)
    assert await built(code, root) == index_id
    assert (await search(code, index_id, "Basket"))[0][0] == "cart.py"
    loaded = await code.load(index_id)
    assert loaded.names.find("Cart") == []


async def test_110_another_process_finds_indexed_files_and_later_changes(
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
    assert (await search(other, index_id, "checkout"))[0][0] == "new.py"
    assert await search(other, index_id, "load_user") == await search(code, index_id, "load_user")
    await store.close()


async def test_104_a_small_index_is_refreshed_and_the_index_of_a_removed_folder_is_deleted(
    code: CodeService, root: Path
) -> None:
    index_id = await built(code, root)
    (root / "cart.py").write_text(CART.replace("Cart", "Basket"), "utf-8")
    assert await code.refresh(str(root), IndexOptions(), few=0) == 1
    assert await code.refresh(str(root), IndexOptions(), few=1) == 0
    assert (await code.load(index_id)).names.find("Basket") != []
    shutil.rmtree(root)
    assert await code.clean_up() == 1
    with pytest.raises(NotFound):
        await code.load(index_id)
