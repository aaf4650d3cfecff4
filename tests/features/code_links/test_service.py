"""Links from memories to code: staleness in recall, confirmation, and visibility."""

import json
from pathlib import Path
from typing import Any

import pytest

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound
from scrubjay.core.paths import CODE_DATABASE, has_code_index
from tests.features.code_links.repository import SIGNING, Repository, ToolClient, open_client
from tests.features.transfer.files import with_valid_checksum

CHANGED = """--- a/signing.py::sign
+++ b/signing.py::sign
@@ -1,3 +1,3 @@
 def sign(password: str) -> str:
-    turned = password[::-1]
+    turned = password[::-2]
     return turned"""


async def test_a_memory_is_stale_when_its_code_changed_until_it_is_confirmed(
    client: ToolClient, repository: Repository
) -> None:
    old_commit = repository.git("rev-parse", "HEAD")
    stored = await client("remember", content="Signing turns the text around.", about=["signing.py::sign"])
    link = {"name": "signing.py::sign", "origin": "named", "path": "signing.py", "symbol": "sign", "commit": old_commit}
    assert stored["about"] == [link | {"state": "current", "lines": [1, 3]}]
    assert "stale" not in await client.recall_best("signing")
    repository.change("signing.py", "[::-1]", "[::-2]")
    new_commit = repository.commit("Leave out every other letter")
    stale = {
        "reason": "changed",
        "symbol": "sign",
        "path": "signing.py",
        "commit_then": old_commit,
        "commit_now": new_commit,
        "diff": CHANGED,
    }
    assert (await client.recall_best("signing"))["stale"] == stale
    listed = await client("review_stale")
    (one,) = listed["memories"]
    assert (one["id"], one["stale"], one["about"]) == (
        stored["id"],
        [stale],
        [link | {"state": "changed", "lines": [1, 3]}],
    )
    assert (listed["total"], listed["checked"], listed["unknown"]) == (1, 1, 0)
    confirmed = await client("review_stale", action="confirm", ids=[stored["id"]])
    assert [(one["id"], one["stale"]) for one in confirmed["memories"]] == [(stored["id"], [])]
    recalled = await client.recall_best("signing")
    assert recalled["about"] == [link | {"state": "current", "lines": [1, 3], "commit": new_commit}]
    assert "stale" not in recalled
    assert (await client("review_stale"))["memories"] == []


async def test_moved_code_is_not_stale_and_deleted_code_is(client: ToolClient, repository: Repository) -> None:
    await client("remember", content="Signing turns the text around.", about=["sign"])
    repository.write("signing.py", f"import os\n\n\n{SIGNING}")
    (about,) = (await client.recall_best("signing"))["about"]
    assert (about["state"], about["path"], about["lines"]) == ("moved", "signing.py", [4, 6])
    repository.git("mv", "signing.py", "turning.py")
    recalled = await client.recall_best("signing")
    (about,) = recalled["about"]
    assert (about["state"], about["path"], about["lines"], "stale" in recalled) == (
        "moved",
        "turning.py",
        [4, 6],
        False,
    )
    repository.change("turning.py", "return turned", "return turned.upper()")
    recalled = await client.recall_best("signing")
    assert (recalled["stale"]["reason"], recalled["about"][0]["path"]) == ("changed", "turning.py")
    repository.write("turning.py", SIGNING.replace("sign(", "turn("))
    repository.write("unlike.py", "def sign(letter: int) -> None:\n    raise NotImplementedError(letter)\n")
    stale = (await client.recall_best("signing"))["stale"]
    assert (stale["reason"], stale["path"], stale["diff"].splitlines()[-1]) == (
        "gone",
        "signing.py",
        "-    return turned",
    )
    stored = (await client("review_stale"))["memories"][0]["id"]
    assert (await client("review_stale", action="confirm", ids=[stored]))["memories"][0]["about"] == []
    assert "about" not in await client.recall_best("signing")


