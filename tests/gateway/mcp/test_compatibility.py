"""What clients of the systems before us ask of a real server over standard input, in its own JSON."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.app.commands import profile_option
from recollect.app.settings import Settings
from recollect.toolkit.profiles import PROFILES
from recollect.toolkit.registry import Registry
from recollect.tools import ALL
from tests.surfaces.callers import PROGRAM, environment

Json = dict[str, Any]
GREETING = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "test", "version": "1"}, "capabilities": {}}
# Tools of other parts of Recollect that are still to come; whoever brings one takes it out of here.
TO_COME = {
    "mimo": {"file", "terminal", "fetch", "think", "web_parse", "search", "sonar", "knowledge"},
    "do-memory": {
        *("query_memory", "execute_agent_code", "analyze_patterns", "get_metrics", "advanced_pattern_analysis"),
        *("quality_metrics", "query_semantic_memory", "search_patterns", "recommend_patterns", "bulk_episodes"),
        *("create_episode", "add_episode_step", "complete_episode", "get_episode", "delete_episode"),
        *("get_episode_timeline", "update_episode"),
    },
    "mira": {"task", "goal", "reply_to_mira"},
}


def asked(home: Path, *requests: tuple[str, Mapping[str, Any]], options: Sequence[str] = ()) -> list[Json]:
    """The answers of a real `recollect mcp`, in order."""
    messages: list[Json] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": GREETING}]
    messages += [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    messages += [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests, 1)
    ]
    with subprocess.Popen(
        [*PROGRAM, "mcp", *options],
        env=environment(home),
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.writelines(json.dumps(message) + "\n" for message in messages)
        process.stdin.flush()
        answers: dict[int, Json] = {}
        while len(answers) <= len(requests) and (line := process.stdout.readline()):
            answer = json.loads(line)
            if "id" in answer:
                answers[answer["id"]] = answer
        process.stdin.close()
        assert process.wait(30) == 0
    return [answers[number] for number in range(1, len(requests) + 1)]


def test_10_41_lists_have_pages_of_the_size_asked_for_and_can_be_had_in_brief(tmp_path: Path):
    first, brief, wrong = asked(
        tmp_path, ("tools/list", {"limit": 3}), ("tools/list", {"lazy": True}), ("tools/list", {"limit": 0})
    )
    assert [len(first["result"]["tools"]), "nextCursor" in first["result"]] == [3, True]
    assert {tuple(sorted(tool)) for tool in brief["result"]["tools"]} == {
        ("description", "inputSchema", "name", "title")
    }
    assert all(tool["inputSchema"] == {"type": "object"} for tool in brief["result"]["tools"])
    assert wrong["error"]["code"] == -32602
    (rest,) = asked(tmp_path, ("tools/list", {"limit": 200, "cursor": first["result"]["nextCursor"]}))
    names = [tool["name"] for part in (first, rest) for tool in part["result"]["tools"]]
    assert names == [tool["name"] for tool in brief["result"]["tools"]]


def test_41_a_tool_is_described_whether_it_is_listed_or_not(tmp_path: Path):
    one, unknown, many = asked(
        tmp_path,
        ("tools/describe", {"name": "batch_execute"}),
        ("tools/describe", {"name": "nothing"}),
        ("tools/describe_batch", {"names": ["recall", "nothing", "impact", "recall"]}),
    )
    assert one["result"]["tool"]["inputSchema"]["required"] == ["operations"]
    assert (unknown["error"]["code"], unknown["error"]["message"]) == (-32601, "Tool not found")
    assert unknown["error"]["data"] == {"tool": "nothing"}
    assert [tool["name"] for tool in many["result"]["tools"]] == ["recall", "impact"]


def test_41_methods_have_the_other_names_that_clients_know(tmp_path: Path):
    call = {"name": "recall", "arguments": {"query": "nothing"}}
    aliases = ("tools.get", "tools/get", "list_tools", "list-tools")
    nothing: Json = {}
    answers = asked(
        tmp_path,
        ("tools/list", nothing),
        *((alias, nothing) for alias in aliases),
        *((alias, call) for alias in ("call_tool", "tool/call", "tools.call")),
    )
    listed, *others = [answer["result"] for answer in answers]
    assert all(other["tools"] == listed["tools"] for other in others[: len(aliases)])
    assert all(other["structuredContent"]["memories"] == [] for other in others[len(aliases) :])


def test_9_a_batch_calls_real_tools_feeds_results_on_and_skips_what_depends_on_a_failure(tmp_path: Path):
    find = {"id": "find", "tool": "recall", "arguments": {"query": "when is the release"}, "depends_on": ["keep"]}
    keep = {"id": "keep", "tool": "remember", "arguments": {"content": "The release is on Thursday."}}
    told = {"id": {"$result": "keep", "pointer": "/id"}}
    failing = {"id": "bad", "tool": "no_such_tool"}
    vain = {"id": "vain", "tool": "remember", "arguments": {"content": "never kept"}, "depends_on": ["bad"]}
    gone = {"id": "gone", "tool": "forget", "arguments": told, "depends_on": ["find"]}
    batch, after, cycle = asked(
        tmp_path,
        ("batch/execute", {"operations": [find, keep, failing, vain, gone], "max_parallel": 2}),
        ("tools/call", {"name": "recall", "arguments": {"query": "never kept"}}),
        ("batch/execute", {"operations": [{**keep, "depends_on": ["keep"]}]}),
    )
    result = batch["result"]
    outcomes = {own["id"]: own for own in result["results"]}
    assert [own["id"] for own in result["results"]] == ["find", "keep", "bad", "vain", "gone"]
    assert [own["success"] for own in result["results"]] == [True, True, False, False, True]
    assert outcomes["find"]["result"]["memories"][0]["id"] == outcomes["keep"]["result"]["id"]
    assert (outcomes["bad"]["error"]["code"], outcomes["bad"]["error"]["details"]["code"]) == (-32000, "unknown_tool")
    assert outcomes["vain"]["error"]["details"] == {"skipped": True, "because": ["bad"]}
    assert (result["success_count"], result["failure_count"]) == (3, 2)
    assert result["stats"]["parallel_executed"] == 4
    assert after["result"]["structuredContent"]["memories"] == []
    assert (cycle["error"]["code"], cycle["error"]["message"]) == (-32603, "Batch execution failed")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_lists_exactly_the_tools_of_its_system(tmp_path: Path, profile: str):
    (listed,) = asked(tmp_path, ("tools/list", {}), options=("--profile", profile))
    expected = set(PROFILES[profile]) - TO_COME.get(profile, set())
    assert {tool["name"] for tool in listed["result"]["tools"]} == expected


def test_there_is_one_list_of_profiles():
    declared = Settings.model_json_schema()["properties"]["profile"]["anyOf"][0]["enum"]
    assert declared == [*PROFILES]
    option = profile_option(lambda: None).__click_params__[0]  # pyright: ignore
    assert [*option.type.choices] == [*PROFILES]  # pyright: ignore
    registry = Registry(ALL)
    assert {name for names in TO_COME.values() for name in names}.isdisjoint(registry.names)
