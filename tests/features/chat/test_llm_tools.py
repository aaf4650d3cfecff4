"""The tools of the chat's language model, limited by the key of its caller."""

import json
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import Caller
from scrubjay.features.chat.llm_tools import MAX_RESULT_CHARACTERS, ChatTools
from scrubjay.features.chat.stream_accumulator import RequestedToolCall
from scrubjay.tooling.context import CallContext


async def test_15_a_model_has_only_the_tools_of_its_caller(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        tools = ChatTools(application.dispatcher)

        def names(*scopes: str) -> set[str]:
            context = CallContext(surface="mira", caller=Caller("k", frozenset(scopes), "k1"))
            return {tool["function"]["name"] for tool in tools.definitions(context)}

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
        success, output = await tools.call(RequestedToolCall("1", "remember", '{"content": "x"}'), reader)
        assert (success, json.loads(output)["error"]["code"]) == (False, "unknown_tool")


async def test_36_a_model_can_delegate_to_a_coding_agent_only_when_the_owner_allows_it(tmp_path: Path) -> None:
    context = CallContext(surface="mira")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        for delegates in (False, True):
            tools = ChatTools(application.dispatcher, allow_delegation=delegates)
            offered = {tool["function"]["name"] for tool in tools.definitions(context)}
            assert ({"claude_task", "claude_close", "claude_status"} <= offered) is delegates
            success, output = await tools.call(RequestedToolCall("1", "claude_task", '{"task": "x"}'), context)
            code = json.loads(output)["error"]["code"]
            assert (success, code) == (False, "forbidden" if delegates else "unknown_tool")


async def test_129_a_model_can_only_list_tasks_and_goals(tmp_path: Path) -> None:
    context = CallContext(surface="mira", client="me")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        tools = ChatTools(application.dispatcher)
        for tool, title in (("task", "Paint"), ("goal", "A red door")):
            await application.dispatcher.call(tool, {"action": "create", "title": title}, context)
        offered = {tool["function"]["name"]: tool["function"] for tool in tools.definitions(context)}
        for name, field in (("list_tasks", "tasks"), ("list_goals", "goals")):
            assert list(offered[name]["parameters"]["properties"]) == ["status"]
            assert offered[name]["description"].startswith("List the ")
            success, output = await tools.call(
                RequestedToolCall("1", name, '{"action": "create", "title": "x"}'), context
            )
            assert (success, len(json.loads(output)[field])) == (True, 1)
        success, output = await tools.call(RequestedToolCall("1", "list_tasks", '{"status": "completed"}'), context)
        assert (success, json.loads(output)["tasks"]) == (True, [])


async def test_129_long_tool_results_are_truncated_and_errors_are_returned(tmp_path: Path) -> None:
    context = CallContext(surface="mira")
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        tools = ChatTools(application.dispatcher)
        for name in ("north", "south", "east", "west"):  # each is short enough to be returned whole
            content = f"The {name} sea: " + " ".join(f"{name}{number}" for number in range(700))
            await tools.call(RequestedToolCall("1", "remember", json.dumps({"content": content})), context)
        success, output = await tools.call(RequestedToolCall("1", "recall_memories", '{"query": "sea"}'), context)
        assert (success, len(output)) == (True, MAX_RESULT_CHARACTERS)
        for arguments in ("[]", "{", '{"query": 5, "x": 1}'):
            success, output = await tools.call(RequestedToolCall("1", "recall_memories", arguments), context)
            assert (success, json.loads(output)["error"]["code"]) == (False, "invalid_request")
