"""Fixtures: a real server with a language model, one without, and OpenAI's own client for each."""

from collections.abc import Generator

import httpx2
import pytest
from openai import OpenAI

from tests.servers.openai.upstream import KEY, MODEL, Upstream, running_upstream
from tests.surfaces.callers import server

SERVER_KEY = "a-long-key-of-this-server"


@pytest.fixture(scope="session")
def upstream() -> Generator[Upstream]:
    with running_upstream() as upstream:
        yield upstream


@pytest.fixture(scope="session")
def url(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Run a server that requires a key and forwards to the language model; yield its URL."""
    settings = {
        "SCRUBJAY_API_KEY": SERVER_KEY,
        "SCRUBJAY_LLM_BASE_URL": upstream.url,
        "SCRUBJAY_LLM_MODEL": MODEL,
        "SCRUBJAY_LLM_API_KEY": KEY,
        "SCRUBJAY_LLM_TIMEOUT_SECONDS": "2",
        "SCRUBJAY_SUMMARIES_AUTOMATIC": "off",
    }
    with server(tmp_path_factory.mktemp("llm"), **settings) as url:
        yield url


@pytest.fixture(scope="session")
def http(url: str) -> Generator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {SERVER_KEY}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as http:
        yield http


@pytest.fixture(scope="session")
def client(url: str) -> Generator[OpenAI]:
    with OpenAI(base_url=f"{url}/v1", api_key=SERVER_KEY, max_retries=0, timeout=30) as client:
        yield client


@pytest.fixture(scope="session")
def plain_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Run a server without a language model and without a key; yield its URL."""
    with server(tmp_path_factory.mktemp("plain")) as url:
        yield url


@pytest.fixture(scope="session")
def plain(plain_url: str) -> Generator[OpenAI]:
    with OpenAI(base_url=f"{plain_url}/v1", api_key="none-is-needed", max_retries=0, timeout=30) as client:
        yield client


def remember(url: str, content: str, key: str | None = None) -> str:
    """Store a memory and return its id."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx2.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as http:
        return http.post("/v1/tools/remember", json={"content": content}).json()["id"]