async def test_definitions_of_the_same_name_are_distinguished_by_their_text(
    client: ToolClient, repository: Repository
) -> None:
    first, second = "if FAST:\n    def go():\n        return 1\n", "else:\n    def go():\n        return 2\n"
    repository.write("twice.py", first + second)
    stored = await client("remember", content="Going is twofold.", about=["twice.py::go"])
    assert stored["about"][0]["lines"] == [2, 3]
    repository.write("twice.py", "if SLOW:\n    def go():\n        return 0\n" + first.replace("if", "elif") + second)
    (about,) = (await client.recall_best("going"))["about"]
    assert (about["state"], about["lines"]) == ("moved", [5, 6])


async def test_about_accepts_paths_definitions_and_qualified_names(client: ToolClient, repository: Repository) -> None:
    names = ["src/auth.py", "auth.py::leave", "Session.login", "auth.Session", f"{repository.root}/signing.py::sign"]
    stored = await client("remember", content="Much at once.", about=names)
    assert [(one["path"], one["symbol"]) for one in stored["about"]] == [
        ("src/auth.py", ""),
        ("src/auth.py", "leave"),
        ("src/auth.py", "Session.login"),
        ("src/auth.py", "Session"),
        ("signing.py", "sign"),
    ]
    repository.change("src/auth.py", 'signature = ""', 'signature = "-"')
    states = await client.states("much at once")
    assert [states[name] for name in names] == ["changed", "changed", "current", "current", "current"]


async def test_an_unknown_name_is_rejected_with_similar_names(client: ToolClient) -> None:
    with pytest.raises(NotFound) as failed:
        await client("remember", content="x", about=["src/auth.py::logn"])
    assert "src/auth.py::login" in failed.value.record.details["nearest"]
    with pytest.raises(NotFound) as failed:
        await client("remember_many", memories=[{"content": "stored?"}, {"content": "x", "about": ["src/oath.py"]}])
    assert failed.value.record.details["nearest"][0] == "src/auth.py"
    with pytest.raises(InvalidRequest, match="'check' is ambiguous: 2 definitions") as ambiguous:
        await client("remember", content="x", about=["check"])
    assert set(ambiguous.value.record.details["places"]) == {"signing.py::check", "other.py::check"}
    assert (await client("recall", query="stored?", threshold=0))["memories"] == []


async def test_unambiguous_mentions_are_linked_automatically(client: ToolClient) -> None:
    stored = await client(
        "remember", content="`sign` and Session.login (src/auth.py) need `check`, README.md and nothing.else."
    )
    assert [(one["name"], one["origin"], one["path"], one["symbol"]) for one in stored["about"]] == [
        ("sign", "mentioned", "signing.py", "sign"),
        ("Session.login", "mentioned", "src/auth.py", "Session.login"),
    ]
    stored = await client("remember", content="Look at signing.py.")
    assert [(one["name"], one["path"], one["symbol"]) for one in stored["about"]] == [("signing.py", "signing.py", "")]
    await client("add_memory", prompt="What does `sign` do?", thought="-", response="`sign` turns it.")
    assert await client("review_stale") | {"memories": []} == {
        "memories": [],
        "total": 0,
        "checked": 2,
        "unknown": 0,
        "forgotten": [],
    }, "turns are not linked to code"


async def test_names_given_before_indexing_are_resolved_later(tmp_path: Path, repository: Repository) -> None:
    async with open_client(tmp_path / "home") as client:
        await client("set_project", path=str(repository.root))
        await client("remember", content="Signing turns the text.", about=["sign", "never_there"], key="signing")
        assert await client.states("signing") == {"sign": "pending", "never_there": "pending"}
        assert (await client("review_stale"))["unknown"] == 1
        assert not (tmp_path / "home" / CODE_DATABASE).exists(), "the check does not create an index"
        await client("index", action="project")
        found = await client("semantic_code_search", query="sign")
        assert [one["content"] for one in found["results"][0]["memories"]] == ["Signing turns the text."]
        assert await client.states("signing") == {"sign": "current", "never_there": "pending"}
        repository.change("signing.py", "[::-1]", "[::-2]")
        assert await client.states("signing") == {"sign": "changed", "never_there": "pending"}
    assert has_code_index(tmp_path / "home")


