"""Resources over HTTP: listed, read in their own form, and refused like everything else."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from scrubjay.core.errors import NotFound
from scrubjay.servers.rest.app import build_app
from scrubjay.tooling.listing import Listing
from scrubjay.tooling.registry import Toolset
from scrubjay.tooling.resources import Resources, resource
from tests.servers.rest.toys import make_toys


async def each_leaf() -> list[dict[str, str]]:
    return [{"leaf": "oak"}]


@resource("leaf://{leaf}/note", mime_type="text/markdown", title="Note", each=each_leaf)
async def note(leaf: str) -> str:
    """What is known of a leaf."""
    if leaf == "ash":
        raise NotFound("there is no ash", hint="look at the oak")
    return f"# {leaf} é \udce9\n"


@resource("leaf://{leaf}/scan", mime_type="application/zstd", title="Scan")
async def scan(leaf: str, folder: Path) -> Path:
    """A leaf as a file."""
    return folder / leaf


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    toys = make_toys(tmp_path)
    toys.services.provide_ready(Path, tmp_path)
    (tmp_path / "oak").write_bytes(b"0123456789")
    listing = Listing(toys.dispatcher.registry, Toolset())
    resources = Resources((note, scan), toys.services)
    app = build_app(toys.dispatcher, listing, toys.services, version="1", resources=resources)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        yield client


async def test_resources_and_their_kinds_are_listed(client: httpx2.AsyncClient):
    told = {"name": "note", "title": "Note", "description": "What is known of a leaf.", "mime_type": "text/markdown"}
    listed = (await client.get("/v1/resources")).json()
    assert listed["resources"] == [{"uri": "leaf://oak/note", **told}]
    assert [one["uri"] for one in listed["templates"]] == ["leaf://{leaf}/note", "leaf://{leaf}/scan"]


async def test_text_comes_in_its_own_form(client: httpx2.AsyncClient):
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
        ("leaf://../note", 422, "invalid_request", "an id has at most 100 letters, digits, _ and -"),
        ("x" * 2_001, 422, "invalid_request", None),
    ],
)
async def test_what_cannot_be_read_is_told_like_every_failure(
    client: httpx2.AsyncClient, uri: str, status: int, code: str, hint: str | None
):
    answer = await client.get("/v1/resources", params={"uri": uri})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["hint"]) == (status, code, hint)
