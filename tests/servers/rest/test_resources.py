"""Resources over HTTP: listed, read in their own media type, and refused with typed errors."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from scrubjay.core.errors import NotFound
from scrubjay.servers.rest.app import build_app
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Toolset
from scrubjay.tooling.resources import Resources, resource
from tests.servers.rest.toy_server import make_toy_server


async def each_leaf() -> list[dict[str, str]]:
    return [{"leaf": "oak"}]


@resource("leaf://{leaf}/note", mime_type="text/markdown", title="Note", each=each_leaf)
async def note(leaf: str) -> str:
    """A note about a leaf."""
    if leaf == "ash":
        raise NotFound("there is no ash", hint="look at the oak")
    return f"# {leaf} é \udce9\n"


@resource("leaf://{leaf}/scan", mime_type="application/zstd", title="Scan")
async def scan(leaf: str, folder: Path) -> Path:
    """A leaf as a file."""
    return folder / leaf


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    server = make_toy_server(tmp_path)
    server.services.provide_ready(Path, tmp_path)
    (tmp_path / "oak").write_bytes(b"0123456789")
    listing = Listing(server.dispatcher.registry, Toolset())
    resources = Resources((note, scan), server.services)
    app = build_app(server.dispatcher, listing, server.services, version="1", resources=resources)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        yield client


async def test_resources_and_templates_are_listed(client: httpx2.AsyncClient):
    fields = {"name": "note", "title": "Note", "description": "A note about a leaf.", "mime_type": "text/markdown"}
    listed = (await client.get("/v1/resources")).json()
    assert listed["resources"] == [{"uri": "leaf://oak/note", **fields}]
    assert [one["uri"] for one in listed["templates"]] == ["leaf://{leaf}/note", "leaf://{leaf}/scan"]


async def test_text_has_its_own_media_type(client: httpx2.AsyncClient):
    answer = await client.get("/v1/resources", params={"uri": "leaf://oak/note"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert answer.content == "# oak é ?\n".encode()


async def test_a_file_is_streamed_whole_or_in_part(client: httpx2.AsyncClient):
    params = {"uri": "leaf://oak/scan"}
    answer = await client.get("/v1/resources", params=params)
    assert (answer.status_code, answer.headers["content-type"], answer.content) == (
        200,
        "application/zstd",
        b"0123456789",
    )
    part = await client.get("/v1/resources", params=params, headers={"Range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"234")


@pytest.mark.parametrize(
    ("uri", "status", "code", "hint"),
    [
        ("leaf://ash/note", 404, "not_found", "look at the oak"),
        ("leaf://oak/nte", 404, "not_found", "did you mean leaf://{leaf}/note?"),
        ("leaf://../note", 422, "invalid_request", "an id has 1 to 100 letters, digits, _ or -"),
        ("x" * 2_001, 422, "invalid_request", None),
    ],
)
async def test_an_unreadable_resource_is_a_typed_error(
    client: httpx2.AsyncClient, uri: str, status: int, code: str, hint: str | None
):
    answer = await client.get("/v1/resources", params={"uri": uri})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["hint"]) == (status, code, hint)
