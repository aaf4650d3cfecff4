"""What a language model may use is what its caller's key opens."""

import json
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import Caller
from scrubjay.features.chat.llm_tools import MOST_CHARACTERS, ToolBelt
from scrubjay.features.chat.stream_accumulator import WantedCall
from scrubjay.tooling.context import CallContext


async def test_15_a_model_reaches_no_more_than_its_caller(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        belt = ToolBelt(application.dispatcher)

        def names(*scopes: str) -> set[str]:
            context = CallContext(surface="mira", caller=Caller("k", frozenset(scopes), "k1"))
            return {tool["function"]["name"] for tool in belt.offered(context)}

        assert names("memory:read") == {"recall_memories"}
        assert names("memory") == {"recall_memories", "remember"}
        assert names("projects:read") == {"list_projects"}
        assert names("planning:read") == {"list_tasks", "list_goals"}
        everything = {
            "list_tasks",
            "list_goals",
            "search_code",
            "find_callers",
            "find_callees",
            "get_symbols",
            "set_project",
            "list_projects",
            "discuss",
        }
        assert names("*") == {"recall_memories", "remember"} | everything
        reader = CallContext(surface="mira", caller=Caller("k", frozenset({"memory:read"}), "k1"))
        success, told = await belt.use(WantedCall("1", "remember", '{"content": "x"}'), reader)
        assert (success, json.loads(told)["error"]["code"]) == (False, "unknown_tool")


async def test_36_a_model_gives_tasks_to_a_coding_agent_only_where_the_owner_wants_that(tmp_path: Path) -> None:
    context = CallContext(surface="mira")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        for delegates in (False, True):
            belt = ToolBelt(application.dispatcher, delegates=delegates)
            offered = {tool["function"]["name"] for tool in belt.offered(context)}
            assert ({"claude_task", "claude_close", "claude_status"} <= offered) is delegates
            success, told = await belt.use(WantedCall("1", "claude_task", '{"task": "x"}'), context)
            code = json.loads(told)["error"]["code"]
            assert (success, code) == (False, "forbidden" if delegates else "unknown_tool")


async def test_129_a_model_lists_tasks_and_goals_and_cannot_do_more_with_them(tmp_path: Path) -> None:
    context = CallContext(surface="mira", client="me")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        belt = ToolBelt(application.dispatcher)
        for tool, title in (("task", "Paint"), ("goal", "A red door")):
            await application.dispatcher.call(tool, {"action": "create", "title": title}, context)
        offered = {tool["function"]["name"]: tool["function"] for tool in belt.offered(context)}
        for name, field in (("list_tasks", "tasks"), ("list_goals", "goals")):
            assert list(offered[name]["parameters"]["properties"]) == ["status"]
            assert offered[name]["description"].startswith("List the ")
            success, told = await belt.use(WantedCall("1", name, '{"action": "create", "title": "x"}'), context)
            assert (success, len(json.loads(told)[field])) == (True, 1)
        success, told = await belt.use(WantedCall("1", "list_tasks", '{"status": "completed"}'), context)
        assert (success, json.loads(told)["tasks"]) == (True, [])


async def test_129_what_a_tool_answers_is_cut_and_its_mistakes_are_told(tmp_path: Path) -> None:
    context = CallContext(surface="mira")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        belt = ToolBelt(application.dispatcher)
        await belt.use(WantedCall("1", "remember", json.dumps({"content": "sea " * 8_000})), context)
        success, told = await belt.use(WantedCall("1", "recall_memories", '{"query": "sea"}'), context)
        assert (success, len(told)) == (True, MOST_CHARACTERS)
        for arguments in ("[]", "{", '{"query": 5, "x": 1}'):
            success, told = await belt.use(WantedCall("1", "recall_memories", arguments), context)
            assert (success, json.loads(told)["error"]["code"]) == (False, "invalid_request")
