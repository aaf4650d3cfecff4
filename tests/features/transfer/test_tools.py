"""The export and import tools, with several processes, cancellation and kills."""

import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import JobSettings, Settings, TransferSettings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import Conflict, Forbidden, InvalidRequest, NotFound
from scrubjay.core.progress import SilentReporter
from scrubjay.features.transfer.importer import Importer
from scrubjay.features.transfer.store import ImportProgress
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from tests.contracts.test_transfer import contents, is_consistent
from tests.db.sqlite.schemas import new_schema, schema_of
from tests.features.transfer.files import lines, own_file, transfer_memory
from tests.features.transfer.import_child import replace_all_and_die
from tests.features.transfer.test_neo import SUMMARY, TURN
from tests.processes import FORKED

TIMEOUT_SECONDS = 30


class Caller:
    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, tool: str, /, *, patience: float | None = None, **arguments: Any) -> dict[str, Any]:
        context = CallContext(surface="python", patience=patience)
        return (await self.application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")


@asynccontextmanager
async def process(home: Path, **options: Any) -> AsyncGenerator[Caller]:
    transfer = TransferSettings(folders=options.pop("folders", []))
    settings = Settings(home=home, jobs=JobSettings(lease_seconds=3), transfer=transfer)
    async with running(settings, **options) as application:
        yield Caller(application)


def backup(home: Path, data: bytes) -> str:
    (home / "backups").mkdir(parents=True, exist_ok=True)
    (home / "backups" / "f.jsonl").write_bytes(data)
    return "f.jsonl"


async def test_101_an_export_can_be_imported_into_another_store_with_its_history(tmp_path: Path) -> None:
    async with process(tmp_path / "old", folders=[tmp_path]) as call:
        await call("remember", content="We deploy on Mondays.", key="deploy", project="/home/ada/x")
        await call("remember", content="We deploy on Fridays.", key="deploy", project="/home/ada/x")
        await call("recall", query="When do we deploy?", project="/home/ada/x")
        done = await call("export_database", path=str(tmp_path / "all.jsonl"))
    assert done["result"] | {"checksum": "", "bytes": 0} == {
        "message": "Export complete. Exported 2 memories and 0 summaries.",
        "path": str(tmp_path / "all.jsonl"),
        "memories": 2,
        "summaries": 0,
        "tasks": 0,
        "goals": 0,
        "counts": {"general": 2},
        "checksum": "",
        "bytes": 0,
    }
    async with process(tmp_path / "new", folders=[tmp_path]) as call:
        imported = await call("import_database", file=str(tmp_path / "all.jsonl"))
        assert imported["result"] == {
            "imported": 2,
            "skipped": 0,
            "mode": "merge",
            "message": "Import complete. Imported 2 records and skipped 0.",
            "file": str(tmp_path / "all.jsonl"),
            "format": "scrubjay",
            "erased": 0,
            "masked": 0,
            "ignored": {},
            "tasks": 0,
            "goals": 0,
            "plans_erased": 0,
            "plans_skipped": 0,
        }
        found = await call("recall", query="When do we deploy?", project="/home/ada/x")
        assert [memory["content"] for memory in found["memories"]] == ["We deploy on Fridays."]
        again = await call("export_database", path=str(tmp_path / "again.jsonl"))
        assert again["result"]["counts"] == done["result"]["counts"]


async def test_101_defaults_are_applied_and_invalid_arguments_refused(tmp_path: Path) -> None:
    async with process(tmp_path) as call:
        with pytest.raises(InvalidRequest):
            await call("export_database", include=[])
        with pytest.raises(InvalidRequest):
            await call("import_database", file="x", mode="overwrite")
        with pytest.raises(NotFound, match="Backup file not found at"):
            await call("import_database", file="x")
        with pytest.raises(Forbidden):
            await call("import_database", file="../scrubjay.db")
        with pytest.raises(Forbidden):
            await call("export_database", path="/tmp/elsewhere.jsonl")
        assert (await call("export_database", path="x"))["result"]["memories"] == 0
        with pytest.raises(Conflict):
            await call("export_database", path="x")
        empty = await call("import_database", file="x")
        assert empty["result"]["message"] == "No records found in x"


async def test_101_ignored_entries_are_reported(tmp_path: Path) -> None:
    async with process(tmp_path) as call:
        entity = b'{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea",""]}\n'
        done = await call("import_database", file=backup(tmp_path, entity))
        assert done["result"]["ignored"] == {"observation without text": 1}
        assert done["result"]["message"].endswith("1 other entries in the file were ignored.")


async def test_101_neo_turns_and_summaries_are_found_by_the_neo_tools(tmp_path: Path) -> None:
    async with process(tmp_path) as call:
        await call("import_database", file=backup(tmp_path, lines(TURN, SUMMARY)))
        turns = await call("get_session_memories", sessionId="session-1")
        assert [turn["response"] for turn in turns["memories"]] == ["With fly deploy."]
        (summary,) = (await call("get_all_summaries"))["summaries"]
        assert (summary["id"], summary["title"], summary["quality"]) == ("summary_session-1", "Deploying", 80)
        again = await call("summarize_sessions")
        assert again["result"]["processed"] == 0  # the summary by a language model is not overwritten


async def test_101_a_cancelled_import_stores_nothing(tmp_path: Path) -> None:
    file = backup(tmp_path, own_file([transfer_memory(f"memory number {number}") for number in range(20_000)]))
    async with process(tmp_path) as call:
        started = await call("import_database", file=file, mode="replace", patience=0)
        jobs = await call.application.services.get(JobService)
        with anyio.fail_after(TIMEOUT_SECONDS):
            async for job in jobs.watch(started["job_id"]):
                if "records" in job.progress.message:
                    break
        ended = await call("cancel_job", job_id=started["job_id"])
        assert ended["state"] == "cancelled"
        assert (await call("health_check"))["components"]["search"]["facts"]["memories"] == 0


CONTENTS_AFTER_CRASH = {
    "while staging": ["old"],
    "during the table swap": ["old"],
    "before the swap is committed": ["old"],
    "after the swap is committed": ["0", "1", "2", "3", "4"],
    "while dropping the old tables": ["0", "1", "2", "3", "4"],
    "while renaming the indexes": ["0", "1", "2", "3", "4"],
}


def run_killed_child(home: Path, file: str, where: str) -> None:
    child = FORKED.Process(target=replace_all_and_die, args=(home, file, where))
    child.start()
    child.join(TIMEOUT_SECONDS)
    assert child.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("where", CONTENTS_AFTER_CRASH)
async def test_101_a_killed_replacement_leaves_old_or_new_data_and_can_be_resumed(tmp_path: Path, where: str) -> None:
    async with process(tmp_path) as call:
        await call("remember", content="old")
    file = backup(tmp_path, own_file([transfer_memory(str(number)) for number in range(5)]))
    await anyio.to_thread.run_sync(run_killed_child, tmp_path, file, where)
    store = await SqliteStore.open(tmp_path)
    assert await contents(store) == CONTENTS_AFTER_CRASH[where]
    (job,) = await store.jobs.list(states=[JobState.RUNNING], kind="import_database", limit=5)
    await store.close()
    async with process(tmp_path, adopts_jobs=False) as call:
        importer = await call.application.services.get(Importer)
        done = await importer.import_file(file, "replace", SilentReporter(), import_id=job.id)
        assert done.progress == ImportProgress(read=5, imported=5, erased=1, finished=True)
    store = await SqliteStore.open(tmp_path)
    assert await contents(store) == ["0", "1", "2", "3", "4"]
    assert await is_consistent(store)
    await store.close()
    assert schema_of(tmp_path) == await new_schema(tmp_path / "new")


async def test_101_the_next_process_resumes_a_killed_import(tmp_path: Path) -> None:
    file = backup(tmp_path, own_file([transfer_memory(str(number)) for number in range(5)]))
    await anyio.to_thread.run_sync(run_killed_child, tmp_path, file, "while staging")
    async with process(tmp_path) as call:
        (job,) = (await call("list_jobs", tool="import_database"))["jobs"]
        jobs = await call.application.services.get(JobService)
        ended = await jobs.wait(job["job_id"], TIMEOUT_SECONDS, SilentReporter())
        assert (ended.state, ended.attempts, ended.result and ended.result["imported"]) == (JobState.COMPLETED, 2, 5)
