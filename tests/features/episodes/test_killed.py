"""What a killed process had acknowledged of episodes is there, and no completion is halfway. Numbers are rows of the
feature table."""

import json
import subprocess
from pathlib import Path
from typing import Any, Self

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.scopes import Visibility
from tests.surfaces.callers import PROGRAM, environment

EPISODES = 12
Json = dict[str, Any]


class Server:
    """A real `scrubjay mcp`, to be killed."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp"], env=environment(home), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._last = 0
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send("initialize", greeting)
        self.read()

    def send(self, method: str, params: Json) -> int:
        assert self.process.stdin
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._last

    def read(self) -> Json:
        assert self.process.stdout
        while "id" not in (answer := json.loads(self.process.stdout.readline())):
            pass
        return answer

    def call(self, tool: str, /, **arguments: Any) -> Json:
        self.send("tools/call", {"name": tool, "arguments": arguments})
        return self.read()["result"]["structuredContent"]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@pytest.mark.parametrize("answers", [0, 1, 5])
async def test_071_072_what_was_acknowledged_survives_a_kill_and_no_completion_is_half_done(
    tmp_path: Path, answers: int
) -> None:
    with Server(tmp_path) as server:
        ids: list[str] = []
        for number in range(EPISODES):
            begun = server.call("create_episode", task_description=f"Task {number}", domain="d", task_type="testing")
            ids.append(begun["episode_id"])
            for step in (1, 2):
                server.call("add_episode_step", episode_id=ids[-1], step_number=step, tool="t", action=f"action {step}")
        asked = {
            server.send(
                "tools/call",
                {
                    "name": "complete_episode",
                    "arguments": {"episode_id": one, "outcome_type": "success", "verdict": "v"},
                },
            ): one
            for one in ids
        }
        acknowledged = {asked[server.read()["id"]] for _ in range(answers)}
    store = await SqliteStore.open(tmp_path)
    try:
        assert (await store.check()).problems == []
        for one in ids:
            kept = await store.episodes.get(Visibility(), one)
            assert kept is not None
            assert [step.action for step in kept.steps] == ["action 1", "action 2"]
            parts = (kept.outcome, kept.reward, kept.quality, kept.reflection, kept.salient_features)
            assert {part is not None for part in parts} == {kept.is_complete}
            assert kept.is_complete or one not in acknowledged
    finally:
        await store.close()
    with Server(tmp_path) as later:
        for one in ids:
            told = later.call("get_episode", episode_id=one, fields=["end_time"])["episode"]
            if told["end_time"] is None:
                later.call("complete_episode", episode_id=one, outcome_type="success", verdict="v")
        found = later.call("query_memory", query="task", domain="d", limit=50, fields=["episode_id"])
    assert {one["episode_id"] for one in found["episodes"]} == set(ids)
