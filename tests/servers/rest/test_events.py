"""Watching a job over server-sent events."""

import json
from typing import Any

import anyio
import httpx2
import pytest

from scrubjay.core.progress import SilentReporter
from scrubjay.servers.rest import events
from scrubjay.tooling.jobs.service import JobService
from tests.servers.rest.toy_server import ToyServer
from tests.servers.rest.uvicorn_server import serving


def _parse(block: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in block.splitlines())


async def _start(server: ToyServer, **arguments: object) -> str:
    job = await (await server.services.get(JobService)).start("count", {"arguments": arguments, "context": _CONTEXT})
    await server.controls.began.wait()
    return job.id


_CONTEXT: dict[str, Any] = {"surface": "rest"}


async def test_a_watcher_gets_every_change_and_the_end(server: ToyServer):
    job_id = await _start(server, gated=True, steps=2)
    blocks: list[str] = []
    async with serving(server.app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(5):
            async with client.stream("GET", f"/v1/jobs/{job_id}/events") as response:
                assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
                async for text in response.aiter_text():
                    blocks += [block for block in text.split("\n\n") if block]
                    server.controls.gate.set()
    parsed = [_parse(block) for block in blocks]
    jobs = [json.loads(event["data"]) for event in parsed]
    assert [(event["event"], event["id"]) for event in parsed] == [("job", str(n + 1)) for n in range(len(parsed))]
    assert jobs[0]["state"] == "running"
    assert [job["state"] for job in jobs].count("completed") == 1
    last = jobs[-1]
    assert last == {
        "job_id": job_id,
        "tool": "count",
        "state": "completed",
        "progress": {"done": 2, "total": 2, "message": "step 2"},
        "result": {"steps": 2},
        "error": None,
        "attempts": 1,
        "created_at": last["created_at"],
        "started_at": last["started_at"],
        "ended_at": last["ended_at"],
    }


async def test_an_ended_job_is_sent_once(server: ToyServer, client: httpx2.AsyncClient):
    job_id = await _start(server, steps=0)
    await (await server.services.get(JobService)).wait(job_id, 5, SilentReporter())
    response = await client.get(f"/v1/jobs/{job_id}/events")
    (block,) = response.text.strip().split("\n\n")
    assert json.loads(_parse(block)["data"])["state"] == "completed"


async def test_an_idle_stream_is_kept_alive(server: ToyServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "KEEP_ALIVE_SECONDS", 0.01)
    job_id = await _start(server, gated=True)
    seen = ""
    async with serving(server.app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(5):
            async with client.stream("GET", f"/v1/jobs/{job_id}/events") as response:
                async for text in response.aiter_text():
                    seen += text
                    if "\n\n: still here\n\n" in seen:
                        server.controls.gate.set()
    fields = [block for block in seen.split("\n\n") if block.startswith("event: job\n")]
    assert json.loads(_parse(fields[-1])["data"])["state"] == "completed"


async def test_a_watcher_that_disconnects_does_not_stop_the_job(server: ToyServer):
    job_id = await _start(server, gated=True)
    async with serving(server.app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(5):
            async with client.stream("GET", f"/v1/jobs/{job_id}/events") as response:
                await anext(response.aiter_text())
    server.controls.gate.set()
    job = await (await server.services.get(JobService)).wait(job_id, 5, SilentReporter())
    assert (job.state, job.result) == ("completed", {"steps": 2})


@pytest.mark.parametrize("path", ["/v1/jobs/job_unknown", "/v1/jobs/job_unknown/events"])
async def test_an_unknown_job_is_not_found(client: httpx2.AsyncClient, path: str):
    response = await client.get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", ["/v1/jobs/a%00b", "/v1/jobs/a%00b/events"])
async def test_a_job_id_with_a_nul_is_invalid(client: httpx2.AsyncClient, path: str):
    response = await client.get(path)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_request")


async def test_a_stream_ends_when_the_job_can_no_longer_be_read(server: ToyServer, monkeypatch: pytest.MonkeyPatch):
    job_id = await _start(server, gated=True)
    jobs = await server.services.get(JobService)
    reads = 0
    really_get = jobs.get

    async def get_twice(job_id: str) -> Any:
        nonlocal reads
        reads += 1
        return await really_get(job_id if reads <= 2 else "job_lost")

    monkeypatch.setattr(jobs, "get", get_twice)
    async with serving(server.app) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(5):
            response = await client.get(f"/v1/jobs/{job_id}/events")
    assert response.text.count("event: job") == 1
