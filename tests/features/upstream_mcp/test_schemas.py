"""What skills tell of their tools: whatever that is, the list of all tools can be read by every client."""

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
from scrubjay.features.upstream_mcp.schemas import MOST_TOOLS, tools_of
from scrubjay.servers.mcp.server import build_server
from scrubjay.tooling.context import CallContext
from tests.features.upstream_mcp.conftest import RUDE, program, write_skills

CONTEXT = CallContext(surface="python", client="tests")


async def listed(app: Application, mode: Any) -> tuple[dict[str, Tool], Any]:
    """All tools that an MCP client is shown, and what it gets for adding by the skill `kid`."""
    server = build_server(
        lambda: app.offering, version="1", instructions="", patience=1, surface="mcp-stdio", client="c"
    )
    found: dict[str, Tool] = {}
    async with Client(server, mode=mode, cache=None) as client:
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found |= {tool.name: tool for tool in page.tools}
            if (cursor := page.next_cursor) is None:
                break
        answer = await client.call_tool("kid_add", {"a": 1, "b": 2}) if "kid_add" in found else None
    return found, answer


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
        found, answer = await listed(app, mode)
        assert "kid_bad" not in found
        assert "remember" in found
        assert not answer.is_error


def test_038_what_cannot_be_used_is_left_out_with_the_reason() -> None:
    names = ["fine", "with space", "fs/read", "", "x" * 200, "a\nb", "dotted.name-1", "fine"]
    told = tools_of("kid", [{"name": name} for name in names] + [{"name": "odd", "inputSchema": 3}])
    assert [tool.name for tool in told.tools] == ["kid_fine", "kid_dotted.name-1"]
    assert told.tools[0].declared["inputSchema"] == {"type": "object"}
    assert set(told.left_out) == {"with space", "fs/read", "", "x" * 80, "a\nb", "fine", "odd"}
    assert told.left_out["fine"] == "there is another one of this name"
    assert told.left_out["odd"].startswith("its declaration is not of the protocol: inputSchema: ")


async def test_038_a_skill_of_five_hundred_tools_is_listed_and_more_are_told(home: Path) -> None:
    write_skills(home, kid=program(RUDE, "many", str(MOST_TOOLS + 7)))
    async with running(Settings(home=home)) as app:
        await app.skills.learn()
        found, _ = await listed(app, "auto")
        assert sum(name.startswith("kid_") for name in found) == MOST_TOOLS
        assert len((await status(app, "kid"))["left_out"]) == 7
    async with running(Settings(home=home)) as app:  # from what is kept
        assert (await status(app, "kid"))["tool_count"] == MOST_TOOLS
        assert len((await status(app, "kid"))["left_out"]) == 7


async def test_038_of_two_tools_of_one_name_the_first_is_called_and_the_other_told(home: Path) -> None:
    kid, other = ({"config": program(RUDE), "tools": [{"name": name}]} for name in ("b_c", "c"))
    write_skills(home, a=kid, a_b=other, search={"config": program(RUDE), "tools": [{"name": "repo"}]})
    async with running(Settings(home=home)) as app:
        assert app.registry.get("a_b_c").family == "skill:a"
        assert (await status(app, "a"))["tools"] == ["a_b_c"]
        taken = await status(app, "a_b")
        assert (taken["tools"], taken["left_out"]) == ([], {"c": "there is another a_b_c"})
        assert (await status(app, "search"))["left_out"] == {"repo": "there is another search_repo"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_038_what_only_the_new_era_knows_hurts_no_client_of_the_old(home: Path, mode: Any) -> None:
    write_skills(home, kid=program(RUDE, "list_answers"))
    async with running(Settings(home=home)) as app:
        await app.skills.learn()
        found, answer = await listed(app, mode)
        assert found["kid_add"].output_schema is None
        assert answer.content[0].text == "3"
        assert answer.structured_content == (None if mode == "legacy" else [3])


async def test_038_a_manifest_by_itself_is_heeded_and_beside_the_file_tells_the_tools(home: Path) -> None:
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
        assert "kid" in app.skills.lives


async def test_017_a_refused_skill_is_in_the_audit_log(home: Path) -> None:
    write_skills(home, bad={"command": "rm"})
    async with running(Settings(home=home)):
        await anyio.lowlevel.checkpoint()
    entries = [json.loads(line) for line in (home / "audit.jsonl").read_text().splitlines()]
    assert [(one["event"], one["tool"], one["reason"]) for one in entries if one["kind"] == "security"] == [
        ("skill_refused", "bad", "command_not_allowed")
    ]
