"""Imports: merging, replacement, cancellation, quotas and memory usage. A damaged file changes nothing."""

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
from scrubjay.core.scopes import Scope, Visibility
from scrubjay.features.embeddings.active_models import ModelRegistry
from scrubjay.features.memory.models import MemoryFilter, MemoryKind
from scrubjay.features.memory.quota import Quota
from scrubjay.features.memory.recall import RecallOptions
from scrubjay.features.memory.service import MemoryService
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer import importer as importing
from scrubjay.features.transfer.folders import TransferFolders
from scrubjay.features.transfer.importer import Importer, ImportResult
from scrubjay.features.transfer.models import TransferMemory
from scrubjay.features.transfer.store import ImportProgress
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.static_model import StaticEmbedder
from tests.contracts.samples import link, write
from tests.contracts.test_transfer import contents, exported_tables, is_consistent
from tests.features.transfer.files import NOW, lines, own_file, transfer_memory, with_valid_checksum
from tests.features.transfer.test_claude_code import LOG
from tests.features.transfer.test_knowledge_graph import GRAPH
from tests.features.transfer.test_neo import SUMMARY, TURN
from tests.features.transfer.test_openai_conversations import CONVERSATION
from tests.features.transfer.test_thread_progress import RecordingReporter

_SILENT = SilentReporter()
A_SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


class ImportServices:
    """A store with the services that an import needs."""

    def __init__(self, store: SqliteStore, backups: Path) -> None:
        self.store = store
        self.backups = backups
        self.models = ModelRegistry(store.embeddings, EmbeddingChoice(), lambda choice: StaticEmbedder())
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

    async def import_data(
        self,
        data: bytes,
        mode: importing.Mode = "merge",
        *,
        secrets: SecretsPolicy = SecretsPolicy.MASK,
        reporter: Reporter = _SILENT,
        project_id: str | None = None,
        override_project: bool = False,
        quota: Quota | None = None,
        client: str | None = None,
    ) -> ImportResult:
        name = new_id("file")
        (self.backups / name).write_bytes(data)
        return await self.importer(secrets, quota).import_file(
            name,
            mode,
            reporter,
            import_id=name,
            project_id=project_id,
            override_project=override_project,
            client=client,
        )

    async def stored_memories(self) -> Sequence[TransferMemory]:
        return (await exported_tables(self.store))[2]


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[ImportServices]:
    store = await SqliteStore.open(tmp_path / "home")
    yield ImportServices(store, tmp_path / "home" / "backups")
    await store.close()


# -- our own files ---------------------------------------------------------------------------------


async def test_101_an_export_imported_elsewhere_is_identical(services: ImportServices) -> None:
    project = Project(id="prj_of_the_old_store", path="/home/ada/x", name="the shop", created_at=NOW)
    exported = [
        transfer_memory("in a project", uses=4, scope=Scope.PROJECT, project_id=project.id, key="k", protected=True),
        transfer_memory("before", id="old_1", scope=Scope.PROJECT, project_id=project.id, superseded_by="mem_1"),
        transfer_memory("a summary", kind=MemoryKind.SUMMARY, details={"title": "t"}),
    ]
    exported[1] = replace(
        exported[1], memory=replace(exported[1].memory, superseded_by=exported[0].memory.id, valid_until=NOW)
    )
    done = await services.import_data(own_file(exported, [project]))
    assert (done.format, done.progress, done.ignored) == ("scrubjay", ImportProgress(read=3, imported=3), {})
    created = await services.store.projects.get_by_path("/home/ada/x")
    assert created
    assert created.name == "the shop"
    expected = [
        replace(one, memory=replace(one.memory, project_id=created.id if one.memory.project_id else None))
        for one in exported
    ]
    assert await services.stored_memories() == expected
    assert (await services.store.memories.counts()).vectors == {"static-v1": 3}
    assert await is_consistent(services.store)


