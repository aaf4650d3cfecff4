"""Tool declarations of skills: every client can read the resulting list."""

import json
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client
from mcp_types import Tool

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.upstream_mcp.schemas import MAX_TOOLS, parse_tools
from scrubjay.servers.mcp.server import build_server
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import RUDE, program, write_skills

CONTEXT = CallContext(surface="python", client="tests")


async def list_and_call(app: Application, mode: Any) -> tuple[dict[str, Tool], Any]:
    """Return all tools that an MCP client receives, and the result of `kid_add` if it is listed."""
    server = build_server(
        lambda: app.served_tools, version="1", instructions="", patience=1, surface="mcp-stdio", client="c"
    )
    found: dict[str, Tool] = {}
    async with Client(server, mode=mode, cache=None) as client:
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found |= {tool.name: tool for tool in page.tools}
            if (cursor := page.next_cursor) is None:
                break
        result = await client.call_tool("kid_add", {"a": 1, "b": 2}) if "kid_add" in found else None
    return found, result


async def status(app: Application, skill: str) -> dict[str, Any]:
    return (await app.dispatcher.call("skills_status", {}, CONTEXT)).model_dump()["skills"][skill]


@pytest.mark.parametrize(
    "more",
    [
        {"description": 5},
        {"annotations": "none"},
        {"title": ["x"]},
        {"icons": 3},
        {"inputSchema": {"type": "string"}},
        {"inputSchema": {"properties": []}},
        {"inputSchema": None},
    ],
)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_038_a_manifest_cannot_break_the_list_of_tools(home: Path, more: dict[str, Any], mode: Any) -> None:
    write_skills(home, kid={"config": program(RUDE), "tools": [{"name": "bad", **more}, {"name": "add"}]})
    async with running(Settings(home=home)) as app:
        found, result = await list_and_call(app, mode)
        assert "kid_bad" not in found
        assert "remember" in found
        assert not result.is_error


def test_038_unusable_tools_are_left_out_with_the_reason() -> None:
    names = ["fine", "with space", "fs/read", "", "x" * 200, "a\nb", "dotted.name-1", "fine"]
    listing = parse_tools("kid", [{"name": name} for name in names] + [{"name": "odd", "inputSchema": 3}])
    assert [tool.name for tool in listing.tools] == ["kid_fine", "kid_dotted.name-1"]
    assert listing.tools[0].declared["inputSchema"] == {"type": "object"}
    assert set(listing.left_out) == {"with space", "fs/read", "", "x" * 80, "a\nb", "fine", "odd"}
    assert listing.left_out["fine"] == "duplicate tool name"
    assert listing.left_out["odd"].startswith("invalid declaration: inputSchema: ")


async def test_038_five_hundred_tools_are_listed_and_further_ones_reported(home: Path) -> None:
    write_skills(home, kid=program(RUDE, "many", str(MAX_TOOLS + 7)))
    async with running(Settings(home=home)) as app:
        await app.skills.discover_tools()
        found, _ = await list_and_call(app, "auto")
        assert sum(name.startswith("kid_") for name in found) == MAX_TOOLS
        assert len((await status(app, "kid"))["left_out"]) == 7
    async with running(Settings(home=home)) as app:  # from the cache
        assert (await status(app, "kid"))["tool_count"] == MAX_TOOLS
        assert len((await status(app, "kid"))["left_out"]) == 7


async def test_038_the_first_of_two_tools_with_one_name_is_used_and_the_other_reported(home: Path) -> None:
    kid, other = ({"config": program(RUDE), "tools": [{"name": name}]} for name in ("b_c", "c"))
    write_skills(home, a=kid, a_b=other, search={"config": program(RUDE), "tools": [{"name": "repo"}]})
    async with running(Settings(home=home)) as app:
        assert app.registry.get("a_b_c").family == "skill:a"
        assert (await status(app, "a"))["tools"] == ["a_b_c"]
        taken = await status(app, "a_b")
        assert (taken["tools"], taken["left_out"]) == ([], {"c": "the name a_b_c is taken"})
        assert (await status(app, "search"))["left_out"] == {"repo": "the name search_repo is taken"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_038_declarations_of_the_new_revision_do_not_break_old_clients(home: Path, mode: Any) -> None:
    write_skills(home, kid=program(RUDE, "list_answers"))
    async with running(Settings(home=home)) as app:
        await app.skills.discover_tools()
        found, result = await list_and_call(app, mode)
        assert found["kid_add"].output_schema is None
        assert result.content[0].text == "3"
        assert result.structured_content == (None if mode == "legacy" else [3])


async def test_038_a_manifest_configures_skills_or_declares_tools_of_the_configured_ones(home: Path) -> None:
    manifest = home / "skills_manifest.json"
    manifest.write_text(json.dumps({"kid": {"config": program(RUDE), "tools": [{"name": "add"}]}}))
    async with running(Settings(home=home)) as app:
        assert "kid_add" in app.registry
    write_skills(home, kid=program(RUDE))
    async with running(Settings(home=home)) as app:
        assert "kid_add" in app.registry
    write_skills(home, kid=program(RUDE, A="another program"))
    async with running(Settings(home=home)) as app:
        assert "kid_add" not in app.registry
        assert "kid" in app.skills.runners


async def test_017_a_refused_skill_is_in_the_audit_log(home: Path) -> None:
    write_skills(home, bad={"command": "rm"})
    async with running(Settings(home=home)):
        await anyio.lowlevel.checkpoint()
    entries = [json.loads(line) for line in (home / "audit.jsonl").read_text().splitlines()]
    assert [(one["event"], one["tool"], one["reason"]) for one in entries if one["kind"] == "security"] == [
        ("skill_refused", "bad", "command_not_allowed")
    ]
