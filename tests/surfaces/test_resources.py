"""Index resources over MCP in both eras and over REST, and bundles for another machine."""

import base64
import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.server.subscriptions import ResourceUpdated
from mcp_types import BlobResourceContents, ResourceUpdatedNotification, TextResourceContents

from tests.surfaces.callers import Caller

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

BANK = '''"""Keeps money."""


def deposit(amount: int) -> int:
    """Put money into the bank."""
    return checked(amount)


def checked(amount: int) -> int:
    """Refuse what is no money."""
    if amount <= 0:
        raise ValueError(amount)
    return amount
'''


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("bank")
    (root / "bank.py").write_text(BANK, "utf-8")
    return root.resolve()


@asynccontextmanager
async def connected(url: str, mode: str, received: list[IncomingMessage] | None = None) -> AsyncGenerator[Client]:
    async def listen(message: IncomingMessage) -> None:
        if received is not None:
            received.append(message)

    async with (
        httpx2.AsyncClient(timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode, message_handler=listen) as client,
    ):
        yield client


async def read_text(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def build_index(client: Client, root: Path) -> str:
    answer = await client.call_tool("build_repo_index", {"path": str(root)})
    assert answer.structured_content
    return answer.structured_content["result"]["index_id"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_008_115_an_index_has_the_same_resources_over_mcp_and_rest(url: str, mode: str, repository: Path) -> None:
    async with connected(url, mode) as client, httpx2.AsyncClient(base_url=url, trust_env=False) as http:
        index_id = await build_index(client, repository)
        base_uri = f"mimir://indexes/{index_id}"
        uris = {f"{base_uri}/{name}" for name in ("status.json", "manifest.json", "log.md", "bundle.tar.zst")}
        listed = {resource.uri for resource in (await client.list_resources(cache_mode="bypass")).resources}
        assert uris | {"repo://status"} <= listed
        assert listed == {resource["uri"] for resource in (await http.get("/v1/resources")).json()["resources"]}

        status: dict[str, Any] = json.loads(await read_text(client, f"{base_uri}/status.json"))
        assert (status["index_id"], status["state"], status["progress"], status["error"]) == (
            index_id,
            "completed",
            100,
            None,
        )
        manifest = await read_text(client, f"repo://manifest/{index_id}")
        parsed: dict[str, Any] = json.loads(manifest)
        assert (parsed["repo"]["root"], parsed["counts"]["symbols_defs"]) == (str(repository), 2)
        assert (await read_text(client, f"repo://logs/{index_id}")).startswith(f"# Pipeline Log for {index_id}\n")
        assert json.loads(await read_text(client, "repo://status"))["server_info"]["name"] == "scrubjay"
        (blob,) = (await client.read_resource(f"repo://bundle/{index_id}")).contents
        assert isinstance(blob, BlobResourceContents)

        async def over_rest(uri: str) -> httpx2.Response:
            return await http.get("/v1/resources", params={"uri": uri})

        assert (await over_rest(f"{base_uri}/manifest.json")).text == manifest
        bundle = await over_rest(f"{base_uri}/bundle.tar.zst")
        assert (bundle.headers["content-type"], bundle.content) == ("application/zstd", base64.b64decode(blob.blob))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_008_an_unknown_index_is_an_error_and_creates_nothing(url: str, home: Path, mode: str) -> None:
    async with connected(url, mode) as client:
        for name in ("status.json", "manifest.json", "log.md", "bundle.tar.zst"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"mimir://indexes/idx_none/{name}")
            assert caught.value.error.data["code"] == "not_found"
            assert caught.value.error.data["hint"]
    assert not await anyio.to_thread.run_sync(lambda: [*home.glob("code/idx_none*")])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_008_a_client_is_notified_when_an_index_changes(url: str, tmp_path: Path, mode: str) -> None:
    received: list[IncomingMessage] = []
    (tmp_path / "a.py").write_text("a = 1\n")
    async with connected(url, mode, received) as client:
        index_id = await build_index(client, tmp_path)
        uri = f"mimir://indexes/{index_id}/status.json"
        with anyio.fail_after(20):
            if mode == "auto":
                async with client.listen(resource_subscriptions=[uri]) as changes:
                    (tmp_path / "b.py").write_text("b = 1\n")
                    await build_index(client, tmp_path)
                    assert await anext(aiter(changes)) == ResourceUpdated(uri=uri)
                return
            await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
            number = 0
            # The client opens its stream for notifications a little later, and misses earlier ones.
            while not (
                updates := [message for message in received if isinstance(message, ResourceUpdatedNotification)]
            ):
                (tmp_path / "b.py").write_text(f"b = {(number := number + 1)}\n")
                await build_index(client, tmp_path)
                await anyio.sleep(0.2)
            assert {message.params.uri for message in updates} == {uri}


async def test_115_a_bundle_is_searched_without_its_repository(call: Caller, tmp_path: Path, repository: Path) -> None:
    index_id = (await call("build_repo_index", path=str(repository)))["result"]["index_id"]
    bundle = await call("get_repo_bundle", index_id=index_id)
    assert (bundle["bundle_uri"], bundle["manifest_uri"]) == (
        f"mimir://indexes/{index_id}/bundle.tar.zst",
        f"mimir://indexes/{index_id}/manifest.json",
    )
    copy = shutil.copy(bundle["path"], tmp_path / "bundle.tar.zst")
    opened = (await call("open_repo_bundle", path=str(copy)))["result"]
    assert opened["origin"] == {"index_id": index_id, "root": str(repository), "rev": "HEAD"}
    result = await call("search_repo", index_id=opened["index_id"], query="put money into the bank")
    assert result["results"][0]["path"] == "bank.py"
    assert "def deposit" in result["results"][0]["content"]["text"]
