"""The toy resources, read by the official client through every door and in both eras."""

import base64

import anyio
import pytest
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    BlobResourceContents,
    ResourceUpdatedNotification,
    TextResourceContents,
)

from scrubjay.servers.mcp import resources as projection
from scrubjay.servers.mcp.errors import RESOURCE_NOT_FOUND

# The handshake era's own way to wait, which its clients still use.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


async def test_what_is_there_is_listed_and_kinds_of_it_beside(client: Client) -> None:
    listed = await client.list_resources(cache_mode="bypass")
    uris = [one.uri for one in listed.resources]
    assert uris[:3] == ["toy://shelf", "toy://ball/plays", "toy://kite/plays"]
    assert listed.resources[1].model_dump(by_alias=True, exclude_none=True) == {
        "uri": "toy://ball/plays",
        "name": "plays",
        "title": "Plays",
        "description": "How often a toy was played with.",
        "mimeType": "text/plain",
    }
    templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["toy://{toy}/plays", "play://{toy}", "toy://{toy}/picture"]


async def test_text_is_read_as_text_and_bytes_as_a_blob(client: Client, door: str) -> None:
    surface = "inside" if door.startswith("inside") else f"mcp-{door.partition('-')[0]}"
    (shelf,) = (await client.read_resource("toy://shelf")).contents
    assert isinstance(shelf, TextResourceContents)
    assert (shelf.uri, shelf.mime_type) == ("toy://shelf", "text/plain")
    assert shelf.text.endswith(f" for {surface}")
    (picture,) = (await client.read_resource("toy://ball/picture")).contents
    assert isinstance(picture, BlobResourceContents)
    assert (picture.mime_type, base64.b64decode(picture.blob)) == ("image/png", b"ball\xff\x00")


async def test_what_is_not_there_is_a_protocol_error_with_a_hint(client: Client, door: str) -> None:
    missing = INVALID_PARAMS if door.endswith("modern") else RESOURCE_NOT_FOUND
    with pytest.raises(MCPError) as caught:
        await client.read_resource("toy://doll/plays")
    assert caught.value.error.model_dump() == {
        "code": missing,
        "message": "there is no doll\nHint: there are a ball and a kite",
        "data": {
            "code": "not_found",
            "message": "there is no doll",
            "hint": "there are a ball and a kite",
            "details": {},
            "uri": "toy://doll/plays",
        },
    }
    with pytest.raises(MCPError) as caught:
        await client.read_resource("toy://shelve")
    assert (caught.value.code, caught.value.error.data["hint"]) == (missing, "did you mean toy://shelf?")


@pytest.mark.parametrize("name", ["..", "a b", "%2e%2e", "x" * 101, "", "ä"])
async def test_an_address_has_only_ids_in_it(client: Client, name: str) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(f"toy://{name}/picture")
    assert (caught.value.code, caught.value.error.data["code"]) == (INVALID_PARAMS, "invalid_request")


async def test_a_resource_with_a_bug_tells_no_secrets(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource("toy://broken/picture")
    assert (caught.value.code, caught.value.error.data["code"]) == (INTERNAL_ERROR, "internal")
    assert "secret" not in caught.value.error.model_dump_json()


async def test_clients_of_both_eras_are_told_that_a_resource_changed(
    client: Client, door: str, heard: list[IncomingMessage]
) -> None:
    with anyio.fail_after(5):
        if door.endswith("modern"):
            async with client.listen(resource_subscriptions=["toy://ball/plays"]) as changes:
                await client.call_tool("play", {"toy": "kite"})
                await client.call_tool("play", {"toy": "ball"})
                assert await anext(aiter(changes)) == ResourceUpdated(uri="toy://ball/plays")
        else:
            await client.subscribe_resource("toy://ball/plays")  # pyright: ignore[reportDeprecated]
            # Over HTTP the client opens its stream for such messages a little later, and misses what comes before.
            while not (told := [one for one in heard if isinstance(one, ResourceUpdatedNotification)]):
                await client.call_tool("play", {"toy": "kite"})
                await client.call_tool("play", {"toy": "ball"})
                await anyio.sleep(0.01)
            assert {one.params.uri for one in told} == {"toy://ball/plays"}
            await client.unsubscribe_resource("toy://ball/plays")  # pyright: ignore[reportDeprecated]


async def test_a_modern_client_is_told_that_the_list_changed(client: Client, door: str) -> None:
    if door.endswith("handshake"):
        return
    with anyio.fail_after(5):
        async with client.listen(resources_list_changed=True) as changes:
            await client.call_tool("play", {"toy": "top"})
            assert await anext(aiter(changes)) == ResourcesListChanged()


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("toy://ball/picture", "changes of toy://ball/picture are not told"),
        ("toy://gone/plays", "there is no gone"),
        ("other://ball", "there is no resource 'other://ball'"),
    ],
)
async def test_what_nobody_tells_of_cannot_be_waited_for(client: Client, door: str, uri: str, message: str) -> None:
    async def wait_for_it() -> None:
        if door.endswith("modern"):
            async with client.listen(resource_subscriptions=[uri]):
                pass
        else:
            await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]

    with anyio.fail_after(5), pytest.raises(MCPError) as caught:
        await wait_for_it()
    assert caught.value.error.data["message"] == message
    assert caught.value.error.data["uri"] == uri


async def test_a_client_cannot_wait_for_everything(client: Client, door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if door != "inside-modern":
        return
    monkeypatch.setattr(projection, "MOST_WATCHED", 1)
    with pytest.raises(MCPError):
        async with client.listen(resource_subscriptions=["toy://ball/plays", "toy://kite/plays"]):
            pass
