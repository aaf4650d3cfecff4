"""Watching folders: restarts, stopping and the watch command."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import CodeSettings, JobSettings, Settings
from scrubjay.core.callers import OWNER
from scrubjay.core.callers import Caller as KeyHolder
from scrubjay.core.errors import Conflict, NotFound
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.service import JobService
from tests.code_index.discovery.repository import write
from tests.surfaces.callers import environment

TIMEOUT_SECONDS = 30.0


class Caller:
    """Calls the tools of one application."""

    def __init__(self, application: Application) -> None:
        self._call = application.dispatcher.call

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await self._call(tool, arguments, CallContext(surface="python", patience=0))
        return result.model_dump(mode="json")

    async def wait_until_indexed(self, root: Path, files: int) -> dict[str, Any]:
        """Wait until this many files of a watched folder are indexed, and return its watch."""
        with anyio.fail_after(TIMEOUT_SECONDS):
            while True:
                status = await self("index", action="status")
                indexed = [one["files"] for one in status["indexes"] if one["root"] == str(root)]
                (watch,) = [one for one in status["watches"] if one["root"] == str(root)] or [{}]
                if indexed == [files] and watch.get("message", "").startswith("watching"):
                    return watch
                await anyio.sleep(0.02)


async def test_108_a_watch_survives_a_restart_and_ends_when_stopped(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    settings = Settings(home=tmp_path / "home", jobs=JobSettings(lease_seconds=3))
    async with running(settings) as application:
        call = Caller(application)
        started = await call("watch_repo", action="start", path=str(root))
        assert started["message"] == f"{root} is now watched"
        watch = await call.wait_until_indexed(root, 1)
        assert (watch["state"], watch["builds"]) == ("running", 1)
        again = await call("watch_repo", action="start", path=str(root))
        assert (again["message"], again["watches"][0]["job_id"]) == (f"{root} is already watched", watch["job_id"])
        with pytest.raises(Conflict, match="is already watched"):
            await application.dispatcher.call(
                "keep_repo_index", {"path": str(root)}, CallContext(surface="python", patience=TIMEOUT_SECONDS)
            )
        status = f"mimir://indexes/{watch['index_id']}/status.json"
        read = await application.resources.read(status, CallContext(surface="python"))
        assert json.loads(str(read.body))["watched"] is True
    write(root, {"b.py": "def two(): pass\n"})  # while no process is running
    async with running(settings) as application:
        call = Caller(application)
        watch = await call.wait_until_indexed(root, 2)
        job = await call("get_job", job_id=watch["job_id"])
        assert (job["state"], job["attempts"]) == ("running", 2)
        stopped = await call("watch_repo", action="stop", path=str(root))
        assert [one["state"] for one in stopped["watches"]] == ["cancelled"]
        assert (await call("watch_repo", action="list"))["watches"] == []
        again = await call("watch_repo", action="stop", path=str(root))
        assert again == {"message": f"{root} was not watched", "watches": []}
        with pytest.raises(NotFound, match="does not exist"):
            await call("watch_repo", action="start", path=str(tmp_path / "nowhere"))


def test_108_the_watch_command_prints_each_build_until_it_is_interrupted(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    with subprocess.Popen(
        [sys.executable, "-m", "scrubjay.app", "code", "watch", str(root)],
        env=environment(tmp_path / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith("  indexing\n")
        assert "watching 1 folder(s); 1 changed, 0 removed (" in process.stdout.readline()
        write(root, {"b.py": "def two(): pass\n", "c.py": "def three(): pass\n"})
        assert "watching 1 folder(s); 2 changed, 0 removed (" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert (process.stdout.read(), process.wait(TIMEOUT_SECONDS)) == ("stopped watching\n", 0)


async def test_108_a_watch_that_the_owner_asks_for_does_not_end_with_the_key_that_began_it(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def one(): pass\n"})
    async with running(Settings(home=tmp_path / "home", code=CodeSettings(roots=[root]))) as application:

        async def start(*contexts: CallContext) -> list[dict[str, Any]]:
            arguments = {"action": "start", "path": str(root)}
            answers = [await application.dispatcher.call("watch_repo", arguments, context) for context in contexts]
            return [answer.model_dump(mode="json") for answer in answers]

        owner = CallContext(surface="python")
        ada, bob = (
            CallContext(surface="rest", caller=KeyHolder(name, frozenset({"code"}), f"key_{name}"))
            for name in ("ada", "bob")
        )
        answers = await start(ada, ada, owner, ada, bob)
        begun, already = f"{root} is now watched", f"{root} is already watched"
        assert [one["message"] for one in answers] == [begun, already, begun, already, already]
        (watch,) = (await Caller(application)("watch_repo", action="list"))["watches"]
        assert watch["job_id"] == answers[2]["watches"][0]["job_id"]
        job = await (await application.services.get(JobService)).get(watch["job_id"])
        assert CallContext.from_kept(job.payload["context"]).caller == OWNER
