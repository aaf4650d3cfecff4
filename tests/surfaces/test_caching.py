"""Caches save work on every surface and never return an outdated answer."""

from pathlib import Path

import pytest

from tests.models.service import DIMENSIONS, Service, running_service
from tests.surfaces.callers import (
    Caller,
    cli_caller,
    mcp_http_caller,
    mcp_stdio_caller,
    python_caller,
    rest_caller,
    server,
)

pytestmark = pytest.mark.xdist_group("across")

QUESTION = "which database does the shop run on?"


def count_embeddings(service: Service, model: str) -> int:
    """Return how often this model has embedded the question."""
    return sum(request.body["input"] == [QUESTION] and request.body["model"] == model for request in service.requests)


async def answer(caller: Caller) -> list[str]:
    result = await caller("recall", query=QUESTION)
    assert result["degraded"] is None
    return [memory["content"] for memory in result["memories"]]


async def use(caller: Caller, service: Service, model: str) -> None:
    choice = {"provider": "vllm", "model": model, "base_url": service.url, "dimensions": DIMENSIONS}
    result = await caller("configure_embeddings", **choice)
    if result["job_id"] is not None:
        await caller("embed_memories")


async def test_069_a_query_is_embedded_once_per_process_and_its_results_are_current(tmp_path: Path) -> None:
    with running_service() as service, server(tmp_path) as url:
        async with (
            python_caller(tmp_path) as python,
            mcp_stdio_caller(tmp_path, "auto") as stdio,
            mcp_http_caller(url, "auto") as http,
            rest_caller(url) as rest,
            cli_caller(tmp_path) as cli,
        ):
            await use(rest, service, "mine")
            await rest("remember", content="The shop runs on MySQL.", key="database")
            # The last two surfaces share a process, and each command is a process.
            for caller, processes in ((python, 1), (stdio, 2), (rest, 3), (http, 3)):
                for _ in range(2):
                    assert await answer(caller) == ["The shop runs on MySQL."]
                assert count_embeddings(service, "mine") == processes
            assert await answer(cli) == ["The shop runs on MySQL."]
            assert count_embeddings(service, "mine") == 4

            await rest("remember", content="The shop runs on PostgreSQL.", key="database")
            for caller in (python, stdio, rest, http):
                assert await answer(caller) == ["The shop runs on PostgreSQL."]
            assert count_embeddings(service, "mine") == 4

            await use(stdio, service, "another")
            for caller in (python, stdio, rest, http):
                assert await answer(caller) == ["The shop runs on PostgreSQL."]
            assert (count_embeddings(service, "mine"), count_embeddings(service, "another")) == (4, 3)
