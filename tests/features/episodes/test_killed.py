"""Durability of episodes when the server is killed. Numbers are rows of the feature table."""

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
    """A real `scrubjay mcp` process that a test kills."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp"], env=environment(home), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._last = 0
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send("initialize", client)
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
        while "id" not in (message := json.loads(self.process.stdout.readline())):
            pass
        return message

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


@pytest.mark.parametrize("responses", [0, 1, 5])
async def test_071_072_acknowledged_writes_survive_a_kill_and_completions_are_atomic(
    tmp_path: Path, responses: int
) -> None:
    with Server(tmp_path) as server:
        ids: list[str] = []
        for number in range(EPISODES):
            created = server.call("create_episode", task_description=f"Task {number}", domain="d", task_type="testing")
            ids.append(created["episode_id"])
            for step in (1, 2):
                server.call("add_episode_step", episode_id=ids[-1], step_number=step, tool="t", action=f"action {step}")
        requests = {
            server.send(
                "tools/call",
                {
                    "name": "complete_episode",
                    "arguments": {"episode_id": episode_id, "outcome_type": "success", "verdict": "v"},
                },
            ): episode_id
            for episode_id in ids
        }
        acknowledged = {requests[server.read()["id"]] for _ in range(responses)}
    store = await SqliteStore.open(tmp_path)
    try:
        assert (await store.check()).problems == []
        for episode_id in ids:
            episode = await store.episodes.get(Visibility(), episode_id)
            assert episode is not None
            assert [step.action for step in episode.steps] == ["action 1", "action 2"]
            parts = (episode.outcome, episode.reward, episode.quality, episode.reflection, episode.salient_features)
            assert {part is not None for part in parts} == {episode.is_complete}
            assert episode.is_complete or episode_id not in acknowledged
    finally:
        await store.close()
    with Server(tmp_path) as later:
        for episode_id in ids:
            episode = later.call("get_episode", episode_id=episode_id, fields=["end_time"])["episode"]
            if episode["end_time"] is None:
                later.call("complete_episode", episode_id=episode_id, outcome_type="success", verdict="v")
        found = later.call("query_memory", query="task", domain="d", limit=50, fields=["episode_id"])
    assert {episode["episode_id"] for episode in found["episodes"]} == set(ids)
