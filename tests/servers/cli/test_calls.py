import json
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.tooling.jobs.models import JobState
from tests.servers.cli.conftest import Run, Start


def lines_until(child: subprocess.Popen[bytes], part: str) -> list[str]:
    """Return the lines on stderr up to the first that contains `part`."""
    lines: list[str] = []
    assert child.stderr is not None
    for line in child.stderr:
        lines.append(line.decode().rstrip("\n"))
        if part in lines[-1]:
            return lines
    raise AssertionError(f"{part!r} was never printed: {lines}")


async def states(environment: Mapping[str, str]) -> list[JobState]:
    store = await SqliteStore.open(Path(environment["TOY_HOME"]))
    try:
        return [job.state for job in await store.jobs.list(limit=10)]
    finally:
        await store.close()


def test_a_command_waits_for_a_job_with_a_few_lines_of_progress(run: Run):
    done = run("work", "count-slowly", "--steps", "1000", "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["state"], answer["result"]) == (0, "completed", {"counted": 1000})
    assert done.stderr.splitlines()[-1] == "count_slowly: 100% (1000/1000) counted"
    assert len(done.stderr.splitlines()) <= 11


async def test_ctrl_c_cancels_the_job_and_waits_until_it_has_stopped(start: Start, environment: Mapping[str, str]):
    child = start("work", "count-slowly", "--forever", "--tidying", "0.5")
    lines_until(child, "counting on")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert (child.returncode, out, err.decode().splitlines()) == (
        130,
        b"",
        [
            "stopping count_slowly; press Ctrl-C again to exit immediately",
            "tidied up",
            "error: count_slowly was interrupted and has stopped",
        ],
    )
    assert await states(environment) == [JobState.CANCELLED]


def test_ctrl_c_ends_a_call_that_is_not_a_job(start: Start):
    child = start("work", "wait-here")
    lines_until(child, "waiting")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert (child.returncode, out, err) == (130, b"", b"error: wait_here was interrupted and has stopped\n")


async def test_with_json_ctrl_c_is_an_error_document(start: Start, environment: Mapping[str, str]):
    child = start("work", "count-slowly", "--forever", "--json")
    lines_until(child, "counting on")
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate()
    assert (child.returncode, json.loads(out)["error"]["code"]) == (130, "cancelled")


async def test_a_second_ctrl_c_exits_immediately(start: Start, environment: Mapping[str, str]):
    child = start("work", "stubborn")
    lines_until(child, "not listening")
    child.send_signal(signal.SIGINT)
    lines_until(child, "stopping stubborn")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert (child.returncode, out, err) == (130, b"", b"")
    (state,) = await states(environment)
    assert not state.ended


async def test_a_job_cancelled_by_another_client_is_reported_as_cancelled(start: Start, environment: Mapping[str, str]):
    child = start("work", "count-slowly", "--forever", "--json")
    lines_until(child, "counting on")
    store = await SqliteStore.open(Path(environment["TOY_HOME"]))
    (job,) = await store.jobs.list(limit=10)
    await store.jobs.request_cancel(job.id)
    out, _ = child.communicate()
    await store.close()
    assert (child.returncode, json.loads(out)["state"]) == (8, "cancelled")


def test_a_command_works_in_a_deleted_working_directory(start: Start, tmp_path: Path):
    place = tmp_path / "gone"
    place.mkdir()
    child = start("notes", "keep-note", "tea", "--json", cwd=place, preexec_fn=place.rmdir)
    out, err = child.communicate()
    assert (child.returncode, err, json.loads(out)["client"]) == (0, b"", None)
