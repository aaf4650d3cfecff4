"""Memories are exported and imported, on every surface."""

import json
from pathlib import Path

from scrubjay.core.ids import new_id
from tests.surfaces.callers import Caller


async def test_101_memories_are_exported_and_imported_without_duplicates(
    call: Caller, home: Path, project: str
) -> None:
    name = new_id("moved")
    entity = {"type": "entity", "name": "Ada", "entityType": "person", "observations": [f"grows {name} roses"]}
    folder = home / "backups"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(entity) + "\n" + json.dumps({"type": "unknown"}) + "\n", "utf-8")

    imported = await call("import_database", file=name, project=project)
    assert imported["state"] == "completed"
    assert imported["result"] == {
        "imported": 1,
        "skipped": 0,
        "mode": "merge",
        "message": "Import complete. Imported 1 records and skipped 0. 1 other entries in the file were ignored.",
        "file": str(folder / name),
        "format": "mcp-memory",
        "erased": 0,
        "tasks": 0,
        "goals": 0,
        "plans_skipped": 0,
        "plans_erased": 0,
        "masked": 0,
        "ignored": {"line that is neither entity nor relation": 1},
    }
    exported = (await call("export_database", include=["memories"], path=f"{name}.jsonl"))["result"]
    assert exported["path"] == str(folder / f"{name}.jsonl")
    assert f"Ada: grows {name} roses" in (folder / f"{name}.jsonl").read_text("utf-8")

    again = (await call("import_database", file=f"{name}.jsonl"))["result"]
    assert (again["imported"], again["skipped"], again["format"]) == (0, exported["memories"], "scrubjay")
    recalled = await call("recall", query=f"{name} roses", project=project, containing=name)
    assert [memory["content"] for memory in recalled["memories"]] == [f"Ada: grows {name} roses"]
