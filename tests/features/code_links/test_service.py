"""Memories about code: what recall says when the code is not what it was, what is confirmed, and who is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app import application
from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Forbidden, InvalidRequest, NotFound
from scrubjay.features.code.sqlite import DATABASE
from tests.features.code_links.repository import SIGNING, House, Repository, house_at
from tests.features.transfer.files import signed

CHANGED = """--- a/signing.py::sign
+++ b/signing.py::sign
@@ -1,3 +1,3 @@
 def sign(password: str) -> str:
-    turned = password[::-1]
+    turned = password[::-2]
     return turned"""


async def test_a_memory_is_stale_when_its_code_changed_and_no_more_when_it_is_confirmed(
    house: House, repository: Repository
) -> None:
    then = repository.git("rev-parse", "HEAD")
    kept = await house("remember", content="Signing turns the text around.", about=["signing.py::sign"])
    here = {"name": "signing.py::sign", "origin": "named", "path": "signing.py", "symbol": "sign", "commit": then}
    assert kept["about"] == [here | {"state": "current", "lines": [1, 3]}]
    assert "stale" not in await house.recalled("signing")
    repository.change("signing.py", "[::-1]", "[::-2]")
    now = repository.commit("Leave out every other letter")
    stale = {
        "reason": "changed",
        "symbol": "sign",
        "path": "signing.py",
        "commit_then": then,
        "commit_now": now,
        "diff": CHANGED,
    }
    assert (await house.recalled("signing"))["stale"] == stale
    listed = await house("review_stale")
    (one,) = listed["memories"]
    assert (one["id"], one["stale"], one["about"]) == (
        kept["id"],
        [stale],
        [here | {"state": "changed", "lines": [1, 3]}],
    )
    assert (listed["total"], listed["checked"], listed["unknown"]) == (1, 1, 0)
    confirmed = await house("review_stale", action="confirm", ids=[kept["id"]])
    assert [(one["id"], one["stale"]) for one in confirmed["memories"]] == [(kept["id"], [])]
    recalled = await house.recalled("signing")
    assert recalled["about"] == [here | {"state": "current", "lines": [1, 3], "commit": now}]
    assert "stale" not in recalled
    assert (await house("review_stale"))["memories"] == []


async def test_what_only_moved_is_not_stale_and_what_went_is(house: House, repository: Repository) -> None:
    await house("remember", content="Signing turns the text around.", about=["sign"])
    repository.write("signing.py", f"import os\n\n\n{SIGNING}")
    (about,) = (await house.recalled("signing"))["about"]
    assert (about["state"], about["path"], about["lines"]) == ("moved", "signing.py", [4, 6])
    repository.git("mv", "signing.py", "turning.py")
    recalled = await house.recalled("signing")
    (about,) = recalled["about"]
    assert (about["state"], about["path"], about["lines"], "stale" in recalled) == (
        "moved",
        "turning.py",
        [4, 6],
        False,
    )
    repository.change("turning.py", "return turned", "return turned.upper()")
    recalled = await house.recalled("signing")
    assert (recalled["stale"]["reason"], recalled["about"][0]["path"]) == ("changed", "turning.py")
    repository.write("turning.py", SIGNING.replace("sign(", "turn("))
    repository.write("unlike.py", "def sign(letter: int) -> None:\n    raise NotImplementedError(letter)\n")
    stale = (await house.recalled("signing"))["stale"]
    assert (stale["reason"], stale["path"], stale["diff"].splitlines()[-1]) == (
        "gone",
        "signing.py",
        "-    return turned",
    )
    kept = (await house("review_stale"))["memories"][0]["id"]
    assert (await house("review_stale", action="confirm", ids=[kept]))["memories"][0]["about"] == []
    assert "about" not in await house.recalled("signing")


async def test_of_several_of_one_name_each_is_known_by_its_text(house: House, repository: Repository) -> None:
    first, second = "if FAST:\n    def go():\n        return 1\n", "else:\n    def go():\n        return 2\n"
    repository.write("twice.py", first + second)
    kept = await house("remember", content="Going is twofold.", about=["twice.py::go"])
    assert kept["about"][0]["lines"] == [2, 3]
    repository.write("twice.py", "if SLOW:\n    def go():\n        return 0\n" + first.replace("if", "elif") + second)
    (about,) = (await house.recalled("going"))["about"]
    assert (about["state"], about["lines"]) == ("moved", [5, 6])


async def test_a_path_a_definition_or_a_qualified_name_can_be_meant(house: House, repository: Repository) -> None:
    names = ["src/auth.py", "auth.py::leave", "Session.login", "auth.Session", f"{repository.root}/signing.py::sign"]
    kept = await house("remember", content="Much at once.", about=names)
    assert [(one["path"], one["symbol"]) for one in kept["about"]] == [
        ("src/auth.py", ""),
        ("src/auth.py", "leave"),
        ("src/auth.py", "Session.login"),
        ("src/auth.py", "Session"),
        ("signing.py", "sign"),
    ]
    repository.change("src/auth.py", 'signature = ""', 'signature = "-"')
    states = await house.states("much at once")
    assert [states[name] for name in names] == ["changed", "changed", "current", "current", "current"]


async def test_a_name_that_nothing_has_is_refused_with_the_nearest_ones(house: House) -> None:
    with pytest.raises(NotFound) as failed:
        await house("remember", content="x", about=["src/auth.py::logn"])
    assert "src/auth.py::login" in failed.value.record.details["nearest"]
    with pytest.raises(NotFound) as failed:
        await house("remember_many", memories=[{"content": "kept?"}, {"content": "x", "about": ["src/oath.py"]}])
    assert failed.value.record.details["nearest"][0] == "src/auth.py"
    with pytest.raises(InvalidRequest, match="2 things are called 'check'") as ambiguous:
        await house("remember", content="x", about=["check"])
    assert set(ambiguous.value.record.details["places"]) == {"signing.py::check", "other.py::check"}
    assert (await house("recall", query="kept?", threshold=0))["memories"] == []


async def test_mentions_link_by_themselves_where_only_one_thing_is_called_so(house: House) -> None:
    kept = await house(
        "remember", content="`sign` and Session.login (src/auth.py) need `check`, README.md and nothing.else."
    )
    assert [(one["name"], one["origin"], one["path"], one["symbol"]) for one in kept["about"]] == [
        ("sign", "mentioned", "signing.py", "sign"),
        ("Session.login", "mentioned", "src/auth.py", "Session.login"),
    ]
    kept = await house("remember", content="Look at signing.py.")
    assert [(one["name"], one["path"], one["symbol"]) for one in kept["about"]] == [("signing.py", "signing.py", "")]
    await house("add_memory", prompt="What does `sign` do?", thought="-", response="`sign` turns it.")
    assert await house("review_stale") | {"memories": []} == {
        "memories": [],
        "total": 0,
        "checked": 2,
        "unknown": 0,
        "forgotten": [],
    }, "what was said in a turn stays said"


async def test_before_anything_is_indexed_names_are_kept_and_looked_up_later(
    tmp_path: Path, repository: Repository
) -> None:
    async with house_at(tmp_path / "home") as house:
        await house("set_project", path=str(repository.root))
        await house("remember", content="Signing turns the text.", about=["sign", "never_there"], key="signing")
        assert await house.states("signing") == {"sign": "pending", "never_there": "pending"}
        assert (await house("review_stale"))["unknown"] == 1
        assert not (tmp_path / "home" / DATABASE).exists(), "nobody made an index to find that out"
        await house("index", action="project")
        found = await house("semantic_code_search", query="sign")
        assert [one["content"] for one in found["results"][0]["memories"]] == ["Signing turns the text."]
        assert await house.states("signing") == {"sign": "current", "never_there": "pending"}
        repository.change("signing.py", "[::-1]", "[::-2]")
        assert await house.states("signing") == {"sign": "changed", "never_there": "pending"}
    assert application.CODE_DATABASE == DATABASE


async def test_what_is_said_anew_is_about_the_code_as_it_is_now(house: House, repository: Repository) -> None:
    await house("remember", content="`sign` turns around.", about=["Session.login"], key="signing")
    repository.change("signing.py", "[::-1]", "[::-2]")
    repository.change("src/auth.py", "==", "!=")
    assert await house.states("sign") == {"Session.login": "changed", "sign": "changed"}
    await house("remember", content="`leave` comes after.", key="signing")
    assert await house.states("leave comes after") == {"Session.login": "current", "leave": "current"}
    kept = await house.recalled("leave comes after")
    repository.change("src/auth.py", "!=", "==")
    corrected = await house("review_stale", action="correct", ids=[kept["id"]], content="`sign` comes after.")
    assert [(one["id"], one["content"], one["stale"]) for one in corrected["memories"]] == [
        (kept["id"], "`sign` comes after.", [])
    ]
    assert {one["name"]: one["state"] for one in corrected["memories"][0]["about"]} == {
        "Session.login": "current",
        "sign": "current",
    }
    history = await house("memory_history", id=kept["id"])
    assert [one["content"] for one in history["versions"]][-2:] == ["`leave` comes after.", "`sign` comes after."]
    forgotten = await house("review_stale", action="forget", ids=[kept["id"]])
    assert forgotten["forgotten"][0] == kept["id"]
    with pytest.raises(NotFound):
        await house("review_stale", action="confirm", ids=[kept["id"]])


async def test_code_tells_what_is_remembered_about_it_to_those_of_the_project(
    house: House, repository: Repository, tmp_path: Path
) -> None:
    await house("remember", content="Signing is " + "very " * 60 + "old.", about=["sign"])
    await house("remember", content="All of signing.py is to go.", about=["signing.py"])
    symbols = await house("get_symbols", file_path="signing.py")
    assert [[one["score"] for one in symbol.get("memories", [])] for symbol in symbols["symbols"]] == [[1.0], []]
    assert [one["score"] for one in symbols["memories"]] == [0.6]
    index_id = (await house("build_repo_index", path=str(repository.root)))["result"]["index_id"]

    async def told(house: House) -> list[Any]:
        found = await house("search_repo", index_id=index_id, query="sign")
        return [one.get("memories") for one in found["results"] if one["path"] == "signing.py"]

    ((first, second),) = await told(house)
    assert (first["score"], second["score"], len(first["content"])) == (1.0, 0.6, 200)
    stranger = house.other("grace")
    await stranger("set_project", path=str(tmp_path / "another"))
    assert await told(stranger) == [None]
    assert (await stranger("review_stale"))["checked"] == 0
    with pytest.raises(NotFound):
        await stranger("review_stale", action="forget", ids=[first["id"]])


async def test_no_secret_of_the_code_is_kept_or_told(house: House, repository: Repository, tmp_path: Path) -> None:
    secret, other = "ghp_" + "a1B2c3D4e5F6" * 3, "ghp_" + "Z9y8X7w6V5u4" * 3
    repository.write("token.py", f'def token() -> str:\n    return "{secret}"\n')
    await house("remember", content="The token is fixed.", about=["token.py::token"])
    repository.change("token.py", secret, other)
    assert await house.states("token") == {"token.py::token": "current"}, "only the secret changed"
    repository.write("token.py", f'def token() -> str:\n    key = "{other}"\n    return key\n')
    diff = (await house.recalled("token"))["stale"]["diff"]
    assert "return key" in diff
    files = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    for one in (secret, other):
        assert one not in diff
        assert one.encode() not in files


async def test_recall_looks_at_no_index_for_what_is_about_no_code_and_never_builds_one(
    house: House, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house("remember", content="Signing turns the text around.", about=["sign"])
    await house("remember", content="Tea is at four.")

    async def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("nobody asked for an index")

    monkeypatch.setattr(CodeService, "load", forbidden)
    monkeypatch.setattr(Indexer, "build", forbidden)
    monkeypatch.setattr(Indexer, "snapshot", forbidden)
    assert "about" not in await house.recalled("tea")
    assert await house.states("signing") == {"sign": "current"}
    repository.change("signing.py", "[::-1]", "[::-2]")
    assert await house.states("signing") == {"sign": "changed"}


async def test_where_the_repository_is_gone_nothing_is_claimed(house: House, repository: Repository) -> None:
    await house("remember", content="Signing turns the text around.", about=["sign"])
    repository.root.rename(repository.root.with_name("elsewhere"))
    assert await house.states("signing") == {"sign": "unknown"}
    assert (await house("review_stale"))["unknown"] == 1


async def test_only_what_is_indexed_and_allowed_is_read_whatever_a_link_says(
    house: House, repository: Repository, tmp_path: Path
) -> None:
    repository.write(".gitignore", "private.py")
    repository.write("private.py", "def private():\n    return 1\n")
    await house("remember", content="Signing turns the text around.", about=["sign"])
    await house("export_database", path="all")
    file = tmp_path / "home" / "backups" / "all"
    forged = file.read_bytes().replace(b"mem_", b"mim_").replace(b'"path":"signing.py"', b'"path":"private.py"')
    forged = forged.replace(b'"symbol":"sign"', b'"symbol":"private"').replace(b"Signing", b"Forging")
    file.with_name("forged").write_bytes(signed(forged))
    assert (await house("import_database", file="forged"))["result"]["imported"] == 1
    assert (await house.recalled("forging"))["stale"]["reason"] == "gone"
    async with house_at(tmp_path / "home", code={"roots": [str(tmp_path / "allowed")]}) as bounded:
        await bounded("set_project", path=str(repository.root))
        assert await bounded.states("signing") == {"sign": "unknown"}


async def test_another_repository_can_be_named_by_its_folder_or_its_index(
    house: House, tmp_path: Path, repository: Repository
) -> None:
    index_id = (await house("build_repo_index", path=str(repository.root)))["result"]["index_id"]
    stranger = house.other("grace")
    with pytest.raises(InvalidRequest, match="which code"):
        await stranger("remember", content="Signing.", about=["sign"])
    for given in (str(repository.root), index_id):
        kept = await stranger("remember", content="Signing.", about=["sign"], repository=given)
        assert kept["about"][0]["path"] == "signing.py"
    async with house_at(tmp_path / "bounded", code={"roots": [str(tmp_path / "allowed")]}) as bounded:
        with pytest.raises(Forbidden):
            await bounded("remember", content="Signing.", about=["sign"], repository=str(repository.root))


async def test_what_memories_are_about_moves_with_them(house: House, repository: Repository, tmp_path: Path) -> None:
    await house("remember", content="Signing turns the text around.", about=["sign"])
    done = await house("export_database", path="all")
    file = tmp_path / "home" / "backups" / "all"
    assert done["result"]["path"] == str(file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    (memory,) = [line["memory"] for line in lines if "memory" in line]
    assert memory["links"][0]["code"]["text"].startswith("def sign(")
    (tmp_path / "second" / "backups").mkdir(parents=True)
    (tmp_path / "second" / "backups" / "all").write_bytes(file.read_bytes())
    repository.change("signing.py", "[::-1]", "[::-2]")
    async with house_at(tmp_path / "second") as second:
        await second("import_database", file="all")
        await second("set_project", path=str(repository.root))
        assert await second.states("signing") == {"sign": "unknown"}
        await second("index", action="project")
        assert (await second.recalled("signing"))["stale"]["diff"] == CHANGED
