"""An import changes nothing unless its file is whole, and then keeps everything once."""

import gc
import json
import tracemalloc
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import (
    Cancelled,
    Conflict,
    InvalidRequest,
    QuotaExceeded,
    RateLimited,
    Unavailable,
)
from scrubjay.core.ids import new_id
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.progress import Reporter, SilentReporter
from scrubjay.core.scopes import Scope
from scrubjay.features.embeddings.active_models import ModelsInUse
from scrubjay.features.memory.models import Kind
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer import importer as importing
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.importer import Imported, Importer
from scrubjay.features.transfer.models import Moved
from scrubjay.features.transfer.store import Arrived
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import link, write
from tests.contracts.test_transfer import contents, moved_out, whole
from tests.features.transfer.files import NOW, lines, moved, own_file, signed
from tests.features.transfer.test_claude_code import LOG
from tests.features.transfer.test_knowledge_graph import GRAPH
from tests.features.transfer.test_neo import SUMMARY, TURN
from tests.features.transfer.test_openai_conversations import CONVERSATION
from tests.features.transfer.test_thread_progress import Notebook

_SILENT = SilentReporter()
A_SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


class House:
    """A store with what an import needs around it."""

    def __init__(self, store: SqliteStore, backups: Path) -> None:
        self.store = store
        self.backups = backups
        self.models = ModelsInUse(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
        self.memories = MemoryService(store.memories, self.models)
        backups.mkdir()

    def importer(self, secrets: SecretsPolicy = SecretsPolicy.MASK, quota: Quota | None = None) -> Importer:
        folders = TransferFolders(self.backups)
        return Importer(
            self.store.transfer,
            self.memories,
            self.models,
            self.store.projects,
            folders,
            secrets=secrets,
            quota=quota,
            clock=lambda: NOW,
        )

    async def bring(
        self,
        data: bytes,
        mode: importing.Mode = "merge",
        *,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        reporter: Reporter = _SILENT,
        project_id: str | None = None,
        only_there: bool = False,
        quota: Quota | None = None,
        client: str | None = None,
    ) -> Imported:
        name = new_id("file")
        (self.backups / name).write_bytes(data)
        return await self.importer(secrets, quota).bring_in(
            name, mode, reporter, import_id=name, project_id=project_id, only_there=only_there, client=client
        )

    async def memories_kept(self) -> Sequence[Moved]:
        return (await moved_out(self.store))[2]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    store = await SqliteStore.open(tmp_path / "home")
    yield House(store, tmp_path / "home" / "backups")
    await store.close()


# -- our own files ---------------------------------------------------------------------------------


async def test_101_what_moved_out_of_one_store_is_in_another_as_it_was(house: House) -> None:
    project = Project(id="prj_of_the_old_store", path="/home/ada/x", name="the shop", created_at=NOW)
    sent = [
        moved("in a project", uses=4, scope=Scope.PROJECT, project_id=project.id, key="k", protected=True),
        moved("before", id="old_1", scope=Scope.PROJECT, project_id=project.id, superseded_by="mem_1"),
        moved("a summary", kind=Kind.SUMMARY, details={"title": "t"}),
    ]
    sent[1] = replace(sent[1], memory=replace(sent[1].memory, superseded_by=sent[0].memory.id, valid_until=NOW))
    done = await house.bring(own_file(sent, [project]))
    assert (done.format, done.arrived, done.left_out) == ("scrubjay", Arrived(read=3, imported=3), {})
    here = await house.store.projects.at("/home/ada/x")
    assert here
    assert here.name == "the shop"
    expected = [
        replace(one, memory=replace(one.memory, project_id=here.id if one.memory.project_id else None)) for one in sent
    ]
    assert await house.memories_kept() == expected
    assert (await house.store.memories.counts()).vectors == {"static-v1": 3}
    assert await whole(house.store)


async def test_101_merging_keeps_what_is_there_and_counts_what_it_skips(house: House) -> None:
    mine = moved("mine", key="k")
    await house.bring(own_file([mine]))
    theirs = [moved("theirs", key="k"), replace(mine, memory=replace(mine.memory, content="changed")), moved("new")]
    done = await house.bring(own_file(theirs))
    assert done.arrived == Arrived(read=3, imported=1, skipped=2)
    assert await contents(house.store) == ["mine", "new"]


async def test_101_importing_twice_stores_once(house: House) -> None:
    for data in (
        own_file([moved("a"), moved("b")]),
        LOG,
        GRAPH,
        lines(TURN, SUMMARY),
        json.dumps([CONVERSATION]).encode(),
    ):
        first, second = await house.bring(data), await house.bring(data)
        assert first.arrived.imported > 0
        assert (second.arrived.imported, second.arrived.skipped) == (0, first.arrived.imported)


async def test_101_replacing_lets_the_file_take_the_place_of_what_it_holds(house: House) -> None:
    await house.bring(own_file([moved("old"), moved("old too", kind=Kind.TURN), moved("sum", kind=Kind.SUMMARY)]))
    done = await house.bring(own_file([moved("new")], include=["memories"]), "replace")
    assert done.arrived == Arrived(read=1, imported=1, erased=2, finished=True)
    assert await contents(house.store) == ["sum", "new"]
    assert await whole(house.store)


@pytest.mark.parametrize("mode", ["merge", "replace"])
async def test_101_a_file_that_is_not_whole_changes_nothing(house: House, mode: importing.Mode) -> None:
    await house.bring(own_file([moved("mine")]))
    whole_file = own_file([moved(f"theirs {number}") for number in range(5)])
    newer = whole_file.replace(b'"version":1', b'"version":9')
    for wrong in (
        whole_file[:-2],
        whole_file[:-300],
        whole_file.replace(b"theirs 3", b"theirs 4"),
        newer,
        b"foreign\n",
        LOG[:-9],
    ):
        with pytest.raises(InvalidRequest):
            await house.bring(wrong, mode)
        assert await contents(house.store) == ["mine"]


async def test_101_nothing_cannot_take_the_place_of_something(house: House) -> None:
    await house.bring(own_file([moved("mine")]))
    for nothing in (b"", own_file([])):
        with pytest.raises(InvalidRequest, match="No records found"):
            await house.bring(nothing, "replace")
        assert (await house.bring(nothing)).arrived == Arrived()
    assert await contents(house.store) == ["mine"]


@pytest.mark.parametrize("data", [LOG, GRAPH, json.dumps([CONVERSATION]).encode()])
async def test_101_a_part_of_something_cannot_take_the_place_of_everything(house: House, data: bytes) -> None:
    await house.bring(own_file([moved("mine")]))
    with pytest.raises(InvalidRequest, match="no whole copy"):
        await house.bring(data, "replace")
    assert await contents(house.store) == ["mine"]


async def test_101_a_backup_of_neo_can_take_the_place_of_all_turns(house: House) -> None:
    await house.bring(own_file([moved("a fact"), moved("a turn", kind=Kind.TURN)]))
    done = await house.bring(lines(TURN), "replace")
    assert (done.arrived.erased, await contents(house.store)) == (1, ["a fact", TURN["document"]])


# -- stopping and going on -------------------------------------------------------------------------


async def test_101_a_merge_that_is_stopped_keeps_whole_batches_and_goes_on_from_there(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    data = own_file([moved(f"memory {number}") for number in range(7)])
    (house.backups / "f").write_bytes(data)
    with pytest.raises(Cancelled):
        await house.importer().bring_in("f", "merge", _StopsAfter(4), import_id="job")
    assert len(await contents(house.store)) == 4
    done = await house.importer().bring_in("f", "merge", SilentReporter(), import_id="job")
    assert done.arrived == Arrived(read=7, imported=7)
    assert await contents(house.store) == [f"memory {number}" for number in range(7)]


async def test_101_replacing_that_is_stopped_changes_nothing_and_leaves_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    await house.bring(own_file([moved("mine")]))
    (house.backups / "f").write_bytes(own_file([moved(f"{number}") for number in range(7)]))
    with pytest.raises(Cancelled):
        await house.importer().bring_in("f", "replace", _StopsAfter(4), import_id="job")
    assert await contents(house.store) == ["mine"]
    assert await house.store.transfer.exchange("job", ()) == Arrived(read=4, finished=True)


async def test_101_an_import_that_was_done_is_not_done_again(house: House) -> None:
    (house.backups / "f").write_bytes(own_file([moved("new")]))
    job = await house.store.jobs.add("import_database", {}, owner="me")
    first = await house.importer().bring_in("f", "replace", SilentReporter(), import_id=job.id)
    await house.bring(own_file([moved("later")]))
    again = await house.importer().bring_in("f", "replace", SilentReporter(), import_id=job.id)
    assert again.arrived == first.arrived
    assert await contents(house.store) == ["new", "later"]


async def test_101_a_file_that_is_changed_meanwhile_takes_the_place_of_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.bring(own_file([moved("mine")]))
    path = house.backups / "f"
    path.write_bytes(own_file([moved("theirs")]))

    class Meddler:
        """Writes other memories into the file once it was found whole."""

        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if "read" in message:
                return
            path.write_bytes(own_file([moved("others"), moved("more")]))

    with pytest.raises((Conflict, InvalidRequest)):
        await house.importer().bring_in("f", "replace", Meddler(), import_id="job")
    assert await contents(house.store) == ["mine"]


async def test_101_an_embedder_that_fails_lets_nothing_take_the_place_of_what_is_there(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.bring(own_file([moved("mine")]))

    async def fail(*_: object) -> None:
        raise Unavailable("the embedder is down")

    monkeypatch.setattr(house.memories, "derive", fail)
    with pytest.raises(Unavailable):
        await house.bring(own_file([moved("theirs")]), "replace")
    assert await contents(house.store) == ["mine"]


# -- other programs' files -------------------------------------------------------------------------


async def test_101_a_session_goes_to_the_project_that_it_was_in_unless_another_is_named(house: House) -> None:
    named = await house.store.projects.ensure("/named", None)
    await house.bring(LOG, project_id=named.id)
    shop = await house.store.projects.at("/home/ada/shop")
    assert shop
    kept = [one.memory for one in await house.memories_kept()]
    assert {(memory.scope, memory.project_id) for memory in kept} == {(Scope.PROJECT, shop.id)}
    done = await house.bring(LOG, project_id=named.id, only_there=True)
    assert done.arrived.imported == 3
    assert {one.memory.project_id for one in await house.memories_kept()} == {shop.id, named.id}


async def test_101_what_names_no_project_goes_to_the_active_one_or_to_everybody(house: House) -> None:
    await house.bring(GRAPH)
    assert {one.memory.scope for one in await house.memories_kept()} == {Scope.GLOBAL}
    active = await house.store.projects.ensure("/active", None)
    await house.bring(lines(TURN), project_id=active.id)
    assert (await house.memories_kept())[-1].memory.project_id == active.id


async def test_101_what_is_imported_can_be_recalled(house: House) -> None:
    from scrubjay.core.scopes import Visibility
    from scrubjay.features.memory.models import MemoryFilter
    from scrubjay.features.memory.recall import Wish

    await house.bring(GRAPH)
    found = await house.memories.recall("Who speaks Spanish?", Visibility(), MemoryFilter(), Wish(limit=1, threshold=0))
    assert [hit.memory.content for hit in found.hits] == ["John_Smith: Speaks fluent Spanish"]


async def test_101_secrets_in_files_are_masked_refused_or_kept_as_the_operator_says(house: House) -> None:
    about = (link("src/auth.py::login", text=f'token = "{A_SECRET}"'),)
    data = own_file(
        [
            moved(f"The token is {A_SECRET}"),
            moved("a turn", details={"prompt": f"use {A_SECRET}"}),
            moved("about code", links=about),
        ]
    )
    masked = await house.bring(data)
    assert (masked.masked, masked.arrived.imported) == (3, 3)
    assert A_SECRET not in str(await house.memories_kept())
    other = signed(data.replace(b"mem_", b"mim_"))
    refused = await house.bring(other, secrets=SecretsPolicy.REFUSE)
    assert (refused.arrived, refused.left_out) == (
        Arrived(),
        {"memory with a secret, which may not be kept here": 3},
    )
    kept = await house.bring(other, secrets=SecretsPolicy.KEEP)
    assert (kept.masked, kept.arrived.imported) == (0, 3)
    assert A_SECRET in str(await house.memories_kept())


async def test_101_progress_tells_how_much_of_the_file_is_read(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    notebook = Notebook()
    await house.bring(own_file([moved(f"{number}") for number in range(3)]), reporter=notebook)
    told = [(one.done, one.total, one.message) for one in notebook.noted if "records" in one.message]
    assert told == [(2, 3, "read 2 of 3 records"), (3, 3, "read 3 of 3 records")]


# -- how much may come -----------------------------------------------------------------------------


def of(client: str, count: int, name: str = "memory", **fields: Any) -> list[Moved]:
    return [moved(f"{name} {number}", provenance={"client": client}, **fields) for number in range(count)]


async def kept_by(house: House, *clients: str) -> list[int]:
    return [*(await house.store.transfer.kept_by(clients)).values()]


@pytest.mark.parametrize("mode", ["merge", "replace"])
async def test_065_a_file_with_more_than_somebody_may_keep_changes_nothing(
    house: House, mode: importing.Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    quota = Quota(memories_per_client=4)
    await house.bring(own_file(of("ada", 3)), quota=quota)
    before = await house.memories_kept()
    count = 2 if mode == "merge" else 5
    with pytest.raises(QuotaExceeded) as refused:
        await house.bring(own_file([*of("grace", 4), *of("ada", count, "more")]), mode, quota=quota)
    assert refused.value.details == {"client": "ada", "most": 4}
    assert await house.memories_kept() == before


async def test_065_what_is_there_already_and_what_it_was_before_do_not_count_again(house: House) -> None:
    quota = Quota(memories_per_client=4)
    mine = of("ada", 3)
    successor = mine[0].memory.id
    before = [moved("before", id=f"old_{n}", superseded_by=successor, provenance={"client": "ada"}) for n in range(2)]
    data = own_file([*mine, *before])
    await house.bring(data, quota=quota)
    done = await house.bring(own_file([*mine, *of("ada", 1, "one more")]), quota=quota)
    assert (done.arrived.imported, done.arrived.skipped) == (1, 3)
    assert await kept_by(house, "ada") == [4]
    done = await house.bring(data, "replace", quota=quota)
    assert (done.arrived.imported, await kept_by(house, "ada")) == (5, [3])


async def test_065_an_import_that_fits_is_not_refused_half_way(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    quota = Quota(memories_per_client=6)

    class Hasty:
        """Keeps more for the same client once the import has begun."""

        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if message.startswith("read 2 "):
                await house.store.memories.put([write("meanwhile", provenance={"client": "ada"})])

    done = await house.bring(own_file(of("ada", 6)), quota=quota, reporter=Hasty())
    assert (done.arrived.imported, await kept_by(house, "ada")) == (6, [7])


async def test_065_an_import_that_goes_on_is_not_refused_either(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    (house.backups / "f").write_bytes(own_file([*of("ada", 4), moved("of a list", provenance={"client": ["ada"]})]))
    importer = house.importer(quota=Quota(memories_per_client=4))
    with pytest.raises(Cancelled):
        await importer.bring_in("f", "merge", _StopsAfter(2), import_id="job")
    await house.store.memories.put([write("meanwhile", provenance={"client": "ada"})])
    done = await importer.bring_in("f", "merge", SilentReporter(), import_id="job", goes_on=True)
    assert (done.arrived.imported, await kept_by(house, "ada")) == (5, [5])


async def test_065_what_another_program_wrote_comes_from_the_client_that_imports_it(house: House) -> None:
    quota = Quota(memories_per_client=5)
    for data in (LOG, LOG):  # whose project is still to be made the first time, and known the second
        await house.bring(data, quota=quota, client="ada")
        assert await kept_by(house, "ada", "") == [3, 0]
    with pytest.raises(QuotaExceeded):
        await house.bring(GRAPH, quota=quota, client="ada")
    await house.bring(GRAPH, quota=quota, client="grace")
    assert await kept_by(house, "ada", "grace") == [3, len(await contents(house.store)) - 3]


async def test_065_a_file_is_one_write_and_one_that_goes_on_is_none(house: House) -> None:
    quota = Quota(writes_per_minute=1, now=lambda: 0.0)
    await house.bring(own_file(of("ada", 3)), quota=quota, client="ada")
    with pytest.raises(RateLimited):
        await house.bring(own_file(of("ada", 1)), quota=quota, client="ada")
    await house.bring(own_file(of("ada", 1)), quota=quota, client="grace")
    (house.backups / "f").write_bytes(own_file(of("ada", 2)))
    importer = house.importer(quota=quota)
    await importer.bring_in("f", "merge", SilentReporter(), import_id="f", client="ada", goes_on=True)
    assert await kept_by(house, "ada") == [6]


# -- how much it takes -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["merge", "replace"])
async def test_101_the_memory_that_an_import_takes_does_not_grow_with_its_file(
    house: House, monkeypatch: pytest.MonkeyPatch, mode: importing.Mode
) -> None:
    monkeypatch.setattr(importing, "BATCH", 50)
    monkeypatch.setattr(importing, "STEP", 50)

    async def taken(count: int) -> int:
        """The most bytes that importing so many memories of the same few words takes."""
        data = own_file(moved("the same few words", metadata={"filler": "x" * 500}) for _ in range(count))
        (house.backups / f"{count}").write_bytes(data)
        del data
        tracemalloc.start()
        try:
            await house.importer().bring_in(f"{count}", mode, _Tidy(), import_id=f"{count}")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    gc.collect()
    gc.freeze()  # all that other tests have left is not looked through at each step
    await taken(150)
    few, many = await taken(200), await taken(1200)
    assert many < few + 200_000, "what is in the file takes more than 1,200,000"


class _Tidy:
    """Has what is unused let go of at each step, so that it does not matter when Python does."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        gc.collect()


class _StopsAfter:
    """Asks the import to stop when so many records are dealt with."""

    def __init__(self, records: int) -> None:
        self._records = records

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if "records" in message and done >= self._records:
            raise Cancelled("enough")
