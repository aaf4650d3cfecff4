"""A real server without a language model, one with a key and a model, and plain HTTP clients for both."""

import json
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from tests.servers.openai.upstream import KEY, MODEL, Upstream, running_upstream
from tests.surfaces.callers import environment, server
from tests.surfaces.commands import run_command_sync

SERVER_KEY = "a-long-key-of-this-server"


@pytest.fixture(scope="module")
def plain_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server without a language model and without a key."""
    with server(tmp_path_factory.mktemp("mira-plain")) as url:
        yield url


@pytest.fixture(scope="module")
def plain(plain_url: str) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=plain_url, timeout=30, trust_env=False) as http:
        yield http


@pytest.fixture(scope="session")
def upstream() -> Generator[Upstream]:
    with running_upstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mira-llm")


@pytest.fixture(scope="module")
def url(upstream: Upstream, home: Path) -> Generator[str]:
    """A server with a key and a language model."""
    settings = {
        "SCRUBJAY_API_KEY": SERVER_KEY,
        "SCRUBJAY_LLM_BASE_URL": upstream.url,
        "SCRUBJAY_LLM_MODEL": MODEL,
        "SCRUBJAY_LLM_API_KEY": KEY,
        "SCRUBJAY_LLM_TIMEOUT_SECONDS": "5",
        "SCRUBJAY_SUMMARIES_AUTOMATIC": "off",
    }
    with server(home, **settings) as url:
        yield url


@pytest.fixture(scope="module")
def http(url: str) -> Generator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {SERVER_KEY}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as http:
        yield http


def key_of(home: Path, name: str, scopes: str) -> str:
    """Create a key for the server of this home."""
    command = ["keys", "create", "--name", name, "--scopes", scopes, "--json"]
    return json.loads(run_command_sync(command, b"", environment(home), home).stdout)["key"]
