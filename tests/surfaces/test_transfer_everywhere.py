"""Memories move in and out alike through every door."""

import json
from pathlib import Path

from scrubjay.core.ids import new_id
from tests.surfaces.callers import Caller


async def test_101_memories_move_in_and_out_and_nothing_is_kept_twice(call: Caller, home: Path, project: str) -> None:
    name = new_id("moved")
    observed = {"type": "entity", "name": "Ada", "entityType": "person", "observations": [f"grows {name} roses"]}
    folder = home / "backups"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(observed) + "\n" + json.dumps({"type": "unknown"}) + "\n", "utf-8")

    moved_in = await call("import_database", file=name, project=project)
    assert moved_in["state"] == "completed"
    assert moved_in["result"] == {
        "imported": 1,
        "skipped": 0,
        "mode": "merge",
        "message": "Import complete. Imported 1 records and skipped 0. 1 other things in the file bring no memory.",
        "file": str(folder / name),
        "format": "mcp-memory",
        "erased": 0,
        "tasks": 0,
        "goals": 0,
        "plans_skipped": 0,
        "plans_erased": 0,
        "masked": 0,
        "left_out": {"line that is neither entity nor relation": 1},
    }
    moved_out = (await call("export_database", include=["memories"], path=f"{name}.jsonl"))["result"]
    assert moved_out["path"] == str(folder / f"{name}.jsonl")
    assert f"Ada: grows {name} roses" in (folder / f"{name}.jsonl").read_text("utf-8")

    again = (await call("import_database", file=f"{name}.jsonl"))["result"]
    assert (again["imported"], again["skipped"], again["format"]) == (0, moved_out["memories"], "scrubjay")
    found = await call("recall", query=f"{name} roses", project=project, containing=name)
    assert [memory["content"] for memory in found["memories"]] == [f"Ada: grows {name} roses"]
