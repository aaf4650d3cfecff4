"""What is kept at hand saves work behind every door, and is never an answer that is not true any more."""

from pathlib import Path

import pytest

from tests.models.service import DIMENSIONS, Service, running_service
from tests.surfaces.callers import (
    Caller,
    server,
    through_cli,
    through_mcp_http,
    through_mcp_stdio,
    through_python,
    through_rest,
)

pytestmark = pytest.mark.xdist_group("across")

QUESTION = "which database does the shop run on?"


def asked(service: Service, model: str) -> int:
    """How often this model was asked what the question means."""
    return sum(request.body["input"] == [QUESTION] and request.body["model"] == model for request in service.requests)


async def answer(door: Caller) -> list[str]:
    found = await door("recall", query=QUESTION)
    assert found["degraded"] is None
    return [memory["content"] for memory in found["memories"]]


async def use(door: Caller, service: Service, model: str) -> None:
    chosen = {"provider": "vllm", "model": model, "base_url": service.url, "dimensions": DIMENSIONS}
    changed = await door("configure_embeddings", **chosen)
    if changed["job_id"] is not None:
        await door("embed_memories")


async def test_069_a_question_is_embedded_once_in_each_process_and_its_answer_is_that_of_now(tmp_path: Path) -> None:
    with running_service() as service, server(tmp_path) as url:
        async with (
            through_python(tmp_path) as python,
            through_mcp_stdio(tmp_path, "auto") as stdio,
            through_mcp_http(url, "auto") as http,
            through_rest(url) as rest,
            through_cli(tmp_path) as cli,
        ):
            await use(rest, service, "mine")
            await rest("remember", content="The shop runs on MySQL.", key="database")
            # The last two doors lead into one process, and a command is a process of its own.
            for door, processes in ((python, 1), (stdio, 2), (rest, 3), (http, 3)):
                for _ in range(2):
                    assert await answer(door) == ["The shop runs on MySQL."]
                assert asked(service, "mine") == processes
            assert await answer(cli) == ["The shop runs on MySQL."]
            assert asked(service, "mine") == 4

            await rest("remember", content="The shop runs on PostgreSQL.", key="database")
            for door in (python, stdio, rest, http):
                assert await answer(door) == ["The shop runs on PostgreSQL."]
            assert asked(service, "mine") == 4

            await use(stdio, service, "another")
            for door in (python, stdio, rest, http):
                assert await answer(door) == ["The shop runs on PostgreSQL."]
            assert (asked(service, "mine"), asked(service, "another")) == (4, 3)
