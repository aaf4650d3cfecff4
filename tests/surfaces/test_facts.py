"""Conversations are summarised and facts are extracted, on every surface."""

import json
from pathlib import Path

from scrubjay.core.ids import new_id
from tests.surfaces.callers import Caller

TURNS = [
    ("2024-03-05T09:00:00Z", "user", "We use MySQL for the shop's data. Why does the checkout time out?"),
    ("2024-03-05T09:00:05Z", "assistant", "The query on orders scans the whole table. I added an index."),
    ("2024-03-06T10:00:00Z", "user", "We decided to use PostgreSQL for the shop's data."),
    ("2024-03-06T10:00:05Z", "assistant", "I migrated the orders table to PostgreSQL. All tests pass."),
]


def write_log(home: Path, project: str) -> str:
    """Write a log of two sessions in one week to the folder of `import_database`; return its name."""
    name = new_id("talk")
    lines = [
        {
            "type": role,
            "uuid": f"{name}-{number}",
            "sessionId": f"{name}-{moment[:10]}",
            "cwd": project,
            "timestamp": moment,
            "message": {"role": role, "content": text},
        }
        for number, (moment, role, text) in enumerate(TURNS)
    ]
    (home / "backups").mkdir(exist_ok=True)
    (home / "backups" / name).write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return name


async def test_057_conversations_are_rolled_up_by_day_and_week_and_facts_are_extracted(
    call: Caller, home: Path, project: str
) -> None:
    name = write_log(home, project)
    await call("set_project", path=project)
    assert (await call("import_database", file=name))["result"]["imported"] == len(TURNS)
    result = (await call("summarize_sessions"))["result"]
    sessions = [entry for entry in result["sessions"] if entry["sessionId"].startswith(name)]
    assert [(entry["sessionId"], entry["memoryCount"]) for entry in sessions] == [
        (f"{name}-2024-03-05", 2),
        (f"{name}-2024-03-06", 2),
    ]
    # There may be more: global memories are visible, and so summarised, in every project.
    assert {"2024-03-05", "2024-03-06", "2024-W10"} <= {entry["period"] for entry in result["periods"]}
    assert (result["facts"] >= 2, result["failed"]) == (True, [])

    recalled = await call("recall", query="what do we use for the shop's data?", fact_type="decision", scope="project")
    (fact,) = recalled["memories"]
    assert (fact["content"], fact["subject"], fact["session_id"]) == (
        "We decided to use PostgreSQL for the shop's data.",
        "used for shop's data",
        f"{name}-2024-03-06",
    )
    (turn,) = fact["provenance"]["from"]
    assert (turn[:4], fact["provenance"]["method"], fact["valid_until"]) == ("mem_", "extractive", None)

    again = (await call("extract_facts", sessionId=f"{name}-2024-03-06"))["result"]
    assert (again["turns"], again["facts"], again["restated"], again["method"]) == (0, [], [], "extractive")
    history = (await call("memory_history", id=fact["id"]))["versions"]
    assert [(entry["content"], entry["superseded_by"]) for entry in history] == [
        ("We use MySQL for the shop's data.", fact["id"]),
        ("We decided to use PostgreSQL for the shop's data.", None),
    ]
