"""The toy resources, read by the official client over every connection, in both eras."""

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

from scrubjay.servers.mcp import resources as resource_module
from scrubjay.servers.mcp.errors import RESOURCE_NOT_FOUND

# Subscriptions of the handshake era are deprecated, but its clients still use them.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


async def test_resources_and_templates_are_listed(client: Client) -> None:
    listed = await client.list_resources(cache_mode="bypass")
    uris = [one.uri for one in listed.resources]
    assert uris[:3] == ["toy://shelf", "toy://ball/plays", "toy://kite/plays"]
    assert listed.resources[1].model_dump(by_alias=True, exclude_none=True) == {
        "uri": "toy://ball/plays",
        "name": "plays",
        "title": "Plays",
        "description": "The number of plays of a toy.",
        "mimeType": "text/plain",
    }
    templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["toy://{toy}/plays", "play://{toy}", "toy://{toy}/picture"]


async def test_text_is_read_as_text_and_bytes_as_a_blob(client: Client, connection: str) -> None:
    surface = "inside" if connection.startswith("inside") else f"mcp-{connection.partition('-')[0]}"
    (shelf,) = (await client.read_resource("toy://shelf")).contents
    assert isinstance(shelf, TextResourceContents)
    assert (shelf.uri, shelf.mime_type) == ("toy://shelf", "text/plain")
    assert shelf.text.endswith(f" for {surface}")
    (picture,) = (await client.read_resource("toy://ball/picture")).contents
    assert isinstance(picture, BlobResourceContents)
    assert (picture.mime_type, base64.b64decode(picture.blob)) == ("image/png", b"ball\xff\x00")


async def test_a_missing_resource_is_a_protocol_error_with_a_hint(client: Client, connection: str) -> None:
    missing = INVALID_PARAMS if connection.endswith("modern") else RESOURCE_NOT_FOUND
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
async def test_a_resource_uri_accepts_only_ids(client: Client, name: str) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(f"toy://{name}/picture")
    assert (caught.value.code, caught.value.error.data["code"]) == (INVALID_PARAMS, "invalid_request")


async def test_an_unexpected_exception_in_a_resource_reveals_no_message(client: Client) -> None:
    with pytest.raises(MCPError) as caught:
        await client.read_resource("toy://broken/picture")
    assert (caught.value.code, caught.value.error.data["code"]) == (INTERNAL_ERROR, "internal")
    assert "secret" not in caught.value.error.model_dump_json()


async def test_clients_of_both_eras_are_notified_when_a_resource_changes(
    client: Client, connection: str, notifications: list[IncomingMessage]
) -> None:
    with anyio.fail_after(5):
        if connection.endswith("modern"):
            async with client.listen(resource_subscriptions=["toy://ball/plays"]) as changes:
                await client.call_tool("play", {"toy": "kite"})
                await client.call_tool("play", {"toy": "ball"})
                assert await anext(aiter(changes)) == ResourceUpdated(uri="toy://ball/plays")
        else:
            await client.subscribe_resource("toy://ball/plays")  # pyright: ignore[reportDeprecated]
            # Over HTTP the client opens its stream for notifications a little later, and misses earlier ones.
            while not (updates := [one for one in notifications if isinstance(one, ResourceUpdatedNotification)]):
                await client.call_tool("play", {"toy": "kite"})
                await client.call_tool("play", {"toy": "ball"})
                await anyio.sleep(0.01)
            assert {one.params.uri for one in updates} == {"toy://ball/plays"}
            await client.unsubscribe_resource("toy://ball/plays")  # pyright: ignore[reportDeprecated]


async def test_a_modern_client_is_notified_when_the_resource_list_changes(client: Client, connection: str) -> None:
    if connection.endswith("handshake"):
        return
    with anyio.fail_after(5):
        async with client.listen(resources_list_changed=True) as changes:
            await client.call_tool("play", {"toy": "top"})
            assert await anext(aiter(changes)) == ResourcesListChanged()


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("toy://ball/picture", "toy://ball/picture does not support subscriptions"),
        ("toy://gone/plays", "there is no gone"),
        ("other://ball", "there is no resource 'other://ball'"),
    ],
)
async def test_unwatchable_resources_cannot_be_subscribed_to(
    client: Client, connection: str, uri: str, message: str
) -> None:
    async def subscribe() -> None:
        if connection.endswith("modern"):
            async with client.listen(resource_subscriptions=[uri]):
                pass
        else:
            await client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]

    with anyio.fail_after(5), pytest.raises(MCPError) as caught:
        await subscribe()
    assert caught.value.error.data["message"] == message
    assert caught.value.error.data["uri"] == uri


async def test_the_number_of_subscriptions_is_limited(
    client: Client, connection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection != "inside-modern":
        return
    monkeypatch.setattr(resource_module, "MAX_WATCHED", 1)
    with pytest.raises(MCPError):
        async with client.listen(resource_subscriptions=["toy://ball/plays", "toy://kite/plays"]):
            pass
