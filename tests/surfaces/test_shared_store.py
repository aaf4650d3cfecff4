"""Many processes share one store: a write on one surface is visible on all others, also after a crash."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from tests.surfaces.callers import PROGRAM, SURFACES, environment
from tests.surfaces.conftest import OpenSurface


async def test_055_what_one_process_stores_all_others_recall_immediately(
    open_surface: OpenSurface, project: str
) -> None:
    callers = {name: await open_surface(name) for name in SURFACES}
    for writer, write in callers.items():
        fact = f"The {writer} door was painted green."
        await write("remember", content=fact, project=project)
        for reader, read in callers.items():
            answer = await read("recall", query=f"who painted the {writer} door?", limit=1, project=project)
            contents = [memory["content"] for memory in answer["memories"]]
            assert (writer, reader, contents) == (writer, reader, [fact])


@contextmanager
def killable_server(home: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    settings = {**environment(home), "SCRUBJAY_JOBS_LEASE_SECONDS": "3"}
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"], env=settings, cwd=home, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        yield process, next(match[0] for line in process.stdout if (match := re.search(r"http://127\S+:\d+", line)))
    finally:
        process.kill()
        process.communicate()


def test_118_a_job_of_a_killed_process_is_finished_by_the_next(tmp_path: Path) -> None:
    with killable_server(tmp_path) as (process, url), httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
        for start in range(0, 4_000, 1_000):
            memories = [{"content": f"Fact {start + number} about the archive."} for number in range(1_000)]
            assert http.post("/v1/tools/remember_many", json={"memories": memories}).status_code == 200
        started = http.post("/v1/tools/rebuild_derived")
        assert started.status_code == 202
        job_id = started.json()["job_id"]
        with http.stream("GET", f"/v1/jobs/{job_id}/events") as events:
            for line in events.iter_lines():
                if line.startswith("data: ") and json.loads(line[6:])["progress"]["done"] > 0:
                    os.kill(process.pid, signal.SIGKILL)
                    break
    with killable_server(tmp_path) as (_, url), httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
        with http.stream("GET", f"/v1/jobs/{job_id}/events") as events:
            *_, last = (json.loads(line[6:]) for line in events.iter_lines() if line.startswith("data: "))
        assert (last["state"], last["attempts"]) == ("completed", 2)
        recalled = http.post("/v1/tools/recall", json={"query": "fact 3999 about the archive", "limit": 1}).json()
        assert recalled["memories"][0]["content"] == "Fact 3999 about the archive."
    checked = subprocess.run([*PROGRAM, "store", "check"], env=environment(tmp_path), capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")
