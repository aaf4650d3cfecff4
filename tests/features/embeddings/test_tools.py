"""The embedding tools, with several processes, failing providers and restricted rights."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import EmbeddingSettings, JobSettings, Settings
from scrubjay.core import callers
from scrubjay.core.callers import EVERYTHING
from scrubjay.core.errors import Conflict, Forbidden, InvalidRequest, ScrubjayError
from scrubjay.core.progress import SilentReporter
from scrubjay.features.embeddings import model_switch as embedding_change
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.jobs.models import JobState
from scrubjay.tooling.jobs.service import JobService
from tests.models.service import DIMENSIONS, Answer, Service, Silence, running_service

TIMEOUT_SECONDS = 30
KEY = "sk-correct-horse-battery"


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        yield running


class Caller:
    """Calls the tools of one process."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(
        self, tool: str, /, *, patience: float | None = None, scopes: str = EVERYTHING, **arguments: Any
    ) -> dict[str, Any]:
        caller = callers.Caller("key", frozenset(scopes.split()))
        context = CallContext(surface="python", patience=patience, caller=caller)
        return (await self.application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    async def wait_for_end(self, job_id: str) -> JobState:
        jobs = await self.application.services.get(JobService)
        return (await jobs.wait(job_id, TIMEOUT_SECONDS, SilentReporter())).state

    async def embedding(self) -> dict[str, Any]:
        part = (await self("health_check"))["components"]["embedding"]
        return part["facts"] or {"problem": part["problem"]}

    async def vectors(self) -> dict[str, int]:
        return (await self("health_check"))["components"]["search"]["facts"]["vectors"]

    async def degraded(self) -> str | None:
        return (await self("recall", query="anything"))["degraded"]


@asynccontextmanager
async def process(home: Path, **embedding: Any) -> AsyncGenerator[Caller]:
    settings = Settings(
        home=home,
        jobs=JobSettings(lease_seconds=3),
        embedding=EmbeddingSettings(retries=0, timeout_seconds=5, **embedding),
    )
    async with running(settings) as application:
        yield Caller(application)


@pytest.fixture
async def call(tmp_path: Path) -> AsyncGenerator[Caller]:
    async with process(tmp_path) as call:
        yield call


def vllm_arguments(service: Service, **more: Any) -> dict[str, Any]:
    return {"provider": "vllm", "model": "mine", "base_url": service.url, **more}


async def remember(call: Caller, count: int, word: str = "note") -> None:
    await call("remember_many", memories=[{"content": f"{word} {number}"} for number in range(count)])


def start_model_change(home: Path, url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.features.embeddings.model_change_child", str(home), url],
        env={name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")},
    )


def all_bytes_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def test_067_the_bundled_model_works_without_any_choice(call: Caller) -> None:
    found = await call("test_embeddings")
    assert found.pop("test_time_ms") > 0
    assert len(found.pop("sample_embedding")) == 5
    assert found == {
        "available": True,
        "provider": "local",
        "model": "static-v1",
        "dimension": 256,
        "message": "static-v1 works",
        "errors": [],
    }


async def test_067_a_choice_is_applied_in_every_process_and_after_a_restart(tmp_path: Path, service: Service) -> None:
    async with process(tmp_path) as first, process(tmp_path) as second:
        await remember(first, 3)
        answer = await first("configure_embeddings", **vllm_arguments(service, batch_size=2, api_version="2023-05-15"))
        job_id = answer.pop("job_id")
        assert answer == {
            "success": True,
            "provider": "vllm",
            "model": "mine",
            "dimension": DIMENSIONS,
            "message": "vllm/mine is active now",
            "warnings": [],
            "in_use": True,
        }
        assert (await first("get_job", job_id=job_id))["result"] == {
            "model": "vllm/mine",
            "embedded": 3,
            "refused": 0,
            "dropped": 3,
        }
        assert sorted(service.texts[-3:]) == ["note 0", "note 1", "note 2"]
        assert max(len(request.body["input"]) for request in service.requests) == 2
        assert (await second("test_embeddings"))["model"] == "mine"
        await second("remember", content="later")
        assert await first.vectors() == {"vllm/mine": 4}
    async with process(tmp_path) as third:
        assert (await third("test_embeddings"))["model"] == "mine"
        assert await third.degraded() is None
        assert (await third("configure_embeddings", provider="settings"))["model"] == "static-v1"
        assert await third.vectors() == {"static-v1": 4}


async def test_067_the_old_model_stays_active_until_a_job_has_created_all_vectors(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH_SIZE", 2)
    async with process(tmp_path) as first, process(tmp_path) as second:
        await remember(first, 4)
        service.silent_after = 3  # the detection of the dimensions, the test, and one batch
        answer = await first("configure_embeddings", patience=0, **vllm_arguments(service))
        assert answer["in_use"] is False
        assert answer["message"] == (
            "4 memories are being embedded with vllm/mine; the previous model stays active until all are done"
        )
        await anyio.to_thread.run_sync(service.wait_for_requests, 4)
        for caller in (first, second):
            assert (await caller("test_embeddings"))["model"] == "static-v1"
            assert await caller.degraded() is None
        assert await second.embedding() == {
            "model": "static-v1",
            "dimensions": 256,
            "memories_without_vector": 0,
            "coming": "vllm/mine",
        }
        again = await second("configure_embeddings", provider="local")
        assert (again["in_use"], again["job_id"]) == (
            True,
            None,
        )  # the active model was chosen, so the change is cancelled
        service.release()
        assert await first.wait_for_end(answer["job_id"]) is JobState.FAILED
        assert (await first("get_job", job_id=answer["job_id"]))["error"]["code"] == "conflict"
        assert (await first("test_embeddings"))["model"] == "static-v1"


async def test_067_a_change_can_be_cancelled_and_chosen_again(
    call: Caller, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH_SIZE", 2)
    await remember(call, 4)
    service.silent_after = 3
    answer = await call("configure_embeddings", patience=0, **vllm_arguments(service))
    await anyio.to_thread.run_sync(service.wait_for_requests, 4)
    await call("cancel_job", job_id=answer["job_id"], wait_seconds=0)
    service.release()
    assert await call.wait_for_end(answer["job_id"]) is JobState.CANCELLED
    assert (await call.embedding())["coming"] is None
    service.silent_after = None
    assert (await call("configure_embeddings", **vllm_arguments(service)))["in_use"] is True
    assert await call.vectors() == {"vllm/mine": 4}


async def test_067_a_change_survives_kill_9(tmp_path: Path, service: Service) -> None:
    async with process(tmp_path) as call:
        await remember(call, embedding_change.BATCH_SIZE + 10)
    batches = -(-embedding_change.BATCH_SIZE // 32)
    service.silent_after = 1 + batches  # the test, and the first batch
    child = start_model_change(tmp_path, service.url)
    try:
        await anyio.to_thread.run_sync(service.wait_for_requests, 2 + batches, TIMEOUT_SECONDS)
    finally:
        child.kill()
        child.wait()
    service.silent_after = None
    service.release()
    service.requests.clear()
    async with process(tmp_path) as call:
        assert (await call("test_embeddings"))["model"] == "static-v1"
        assert (await call.embedding())["coming"] == "vllm/mine"
        (job,) = (await call("list_jobs", tool="embed_memories"))["jobs"]
        assert await call.wait_for_end(job["job_id"]) is JobState.COMPLETED
        assert (await call("get_job", job_id=job["job_id"]))["attempts"] == 2
        assert sorted(service.texts) == sorted(f"note {embedding_change.BATCH_SIZE + number}" for number in range(10))
        assert await call.vectors() == {"vllm/mine": embedding_change.BATCH_SIZE + 10}
        assert (await call("test_embeddings"))["model"] == "mine"


async def test_067_a_provider_that_fails_during_the_job_does_not_affect_the_old_model(
    call: Caller, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_change, "BATCH_SIZE", 2)
    await remember(call, 6)
    service.silent_after = 3
    answer = await call("configure_embeddings", patience=0, **vllm_arguments(service))
    await anyio.to_thread.run_sync(service.wait_for_requests, 4)
    service.silent_after, service.always = None, Answer(status=500)
    service.release()  # the second batch is answered, the third is not
    assert await call.wait_for_end(answer["job_id"]) is JobState.FAILED
    assert (await call("get_job", job_id=answer["job_id"]))["error"]["details"] == {"reason": "failing"}
    assert (await call("test_embeddings"))["model"] == "static-v1"
    assert await call.vectors() == {"static-v1": 6, "vllm/mine": 4}
    service.always = None
    service.requests.clear()
    assert (await call("configure_embeddings", **vllm_arguments(service)))["in_use"] is True
    assert service.texts[-2:] == ["note 4", "note 5"]
    assert len(service.texts) == 4  # these, the detection of the dimensions and the test
    assert await call.vectors() == {"vllm/mine": 6}


async def test_059_a_dead_provider_is_reported_and_keyword_search_still_works(call: Caller, service: Service) -> None:
    await call("configure_embeddings", **vllm_arguments(service))
    await call("remember", content="The parser is written by hand.")
    service.always = Answer(status=404)
    host = service.url.split("/")[2]
    found = await call("test_embeddings")
    assert found.pop("test_time_ms") > 0
    assert found == {
        "available": False,
        "provider": "vllm",
        "model": "mine",
        "dimension": DIMENSIONS,
        "sample_embedding": [],
        "message": "vllm/mine cannot be used; only keyword search works",
        "errors": [f"vllm at {host} does not have this resource (HTTP 404)", "check the model's name and base_url"],
    }
    await call("remember", content="The lexer is generated.")
    answer = await call("recall", query="parser")
    assert answer["degraded"] == f"searched by words only: vllm at {host} does not have this resource (HTTP 404)"
    assert [memory["content"] for memory in answer["memories"]] == ["The parser is written by hand."]
    service.always = None
    assert (await call.embedding())["memories_without_vector"] == 1
    assert (await call("embed_memories"))["result"] == {
        "model": "vllm/mine",
        "embedded": 1,
        "refused": 0,
        "dropped": 0,
    }
    assert (await call.embedding())["memories_without_vector"] == 0


async def test_059_a_provider_that_hangs_delays_only_one_query(tmp_path: Path, service: Service) -> None:
    async with process(tmp_path, question_seconds=0.2) as call:
        await call("configure_embeddings", **vllm_arguments(service))
        await call("remember", content="The parser is written by hand.")
        requests_before = len(service.requests)
        service.always = Silence()
        first = await call("recall", query="who wrote the parser?")
        assert first["degraded"] == "searched by words only: vllm/mine did not answer within 0.2 s"
        assert len(service.requests) == requests_before + 1
        again = [await call("recall", query=f"parser, for the {number}th time") for number in range(3)]
        for answer in (first, *again):
            assert [memory["content"] for memory in answer["memories"]] == ["The parser is written by hand."]
        for answer in again:
            assert re.fullmatch(
                r"searched by words only: the embedding model is paused for \d+ s after 1 failure; the last: "
                r"vllm/mine did not answer within 0.2 s",
                answer["degraded"],
            )
        assert len(service.requests) == requests_before + 1, "the paused model is not called"
        service.always = None
        await call("remember", content="The lexer is generated.")
        assert (await call.embedding())["memories_without_vector"] == 0, "the pause does not apply to writes"


async def test_067_a_choice_that_does_not_work_changes_nothing(call: Caller, service: Service) -> None:
    await call("remember", content="a note")
    service.always = Answer(status=500)
    with pytest.raises(Conflict, match="HTTP 500") as caught:
        await call("configure_embeddings", **vllm_arguments(service))
    assert caught.value.details == {"reason": "failing"}
    assert (await call("test_embeddings"))["model"] == "static-v1"
    assert (await call("list_jobs"))["jobs"] == []


async def test_067_no_key_of_the_server_is_sent_to_a_host_of_the_caller_or_shown(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("LLM_KEY", KEY)
    host = service.url.split("/")[2]
    async with process(tmp_path) as call:
        for variable in ("OPENAI_API_KEY", "LLM_KEY", "PATH"):
            with pytest.raises(Forbidden, match=f"content of {variable}"):
                await call("configure_embeddings", **vllm_arguments(service, provider="openai", api_key_env=variable))
        assert service.requests == []
        await call("configure_embeddings", **vllm_arguments(service, provider="openai"))
        assert not any("Authorization" in request.headers for request in service.requests)
    async with process(tmp_path, caller_keys={"LLM_KEY": host}) as call:
        service.requests.clear()
        message = [
            await call("configure_embeddings", **vllm_arguments(service, provider="openai", api_key_env="LLM_KEY"))
        ]
        assert {request.headers["Authorization"] for request in service.requests} == {f"Bearer {KEY}"}
        service.always = Answer(status=400, body={"error": f"bad key {KEY}"})
        message += [await call("test_embeddings"), await call("health_check")]
        with pytest.raises(ScrubjayError) as caught:
            await call("configure_embeddings", **vllm_arguments(service, provider="openai", api_key_env="LLM_KEY"))
        assert KEY not in f"{message} {caught.value.record}"
    assert KEY.encode() not in all_bytes_in(tmp_path)
    async with process(tmp_path) as call:  # a process whose operator allows less
        service.always = None
        service.requests.clear()
        found = await call("test_embeddings")
        assert (found["available"], service.requests) == (False, [])
        assert found["errors"][0] == f"callers may not send the content of LLM_KEY to {host.split(':')[0]}"


async def test_067_only_the_operator_allows_addresses(tmp_path: Path, service: Service) -> None:
    async with process(tmp_path, caller_addresses=[]) as call:
        with pytest.raises(Forbidden, match="callers may not send texts"):
            await call("configure_embeddings", **vllm_arguments(service))
        assert service.requests == []


@pytest.mark.parametrize("scopes", ["embeddings", "embeddings memory", "embeddings memory jobs tools server transfer"])
async def test_067_a_limited_key_cannot_send_memories_to_a_new_address(
    call: Caller, service: Service, scopes: str
) -> None:
    await remember(call, 3)
    refused_choices: list[dict[str, Any]] = [
        vllm_arguments(service),
        vllm_arguments(service, provider="ollama"),
        {"provider": "ollama"},
        {"provider": "openai"},
        {"provider": "openai", "base_url": service.url},
    ]
    for arguments in refused_choices:
        with pytest.raises(Forbidden) as refused:
            await call("configure_embeddings", scopes=scopes, **arguments)
        assert refused.value.details["reason"] == "other_service"
    assert service.requests == []  # not even a test text
    assert (await call("test_embeddings", scopes=scopes))["provider"] == "local"


async def test_067_a_limited_key_may_change_the_model_at_the_address_that_the_owner_chose(
    call: Caller, service: Service
) -> None:
    await remember(call, 3)
    await call("configure_embeddings", **vllm_arguments(service))
    changed = await call("configure_embeddings", scopes="embeddings", **vllm_arguments(service, model="another"))
    assert (changed["model"], changed["in_use"]) == ("another", True)
    moved = service.url.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(Forbidden):
        await call("configure_embeddings", scopes="embeddings", **vllm_arguments(service, base_url=moved))
    await call("configure_embeddings", scopes="embeddings", provider="settings")


async def test_067_the_operator_lets_keys_change_the_address(tmp_path: Path, service: Service) -> None:
    async with process(tmp_path, keys_may_change_address=True) as call:
        changed = await call("configure_embeddings", scopes="embeddings", **vllm_arguments(service))
        assert changed["provider"] == "vllm"
        elsewhere = vllm_arguments(service, base_url="https://evil.example.com/v1")
        with pytest.raises(Forbidden, match="callers may not send texts"):
            await call("configure_embeddings", scopes="embeddings", **elsewhere)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"provider": "local", "base_url": "http://127.0.0.1"}, "provider local takes no base_url"),
        ({"provider": "openai", "resource_name": "r"}, "provider openai takes no resource_name"),
        ({"provider": "settings", "model": "m", "dimensions": 3}, "takes no model and no dimensions"),
        ({"provider": "azure", "deployment_name": "d"}, "azure needs a resource and a deployment"),
        ({"provider": "vllm", "model": "../../etc"}, "model: String should match pattern"),
        ({"provider": "openai", "batch_size": 4096}, "batch_size"),
    ],
)
async def test_067_arguments_that_do_not_apply_are_refused(
    call: Caller, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        await call("configure_embeddings", **arguments)


async def test_067_arguments_without_effect_are_reported(call: Caller) -> None:
    answer = await call("configure_embeddings", provider="local", batch_size=64)
    assert answer["warnings"] == ["batch_size has no effect on local models"]


async def test_067_below_the_similarity_threshold_nothing_is_found_semantically(call: Caller) -> None:
    await call("remember", content="The customer was furious about the late delivery.")
    await call("remember", content="Rotate the backup tapes every Sunday.")
    question: dict[str, Any] = {"query": "an angry client"}
    assert len((await call("recall", **question))["memories"]) == 1
    await call("configure_embeddings", provider="local", similarity_threshold=0.99)
    assert (await call("recall", **question))["memories"] == []
    assert len((await call("recall", query="furious customer"))["memories"]) == 1
    await call("configure_embeddings", provider="settings")
    assert len((await call("recall", **question))["memories"]) == 1


async def test_067_a_memory_being_stored_is_not_lost_when_the_old_provider_is_dead(
    tmp_path: Path, service: Service
) -> None:
    async with process(tmp_path) as call:
        await call("configure_embeddings", **vllm_arguments(service))
        await remember(call, 2)
        service.always = Answer(status=500)
        await call("remember", content="written without a vector")
        assert "searched by words only" in ((await call.degraded()) or "")
        assert (await call("configure_embeddings", provider="local"))["in_use"] is True
        assert (await call.degraded(), await call.vectors()) == (None, {"static-v1": 3})