async def test_a_changed_memory_is_linked_to_the_current_code(client: ToolClient, repository: Repository) -> None:
    await client("remember", content="`sign` turns around.", about=["Session.login"], key="signing")
    repository.change("signing.py", "[::-1]", "[::-2]")
    repository.change("src/auth.py", "==", "!=")
    assert await client.states("sign") == {"Session.login": "changed", "sign": "changed"}
    await client("remember", content="`leave` follows.", key="signing")
    assert await client.states("leave follows") == {"Session.login": "current", "leave": "current"}
    stored = await client.recall_best("leave follows")
    repository.change("src/auth.py", "!=", "==")
    corrected = await client("review_stale", action="correct", ids=[stored["id"]], content="`sign` follows.")
    assert [(one["id"], one["content"], one["stale"]) for one in corrected["memories"]] == [
        (stored["id"], "`sign` follows.", [])
    ]
    assert {one["name"]: one["state"] for one in corrected["memories"][0]["about"]} == {
        "Session.login": "current",
        "sign": "current",
    }
    history = await client("memory_history", id=stored["id"])
    assert [one["content"] for one in history["versions"]][-2:] == ["`leave` follows.", "`sign` follows."]
    forgotten = await client("review_stale", action="forget", ids=[stored["id"]])
    assert forgotten["forgotten"][0] == stored["id"]
    with pytest.raises(NotFound):
        await client("review_stale", action="confirm", ids=[stored["id"]])


async def test_code_searches_show_related_memories_to_clients_of_the_project(
    client: ToolClient, repository: Repository, tmp_path: Path
) -> None:
    await client("remember", content="Signing is " + "very " * 60 + "old.", about=["sign"])
    await client("remember", content="All of signing.py is to go.", about=["signing.py"])
    symbols = await client("get_symbols", file_path="signing.py")
    assert [[one["score"] for one in symbol.get("memories", [])] for symbol in symbols["symbols"]] == [[1.0], []]
    assert [one["score"] for one in symbols["memories"]] == [0.6]
    index_id = (await client("build_repo_index", path=str(repository.root)))["result"]["index_id"]

    async def memories_of(client: ToolClient) -> list[Any]:
        found = await client("search_repo", index_id=index_id, query="sign")
        return [one.get("memories") for one in found["results"] if one["path"] == "signing.py"]

    ((first, second),) = await memories_of(client)
    assert (first["score"], second["score"], len(first["content"])) == (1.0, 0.6, 200)
    other_client = client.other("grace")
    await other_client("set_project", path=str(tmp_path / "another"))
    assert await memories_of(other_client) == [None]
    assert (await other_client("review_stale"))["checked"] == 0
    with pytest.raises(NotFound):
        await other_client("review_stale", action="forget", ids=[first["id"]])


async def test_secrets_in_code_are_neither_stored_nor_shown(
    client: ToolClient, repository: Repository, tmp_path: Path
) -> None:
    secret, other = "ghp_" + "a1B2c3D4e5F6" * 3, "ghp_" + "Z9y8X7w6V5u4" * 3
    repository.write("token.py", f'def token() -> str:\n    return "{secret}"\n')
    await client("remember", content="The token is fixed.", about=["token.py::token"])
    repository.change("token.py", secret, other)
    assert await client.states("token") == {"token.py::token": "current"}, "only the secret changed"
    repository.write("token.py", f'def token() -> str:\n    key = "{other}"\n    return key\n')
    diff = (await client.recall_best("token"))["stale"]["diff"]
    assert "return key" in diff
    files = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    for one in (secret, other):
        assert one not in diff
        assert one.encode() not in files


