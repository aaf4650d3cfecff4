"""What was said in conversations is summed up and gives its facts alike through every door."""

import json
from pathlib import Path

from scrubjay.core.ids import new_id
from tests.surfaces.callers import Caller

SAID = [
    ("2024-03-05T09:00:00Z", "user", "We use MySQL for the shop's data. Why does the checkout time out?"),
    ("2024-03-05T09:00:05Z", "assistant", "The query on orders scans the whole table. I added an index."),
    ("2024-03-06T10:00:00Z", "user", "We decided to use PostgreSQL for the shop's data."),
    ("2024-03-06T10:00:05Z", "assistant", "I migrated the orders table to PostgreSQL. All tests pass."),
]


def log(home: Path, project: str) -> str:
    """A log of two sessions on two days of one week, where import_database finds it."""
    name = new_id("talk")
    lines = [
        {
            "type": who,
            "uuid": f"{name}-{place}",
            "sessionId": f"{name}-{moment[:10]}",
            "cwd": project,
            "timestamp": moment,
            "message": {"role": who, "content": text},
        }
        for place, (moment, who, text) in enumerate(SAID)
    ]
    (home / "backups").mkdir(exist_ok=True)
    (home / "backups" / name).write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return name


async def test_057_conversations_roll_up_into_days_and_weeks_and_give_their_facts(
    call: Caller, home: Path, project: str
) -> None:
    name = log(home, project)
    await call("set_project", path=project)
    assert (await call("import_database", file=name))["result"]["imported"] == len(SAID)
    done = (await call("summarize_sessions"))["result"]
    mine = [one for one in done["sessions"] if one["sessionId"].startswith(name)]
    assert [(one["sessionId"], one["memoryCount"]) for one in mine] == [
        (f"{name}-2024-03-05", 2),
        (f"{name}-2024-03-06", 2),
    ]
    # Of others there may be more: what is global is seen and summarised in every project.
    assert {"2024-03-05", "2024-03-06", "2024-W10"} <= {one["period"] for one in done["periods"]}
    assert (done["facts"] >= 2, done["failed"]) == (True, [])

    found = await call("recall", query="what do we use for the shop's data?", fact_type="decision", scope="project")
    (fact,) = found["memories"]
    assert (fact["content"], fact["subject"], fact["session_id"]) == (
        "We decided to use PostgreSQL for the shop's data.",
        "used for shop's data",
        f"{name}-2024-03-06",
    )
    (turn,) = fact["provenance"]["from"]
    assert (turn[:4], fact["provenance"]["method"], fact["valid_until"]) == ("mem_", "extractive", None)

    again = (await call("extract_facts", sessionId=f"{name}-2024-03-06"))["result"]
    assert (again["turns"], again["facts"], again["noted"], again["method"]) == (0, [], [], "extractive")
    history = (await call("memory_history", id=fact["id"]))["versions"]
    assert [(one["content"], one["superseded_by"]) for one in history] == [
        ("We use MySQL for the shop's data.", fact["id"]),
        ("We decided to use PostgreSQL for the shop's data.", None),
    ]
