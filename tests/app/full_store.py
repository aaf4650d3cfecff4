"""A store with rows in every table that clients write, and the calls that read them all."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrubjay.db.sqlite.connections import Connection
from tests.surfaces.callers import Caller, CallFailed, Json

# Stand in every text that is stored, with a number that makes it unique.
MARK = "zebra"


@dataclass(frozen=True, slots=True)
class Read:
    """A call that only reads."""

    tool: str
    arguments: dict[str, Any]


# A link needs an index of code, and a discussion another agent that is waiting for messages.
_MORE_ROWS = f"""
INSERT INTO memory_link (seq, root, name, origin, path, symbol, blob, digest, first_line, last_line, linked_at, text)
VALUES (1, '/zoo', '{MARK}.py::feed', 'named', '{MARK}.py', 'feed', 'b', 'd', 1, 2, 3, 'def feed(): pass');
INSERT INTO access_key (id, name, digest, scopes, created_at) VALUES ('key_1', '{MARK}', x'00', '["memory"]', 1);
INSERT INTO agent_message (id, owner, thread_id, sender, recipient, content, created_at)
VALUES ('msg_1', '', 't', 'a', 'b', 'Where is the {MARK}?', 1);
INSERT INTO agent_reply (message_seq, sender, content, way, complete, created_at)
VALUES (1, 'b', 'The {MARK} is outside.', 'called', 0, 2)
"""


async def fill_store(call: Caller, home: Path, folder: Path) -> list[Read]:
    """Write rows of every kind, and return the calls that read them."""
    for number in range(6):
        await call("remember", content=f"The {MARK}{number} lives in enclosure {number}.", key=f"key-{number}")
    await call("remember", content=f"A private {MARK} note.", scope="session", session_id="s1")
    await call("add_memory", sessionId="t1", prompt=f"Which {MARK} is ill?", thought="the third", response="Number 3.")
    await call("store_fact", content=f"The {MARK} house has two floors.", category="fact")
    await call("set_project", path=str(folder))
    await call("session_start", project_path=str(folder), session_id="work-1")
    await call("remember", content=f"A {MARK} of the project.", scope="project", project=str(folder))
    await call("working_put", content=f"working {MARK} item", importance=0.2, session_id="s1")
    task = (await call("task", action="create", title=f"Feed the {MARK}", notes=f"{MARK} notes"))["task"]["id"]
    await call("task", action="create", title=f"Buy food for the {MARK}", parent_id=task)
    goal = (await call("goal", action="create", title=f"A healthy {MARK}"))["goal"]["id"]
    await call("goal", action="add_milestone", goal_id=goal, title=f"{MARK} vaccinated")
    episodes: list[str] = []
    for number in range(3):
        made = await call(
            "create_episode",
            task_description=f"Fix the {MARK} gate {number}",
            domain="zoo",
            task_type="debugging",
            tags=[f"{MARK}-tag"],
        )
        episode = str(made["episode_id"])
        for step in (1, 2, 3):
            result = {"type": "success", "output": f"{MARK} output {step}"}
            names = {"tool": f"tool{step}", "action": f"{MARK} action {step}"}
            await call("add_episode_step", episode_id=episode, step_number=step, result=result, **names)
        await call("complete_episode", episode_id=episode, outcome_type="success", verdict=f"the {MARK} is safe")
        episodes.append(episode)
    await call("knowledge", operation="teach", subject=f"{MARK} house", predicate="depends_on", object="water supply")
    await call("knowledge", operation="teach", subject="water supply", predicate="depends_on", object="power plant")
    await call("persona", action="set_session", content=f"Talk about the {MARK}.", session_id="s1")
    rule = {"effect": "deny", "tool_name": "Bash", "field": "command", "match_type": "prefix"}
    await call("add_permission_rule", pattern=f"rm {MARK}", **rule)
    await call("compact_index")
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.execute(_MORE_ROWS)
    connection.close()
    return _reads(task, goal, episodes, str(folder))


def _reads(task: str, goal: str, episodes: list[str], folder: str) -> list[Read]:
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("recall", {"query": f"{MARK} {number}", "limit": 50}) for number in range(2)),
        ("recall", {"query": f"the {MARK} of the project", "project": folder}),
        ("list_memories", {"limit": 200}),
        ("list_memories", {"limit": 200, "session_id": "s1"}),
        ("list_memories", {"limit": 200, "project": folder}),
        ("memory_history", {"key": "key-1"}),
        ("review_stale", {}),
        ("get_session_memories", {"sessionId": "t1"}),
        ("query_raw_memories", {"query": f"ill {MARK}"}),
        ("get_all_summaries", {}),
        ("search_vibes", {"query": MARK}),
        ("mimo_search_memory", {"query": MARK}),
        ("ask_mimo", {"query": f"where is the {MARK}?"}),
        ("get_project", {}),
        ("list_projects", {}),
        ("session_history", {"action": "list_sessions", "project": folder}),
        ("session_history", {"action": "get_history", "project": folder}),
        ("get_session_recap", {"project": folder}),
        ("export_session", {"session_id": "work-1", "project": folder}),
        ("task", {"action": "list", "include_completed": True}),
        ("task", {"action": "get", "task_id": task}),
        ("goal", {"action": "list", "include_finished": True}),
        ("goal", {"action": "get", "goal_id": goal}),
        *(("get_episode", {"episode_id": one}) for one in episodes),
        ("get_episode_timeline", {"episode_id": episodes[0]}),
        ("bulk_episodes", {"episode_ids": episodes}),
        ("query_memory", {"query": f"{MARK} gate", "domain": "zoo"}),
        ("query_semantic_memory", {"query": f"{MARK} gate"}),
        ("analyze_patterns", {"task_type": "debugging"}),
        ("search_patterns", {"query": f"{MARK} gate", "domain": "zoo"}),
        ("quality_metrics", {}),
        ("get_episode_tags", {"episode_id": episodes[0]}),
        ("search_episodes_by_tags", {"tags": [f"{MARK}-tag"]}),
        ("list_jobs", {}),
        ("memory_health", {}),
        ("working_recent", {"session_id": "s1"}),
        ("working_search", {"query": MARK, "session_id": "s1"}),
        ("working_stats", {"session_id": "s1"}),
        ("consult_graph", {"query": f"{MARK} house"}),
        ("knowledge", {"operation": "search", "query": MARK}),
        ("knowledge", {"operation": "query", "entity": f"{MARK} house", "predicate": "depends_on", "depth": 5}),
        ("agent_messages", {"include_answered": True, "project": folder}),
        ("agent_messages", {"message_id": "msg_1"}),
        ("persona", {"action": "get", "session_id": "s1"}),
        ("list_permission_rules", {}),
        ("test_permission", {"tool_name": "Bash", "tool_input": {"command": f"rm {MARK}"}}),
        ("health_check", {}),
        ("get_metrics", {}),
    ]
    return [Read(tool, arguments) for tool, arguments in calls]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a call, or its error."""

    read: Read
    answer: Json | None
    error: CallFailed | None

    @property
    def text(self) -> str:
        return json.dumps(self.answer) if self.error is None else str(self.error)

    @property
    def says_damaged(self) -> bool:
        if self.error is not None:
            return self.error.code == "store_unusable"
        return "left out: run `scrubjay store check`" in str((self.answer or {}).get("degraded"))


async def perform(call: Caller, reads: list[Read]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for read in reads:
        try:
            outcomes.append(Outcome(read, await call(read.tool, **read.arguments), None))
        except CallFailed as error:
            outcomes.append(Outcome(read, None, error))
    return outcomes


def merge_log(home: Path) -> bytes:
    """Bring the write-ahead log into the database of a closed store, and return the database."""
    connection = Connection(home / "scrubjay.db", 5.0)
    connection.pragma("journal_mode", "delete")
    connection.close()
    return (home / "scrubjay.db").read_bytes()