async def test_recall_reads_no_index_for_memories_without_links_and_never_builds_one(
    client: ToolClient, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client("remember", content="Signing turns the text around.", about=["sign"])
    await client("remember", content="Tea is at four.")

    async def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("recall must not use the index")

    monkeypatch.setattr(CodeService, "load", forbidden)
    monkeypatch.setattr(Indexer, "build", forbidden)
    monkeypatch.setattr(Indexer, "snapshot", forbidden)
    assert "about" not in await client.recall_best("tea")
    assert await client.states("signing") == {"sign": "current"}
    repository.change("signing.py", "[::-1]", "[::-2]")
    assert await client.states("signing") == {"sign": "changed"}


async def test_links_into_a_missing_repository_are_unknown(client: ToolClient, repository: Repository) -> None:
    await client("remember", content="Signing turns the text around.", about=["sign"])
    repository.root.rename(repository.root.with_name("elsewhere"))
    assert await client.states("signing") == {"sign": "unknown"}
    assert (await client("review_stale"))["unknown"] == 1


async def test_forged_links_read_only_indexed_and_allowed_files(
    client: ToolClient, repository: Repository, tmp_path: Path
) -> None:
    repository.write(".gitignore", "private.py")
    repository.write("private.py", "def private():\n    return 1\n")
    await client("remember", content="Signing turns the text around.", about=["sign"])
    await client("export_database", path="all")
    file = tmp_path / "home" / "backups" / "all"
    forged = file.read_bytes().replace(b"mem_", b"mim_").replace(b'"path":"signing.py"', b'"path":"private.py"')
    forged = forged.replace(b'"symbol":"sign"', b'"symbol":"private"').replace(b"Signing", b"Forging")
    file.with_name("forged").write_bytes(with_valid_checksum(forged))
    assert (await client("import_database", file="forged"))["result"]["imported"] == 1
    assert (await client.recall_best("forging"))["stale"]["reason"] == "gone"
    async with open_client(tmp_path / "home", code={"roots": [str(tmp_path / "allowed")]}) as restricted:
        await restricted("set_project", path=str(repository.root))
        assert await restricted.states("signing") == {"sign": "unknown"}


async def test_another_repository_is_named_by_its_folder_or_its_index(
    client: ToolClient, tmp_path: Path, repository: Repository
) -> None:
    index_id = (await client("build_repo_index", path=str(repository.root)))["result"]["index_id"]
    other_client = client.other("grace")
    with pytest.raises(InvalidRequest, match="no repository is selected"):
        await other_client("remember", content="Signing.", about=["sign"])
    for name in (str(repository.root), index_id):
        stored = await other_client("remember", content="Signing.", about=["sign"], repository=name)
        assert stored["about"][0]["path"] == "signing.py"
    async with open_client(tmp_path / "restricted", code={"roots": [str(tmp_path / "allowed")]}) as restricted:
        with pytest.raises(Forbidden):
            await restricted("remember", content="Signing.", about=["sign"], repository=str(repository.root))


async def test_links_are_exported_and_imported_with_memories(
    client: ToolClient, repository: Repository, tmp_path: Path
) -> None:
    await client("remember", content="Signing turns the text around.", about=["sign"])
    done = await client("export_database", path="all")
    file = tmp_path / "home" / "backups" / "all"
    assert done["result"]["path"] == str(file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    (memory,) = [line["memory"] for line in lines if "memory" in line]
    assert memory["links"][0]["code"]["text"].startswith("def sign(")
    (tmp_path / "second" / "backups").mkdir(parents=True)
    (tmp_path / "second" / "backups" / "all").write_bytes(file.read_bytes())
    repository.change("signing.py", "[::-1]", "[::-2]")
    async with open_client(tmp_path / "second") as second:
        await second("import_database", file="all")
        await second("set_project", path=str(repository.root))
        assert await second.states("signing") == {"sign": "unknown"}
        await second("index", action="project")
        assert (await second.recall_best("signing"))["stale"]["diff"] == CHANGED
