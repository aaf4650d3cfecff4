from pathlib import Path
from typing import Any

import anyio
import pytest

from recollect.app.application import Application
from recollect.app.lifespan import running
from recollect.app.settings import CodeSettings, Settings
from recollect.domain.errors import Cancelled, Unavailable
from recollect.toolkit.context import CallContext
from tests.codebase.discovery.repository import write
from tests.codebase.indexes import worker_pids

BOUND = 30.0
# Keeps a worker busy for as long as it may be.
ENDLESS = b'"' * 300_000


async def call(on: Application, tool: str, /, patience: float | None = None, **arguments: Any) -> dict[str, Any]:
    answer = await on.dispatcher.call(tool, arguments, CallContext(surface="python", patience=patience))
    return answer.model_dump(mode="json")


async def test_103_118_indexing_a_project_is_a_job_that_is_seen_handed_back_and_cancelled(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"endless.tsx": ENDLESS})
    before = worker_pids()
    async with running(Settings(home=tmp_path / "home")) as app:
        begun = await call(app, "index", 0, action="project", path=str(root))
        assert (begun["indexes"], begun["changed"]) == ([], 0)
        assert begun["message"].startswith(f"Indexing goes on as {begun['job_id']}")
        status = await call(app, "index", action="status")
        (build,) = status["running"]
        assert (build["root"], build["job_id"], build["state"]) == (str(root), begun["job_id"], "running")
        assert status["message"] == "Index status: 0 symbols in 0 files of 0 indexes; 1 being built"
        read = await app.resources.read(f"mimir://indexes/{build['index_id']}/status.json", CallContext(surface="x"))
        assert '"state": "running"' in str(read.body)

        failures: list[Exception] = []

        async def wait() -> None:  # as somebody who waits until the end
            with pytest.raises(Cancelled, match="indexing was cancelled") as failed:
                await call(app, "index", action="project", path=str(root))
            failures.append(failed.value)

        with anyio.fail_after(BOUND):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                while len((await call(app, "index", action="status"))["running"]) < 2:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
                assert (await call(app, "cancel", index_id=build["index_id"]))["ok"] is True
        assert len(failures) == 1
        assert (await call(app, "get_job", job_id=begun["job_id"]))["state"] == "cancelled"
        assert (await call(app, "index", action="status"))["running"] == []
        assert worker_pids() - before == set()

        (root / "endless.tsx").unlink()
        write(root, {"a.py": "def one(): pass\n"})
        done = await call(app, "index", action="project", path=str(root))
        assert done["message"] == "Indexed 1 files, 1 symbols, 0 uses"
        assert (done["changed"], done["job_id"], done["indexes"][0]["files"]) == (1, None, 1)


async def test_103_a_stage_that_takes_too_long_is_named(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"endless.tsx": ENDLESS})
    before = worker_pids()
    async with running(Settings(home=tmp_path / "home", code=CodeSettings(stage_seconds=0.3))) as app:
        with pytest.raises(Unavailable, match="the stage read took longer than") as failed:
            await call(app, "index", action="project", path=str(root))
        assert (failed.value.details["stage"], failed.value.details["seconds"]) == ("read", 0.3)
        assert worker_pids() - before == set()