async def test_101_merging_keeps_existing_memories_and_counts_skipped_ones(services: ImportServices) -> None:
    mine = transfer_memory("mine", key="k")
    await services.import_data(own_file([mine]))
    theirs = [
        transfer_memory("theirs", key="k"),
        replace(mine, memory=replace(mine.memory, content="changed")),
        transfer_memory("new"),
    ]
    done = await services.import_data(own_file(theirs))
    assert done.progress == ImportProgress(read=3, imported=1, skipped=2)
    assert await contents(services.store) == ["mine", "new"]


async def test_101_importing_twice_stores_once(services: ImportServices) -> None:
    for data in (
        own_file([transfer_memory("a"), transfer_memory("b")]),
        LOG,
        GRAPH,
        lines(TURN, SUMMARY),
        json.dumps([CONVERSATION]).encode(),
    ):
        first, second = await services.import_data(data), await services.import_data(data)
        assert first.progress.imported > 0
        assert (second.progress.imported, second.progress.skipped) == (0, first.progress.imported)


async def test_101_replacing_replaces_the_kinds_in_the_file(services: ImportServices) -> None:
    await services.import_data(
        own_file(
            [
                transfer_memory("old"),
                transfer_memory("old too", kind=MemoryKind.TURN),
                transfer_memory("sum", kind=MemoryKind.SUMMARY),
            ]
        )
    )
    done = await services.import_data(own_file([transfer_memory("new")], include=["memories"]), "replace")
    assert done.progress == ImportProgress(read=1, imported=1, erased=2, finished=True)
    assert await contents(services.store) == ["sum", "new"]
    assert await is_consistent(services.store)


@pytest.mark.parametrize("mode", ["merge", "replace"])
async def test_101_an_incomplete_file_changes_nothing(services: ImportServices, mode: importing.Mode) -> None:
    await services.import_data(own_file([transfer_memory("mine")]))
    whole_file = own_file([transfer_memory(f"theirs {number}") for number in range(5)])
    newer = whole_file.replace(b'"version":1', b'"version":9')
    for damaged in (
        whole_file[:-2],
        whole_file[:-300],
        whole_file.replace(b"theirs 3", b"theirs 4"),
        newer,
        b"foreign\n",
        LOG[:-9],
    ):
        with pytest.raises(InvalidRequest):
            await services.import_data(damaged, mode)
        assert await contents(services.store) == ["mine"]


async def test_101_an_empty_file_cannot_replace_memories(services: ImportServices) -> None:
    await services.import_data(own_file([transfer_memory("mine")]))
    for empty in (b"", own_file([])):
        with pytest.raises(InvalidRequest, match="No records found"):
            await services.import_data(empty, "replace")
        assert (await services.import_data(empty)).progress == ImportProgress()
    assert await contents(services.store) == ["mine"]


@pytest.mark.parametrize("data", [LOG, GRAPH, json.dumps([CONVERSATION]).encode()])
async def test_101_a_partial_file_cannot_replace_memories(services: ImportServices, data: bytes) -> None:
    await services.import_data(own_file([transfer_memory("mine")]))
    with pytest.raises(InvalidRequest, match="not a complete copy"):
        await services.import_data(data, "replace")
    assert await contents(services.store) == ["mine"]


async def test_101_a_neo_backup_can_replace_all_turns(services: ImportServices) -> None:
    await services.import_data(own_file([transfer_memory("a fact"), transfer_memory("a turn", kind=MemoryKind.TURN)]))
    done = await services.import_data(lines(TURN), "replace")
    assert (done.progress.erased, await contents(services.store)) == (1, ["a fact", TURN["document"]])


# -- cancellation and resumption -------------------------------------------------------------------


