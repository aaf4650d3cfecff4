"""Memories about code are linked, found stale and reviewed alike through every door."""

from pathlib import Path

from tests.features.code_links.repository import Repository
from tests.surfaces.callers import Caller


async def test_a_memory_says_through_every_door_that_its_code_has_changed(call: Caller, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "apollo")
    project = str(repository.root)
    await call("build_repo_index", path=project)
    then = repository.git("rev-parse", "HEAD")
    kept = await call("remember", content="Signing turns it around.", about=["signing.py::sign"], project=project)
    here = {"name": "signing.py::sign", "origin": "named", "path": "signing.py", "symbol": "sign", "lines": [1, 3]}
    assert kept["about"] == [here | {"state": "current", "commit": then}]
    repository.change("signing.py", "[::-1]", "[::-2]")
    (recalled,) = (await call("recall", query="How does signing work?", project=project, scope="project"))["memories"]
    diff = recalled["stale"].pop("diff")
    assert [line for line in diff.splitlines() if line[:1] in "-+"][2:] == [
        "-    turned = password[::-1]",
        "+    turned = password[::-2]",
    ]
    assert recalled["stale"] == {
        "reason": "changed",
        "symbol": "sign",
        "path": "signing.py",
        "commit_then": then,
        "commit_now": then,
    }
    assert recalled["about"] == [here | {"state": "changed", "commit": then}]
    found = await call("review_stale", project=project)
    assert ([one["id"] for one in found["memories"]], found["total"]) == ([kept["id"]], 1)
    forgotten = await call("review_stale", action="forget", ids=[kept["id"]], project=project)
    assert forgotten["forgotten"] == [kept["id"]]
