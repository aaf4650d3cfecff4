"""Embedding models in the SQLite store, beyond the contract."""

from pathlib import Path

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.features.embeddings.models import NewVector
from tests.contracts.samples import vector, write


async def test_the_derived_file_of_a_model_without_vectors_is_removed(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path)
    await store.memories.put([write("a", id="mem_a", vector=vector(1, 0), model="old")])
    await store.memories.begin_rebuild(resume=False)
    await store.memories.rebuild([("mem_a", write("a", vector=vector(1, 0), model="old").derived)])
    (file,) = await store.memories.finish_rebuild()
    await store.embeddings.drop_files()
    assert (tmp_path / "derived" / file.name).exists()
    await store.embeddings.put("new", [NewVector("mem_a", "a", vector(0, 1))])
    assert await store.embeddings.drop_replaced("new", 10) == 1
    await store.embeddings.drop_files()
    assert not (tmp_path / "derived" / file.name).exists()
    await store.close()