async def test_101_a_cancelled_merge_keeps_complete_batches_and_can_be_resumed(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    data = own_file([transfer_memory(f"memory {number}") for number in range(7)])
    (services.backups / "f").write_bytes(data)
    with pytest.raises(Cancelled):
        await services.importer().import_file("f", "merge", _CancelAfter(4), import_id="job")
    assert len(await contents(services.store)) == 4
    done = await services.importer().import_file("f", "merge", SilentReporter(), import_id="job")
    assert done.progress == ImportProgress(read=7, imported=7)
    assert await contents(services.store) == [f"memory {number}" for number in range(7)]


async def test_101_a_cancelled_replacement_changes_nothing_and_leaves_no_staged_rows(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    await services.import_data(own_file([transfer_memory("mine")]))
    (services.backups / "f").write_bytes(own_file([transfer_memory(f"{number}") for number in range(7)]))
    with pytest.raises(Cancelled):
        await services.importer().import_file("f", "replace", _CancelAfter(4), import_id="job")
    assert await contents(services.store) == ["mine"]
    assert await services.store.transfer.replace_all("job", ()) == ImportProgress(read=4, finished=True)


async def test_101_a_finished_import_is_not_repeated(services: ImportServices) -> None:
    (services.backups / "f").write_bytes(own_file([transfer_memory("new")]))
    job = await services.store.jobs.add("import_database", {}, owner="me")
    first = await services.importer().import_file("f", "replace", SilentReporter(), import_id=job.id)
    await services.import_data(own_file([transfer_memory("later")]))
    again = await services.importer().import_file("f", "replace", SilentReporter(), import_id=job.id)
    assert again.progress == first.progress
    assert await contents(services.store) == ["new", "later"]


async def test_101_a_file_changed_during_the_import_replaces_nothing(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.import_data(own_file([transfer_memory("mine")]))
    path = services.backups / "f"
    path.write_bytes(own_file([transfer_memory("theirs")]))

    class FileChanger:
        """Replaces the content of the file after its checksum was verified."""

        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if "read" in message:
                return
            path.write_bytes(own_file([transfer_memory("others"), transfer_memory("more")]))

    with pytest.raises((Conflict, InvalidRequest)):
        await services.importer().import_file("f", "replace", FileChanger(), import_id="job")
    assert await contents(services.store) == ["mine"]


async def test_101_a_failing_embedder_leaves_the_store_unchanged(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    await services.import_data(own_file([transfer_memory("mine")]))

    async def fail(*_: object) -> None:
        raise Unavailable("the embedder is down")

    monkeypatch.setattr(services.memories, "derive", fail)
    with pytest.raises(Unavailable):
        await services.import_data(own_file([transfer_memory("theirs")]), "replace")
    assert await contents(services.store) == ["mine"]


# -- files of other programs -----------------------------------------------------------------------


async def test_101_a_session_is_imported_into_its_own_project_unless_another_is_given(services: ImportServices) -> None:
    named = await services.store.projects.ensure("/named", None)
    await services.import_data(LOG, project_id=named.id)
    shop = await services.store.projects.get_by_path("/home/ada/shop")
    assert shop
    stored = [one.memory for one in await services.stored_memories()]
    assert {(memory.scope, memory.project_id) for memory in stored} == {(Scope.PROJECT, shop.id)}
    done = await services.import_data(LOG, project_id=named.id, override_project=True)
    assert done.progress.imported == 3
    assert {one.memory.project_id for one in await services.stored_memories()} == {shop.id, named.id}


async def test_101_records_without_a_project_belong_to_the_active_one_or_become_global(
    services: ImportServices,
) -> None:
    await services.import_data(GRAPH)
    assert {one.memory.scope for one in await services.stored_memories()} == {Scope.GLOBAL}
    active = await services.store.projects.ensure("/active", None)
    await services.import_data(lines(TURN), project_id=active.id)
    assert (await services.stored_memories())[-1].memory.project_id == active.id


async def test_101_imported_memories_can_be_recalled(services: ImportServices) -> None:
    await services.import_data(GRAPH)
    found = await services.memories.recall(
        "Who speaks Spanish?", Visibility(), MemoryFilter(), RecallOptions(limit=1, threshold=0)
    )
    assert [hit.memory.content for hit in found.hits] == ["John_Smith: Speaks fluent Spanish"]


async def test_101_the_secrets_policy_applies_to_imported_files(services: ImportServices) -> None:
    links = (link("src/auth.py::login", text=f'token = "{A_SECRET}"'),)
    data = own_file(
        [
            transfer_memory(f"The token is {A_SECRET}"),
            transfer_memory("a turn", details={"prompt": f"use {A_SECRET}"}),
            transfer_memory("about code", links=links),
        ]
    )
    masked = await services.import_data(data)
    assert (masked.masked, masked.progress.imported) == (3, 3)
    assert A_SECRET not in str(await services.stored_memories())
    other = with_valid_checksum(data.replace(b"mem_", b"mim_"))
    refused = await services.import_data(other, secrets=SecretsPolicy.REFUSE)
    assert (refused.progress, refused.ignored) == (
        ImportProgress(),
        {"memory refused because it contains a secret": 3},
    )
    unmasked = await services.import_data(other, secrets=SecretsPolicy.KEEP)
    assert (unmasked.masked, unmasked.progress.imported) == (0, 3)
    assert A_SECRET in str(await services.stored_memories())


async def test_101_progress_reports_the_number_of_records_read(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    reporter = RecordingReporter()
    await services.import_data(own_file([transfer_memory(f"{number}") for number in range(3)]), reporter=reporter)
    reported = [(one.done, one.total, one.message) for one in reporter.reports if "records" in one.message]
    assert reported == [(2, 3, "read 2 of 3 records"), (3, 3, "read 3 of 3 records")]


# -- quotas ----------------------------------------------------------------------------------------


def memories_of(client: str, count: int, name: str = "memory", **fields: Any) -> list[TransferMemory]:
    return [transfer_memory(f"{name} {number}", provenance={"client": client}, **fields) for number in range(count)]


async def count_memories_of(services: ImportServices, *clients: str) -> list[int]:
    return [*(await services.store.transfer.count_by_client(clients)).values()]


@pytest.mark.parametrize("mode", ["merge", "replace"])
async def test_065_a_file_over_the_quota_changes_nothing(
    services: ImportServices, mode: importing.Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    quota = Quota(memories_per_client=4)
    await services.import_data(own_file(memories_of("ada", 3)), quota=quota)
    before = await services.stored_memories()
    count = 2 if mode == "merge" else 5
    with pytest.raises(QuotaExceeded) as refused:
        await services.import_data(
            own_file([*memories_of("grace", 4), *memories_of("ada", count, "more")]), mode, quota=quota
        )
    assert refused.value.details == {"client": "ada", "limit": 4}
    assert await services.stored_memories() == before


async def test_065_existing_memories_and_former_versions_do_not_count_again(services: ImportServices) -> None:
    quota = Quota(memories_per_client=4)
    mine = memories_of("ada", 3)
    successor = mine[0].memory.id
    before = [
        transfer_memory("before", id=f"old_{n}", superseded_by=successor, provenance={"client": "ada"})
        for n in range(2)
    ]
    data = own_file([*mine, *before])
    await services.import_data(data, quota=quota)
    done = await services.import_data(own_file([*mine, *memories_of("ada", 1, "one more")]), quota=quota)
    assert (done.progress.imported, done.progress.skipped) == (1, 3)
    assert await count_memories_of(services, "ada") == [4]
    done = await services.import_data(data, "replace", quota=quota)
    assert (done.progress.imported, await count_memories_of(services, "ada")) == (5, [3])


async def test_065_an_import_within_the_quota_is_not_refused_after_it_started(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    quota = Quota(memories_per_client=6)

    class ConcurrentWriter:
        """Stores another memory of the same client after the import has started."""

        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if message.startswith("read 2 "):
                await services.store.memories.put([write("meanwhile", provenance={"client": "ada"})])

    done = await services.import_data(own_file(memories_of("ada", 6)), quota=quota, reporter=ConcurrentWriter())
    assert (done.progress.imported, await count_memories_of(services, "ada")) == (6, [7])


async def test_065_a_resumed_import_is_not_refused(services: ImportServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 2)
    (services.backups / "f").write_bytes(
        own_file([*memories_of("ada", 4), transfer_memory("of a list", provenance={"client": ["ada"]})])
    )
    importer = services.importer(quota=Quota(memories_per_client=4))
    with pytest.raises(Cancelled):
        await importer.import_file("f", "merge", _CancelAfter(2), import_id="job")
    await services.store.memories.put([write("meanwhile", provenance={"client": "ada"})])
    done = await importer.import_file("f", "merge", SilentReporter(), import_id="job", resume=True)
    assert (done.progress.imported, await count_memories_of(services, "ada")) == (5, [5])


async def test_065_foreign_memories_belong_to_the_importing_client(services: ImportServices) -> None:
    quota = Quota(memories_per_client=5)
    for data in (LOG, LOG):  # the first import creates the project and the second uses it
        await services.import_data(data, quota=quota, client="ada")
        assert await count_memories_of(services, "ada", "") == [3, 0]
    with pytest.raises(QuotaExceeded):
        await services.import_data(GRAPH, quota=quota, client="ada")
    await services.import_data(GRAPH, quota=quota, client="grace")
    assert await count_memories_of(services, "ada", "grace") == [3, len(await contents(services.store)) - 3]


async def test_065_a_file_counts_as_one_write_and_its_resumption_as_none(services: ImportServices) -> None:
    quota = Quota(writes_per_minute=1, now=lambda: 0.0)
    await services.import_data(own_file(memories_of("ada", 3)), quota=quota, client="ada")
    with pytest.raises(RateLimited):
        await services.import_data(own_file(memories_of("ada", 1)), quota=quota, client="ada")
    await services.import_data(own_file(memories_of("ada", 1)), quota=quota, client="grace")
    (services.backups / "f").write_bytes(own_file(memories_of("ada", 2)))
    importer = services.importer(quota=quota)
    await importer.import_file("f", "merge", SilentReporter(), import_id="f", client="ada", resume=True)
    assert await count_memories_of(services, "ada") == [6]


# -- memory usage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["merge", "replace"])
async def test_101_memory_usage_does_not_grow_with_the_file(
    services: ImportServices, monkeypatch: pytest.MonkeyPatch, mode: importing.Mode
) -> None:
    monkeypatch.setattr(importing, "BATCH", 50)
    monkeypatch.setattr(importing, "STEP", 50)

    async def peak_memory(count: int, import_id: str) -> int:
        """Return the peak memory usage, in bytes, of importing `count` memories with the same words."""
        data = own_file(transfer_memory("the same few words", metadata={"filler": "x" * 500}) for _ in range(count))
        (services.backups / f"{count}").write_bytes(data)
        del data
        tracemalloc.start()
        try:
            await services.importer().import_file(f"{count}", mode, _CollectingReporter(), import_id=import_id)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    gc.collect()
    gc.freeze()  # objects left by other tests are not scanned at each step
    await peak_memory(150, "first")
    few = await peak_memory(200, "few")
    # The less of two, each with new memories: one measurement can include unrelated allocations.
    many = min(await peak_memory(1200, "many"), await peak_memory(1200, "again"))
    assert many < few + 200_000, "the contents of the larger file take more than 1,200,000 bytes"


class _CollectingReporter:
    """Runs the garbage collector at each step, so that its schedule does not affect the measurement."""

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        gc.collect()


class _CancelAfter:
    """Cancels the import after this many records."""

    def __init__(self, records: int) -> None:
        self._records = records

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        if "records" in message and done >= self._records:
            raise Cancelled("enough")
