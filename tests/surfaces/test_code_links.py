"""Memories about code are linked, marked stale and reviewed, on every surface."""

from pathlib import Path

from tests.features.code_links.repository import Repository
from tests.surfaces.callers import Caller


async def test_a_memory_is_marked_stale_when_its_code_changes(call: Caller, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "apollo")
    project = str(repository.root)
    await call("build_repo_index", path=project)
    commit = repository.git("rev-parse", "HEAD")
    stored = await call("remember", content="Signing turns it around.", about=["signing.py::sign"], project=project)
    link = {"name": "signing.py::sign", "origin": "named", "path": "signing.py", "symbol": "sign", "lines": [1, 3]}
    assert stored["about"] == [link | {"state": "current", "commit": commit}]
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
        "commit_then": commit,
        "commit_now": commit,
    }
    assert recalled["about"] == [link | {"state": "changed", "commit": commit}]
    stale = await call("review_stale", project=project)
    assert ([memory["id"] for memory in stale["memories"]], stale["total"]) == ([stored["id"]], 1)
    forgotten = await call("review_stale", action="forget", ids=[stored["id"]], project=project)
    assert forgotten["forgotten"] == [stored["id"]]
