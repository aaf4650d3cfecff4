"""Code is found by its form, changes are judged, and several repositories are asked at once, through every door."""

import subprocess
from pathlib import Path

import pytest

from tests.surfaces.callers import Caller

LIBRARY = {
    "pyproject.toml": '[project]\nname = "tokens"\n',
    "tokens/__init__.py": '"""Tokens are signed here."""\n\n\ndef sign(token: str) -> str:\n    return token[::-1]\n',
}
SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["tokens"]\n',
    "shop/__init__.py": "",
    "shop/auth.py": (
        "from tokens import sign\nfrom shop.store import load, save\n\n\n"
        "def login(name: str) -> str:\n    return sign(load(name, default=None))\n\n\n"
        "def register(name: str) -> None:\n    save(name)\n"
    ),
    "shop/store.py": (
        "def load(name, default=None):\n    return default\n\n\ndef save(name):\n    # TODO: keep it\n    return None\n"
    ),
}


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A shop in which a function has just been removed, and a library that it uses."""
    root = tmp_path_factory.mktemp("repositories")
    for name, files in (("tokens", LIBRARY), ("shop", SHOP)):
        for path, text in files.items():
            (root / name / path).parent.mkdir(parents=True, exist_ok=True)
            (root / name / path).write_text(text, "utf-8")
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Begin")):
            subprocess.run(["git", *identity, *arguments], cwd=root / name, check=True)
    store = root / "shop/shop/store.py"
    store.write_text(SHOP["shop/store.py"].partition("\n\n\ndef save")[0] + "\n\n\n# TODO: save\n", "utf-8")
    return root / "shop", root / "tokens"


@pytest.fixture(scope="session")
def index_ids() -> list[str]:
    """Of the shop and the library, once the first door has indexed them."""
    return []


@pytest.fixture(scope="session")
def asked() -> list[Caller]:
    """The doors that were tried so far."""
    return []


async def test_105_110_116_forms_changes_and_several_repositories(
    call: Caller, repositories: tuple[Path, Path], index_ids: list[str], asked: list[Caller]
) -> None:
    is_first = not index_ids
    if is_first:
        index_ids += [(await call("build_repo_index", path=str(root)))["result"]["index_id"] for root in repositories]
    shop, library = index_ids

    async def by_expression() -> None:
        found = await call("search_pattern", index_id=shop, pattern=r"# (?P<what>TODO): \w+", context_lines=1)
        (file,) = found["files"]
        assert (file["path"], file["count"], file["language"], found["total"]) == ("shop/store.py", 1, "python", 1)
        assert file["matches"] == [
            {
                "lines": [5, 5],
                "column": 1,
                "span": [51, 63],
                "symbol": "",
                "content": {"pre": "", "text": "# TODO: save", "post": ""},
                "captures": {"what": "TODO"},
            }
        ]
        assert (found["truncated"], found["timed_out"], found["unread"]) == (False, False, [])

    async def by_structure() -> None:
        found = await call("search_structure", index_id=shop, language="python", pattern="$F($$$, default=$D)")
        ((place,),) = [file["matches"] for file in found["files"]]
        assert (place["symbol"], place["captures"]) == ("login", {"F": ["load"], "D": ["None"]})

    async def by_change() -> None:
        found = await call("diff_impact", index_id=shop)
        first = found["changes"][0]
        assert (first["symbol"], first["change"], first["risk"]) == ("save", "removed", 1.0)
        assert [(use["symbol"], use["path"], use["line"], use["sure"]) for use in first["still_used"]] == [
            ("auth.py", "shop/auth.py", 2, True),
            ("register", "shop/auth.py", 10, True),
        ]
        assert first["reason"] == "removed; `save` is still used at shop/auth.py:2 and 1 more"
        assert [(file["path"], file["status"]) for file in found["files"]] == [("shop/store.py", "modified")]
        assert (found["head"], found["truncated"]) == (None, False)

    async def by_links() -> None:
        found = await call("repo_links", index_ids=index_ids)
        (link,) = found["links"]
        assert (link["index_id"], link["uses_index_id"], link["package"]) == (shop, library, "tokens")
        assert (link["declared"], link["files"]) == (True, [{"path": "shop/auth.py", "lines": [1], "names": ["sign"]}])
        broken = await call("impact", index_id=library, symbol="sign", across=True, max_hops=1)
        users = {there["index_id"]: there["users"] for there in broken["elsewhere"]}
        assert [(one["symbol"], one["path"], one["line"]) for one in users[shop]] == [("login", "shop/auth.py", 6)]

    async def by_calls() -> None:
        there, here = repositories[0], repositories[1]
        await call("set_project", path=str(here))
        one = {"lines": [6], "call_path": "shop/auth.py", "count": 1, "kind": "call"}
        sure = {"evidence": "imported", "confidence": 0.9}
        found = await call("find_callers", function_name="sign", across=True)
        (shops,) = [one for one in found["elsewhere"] if one["index_id"] == shop]
        assert shops == {
            "index_id": shop,
            "root": str(there),
            "package": "tokens",
            "calls": [{"function": "login", "path": "shop/auth.py", **one, **sure}],
            "total": 1,
        }
        assert (found["calls"], found["truncated"]) == ([], False)
        assert (await call("find_callers", function_name="sign"))["elsewhere"] == []
        await call("set_project", path=str(there))
        found = await call("find_callees", function_name="login", across=True)
        (libraries,) = [one for one in found["elsewhere"] if one["index_id"] == library]
        assert libraries == {
            "index_id": library,
            "root": str(here),
            "package": "tokens",
            "calls": [{"function": "sign", "path": "tokens/__init__.py", **one, **sure}],
            "total": 1,
        }
        assert ([one["function"] for one in found["calls"]], found["unresolved"]) == (["load"], ["sign"])

    async def by_all() -> None:
        found = await call("search_repos", index_ids=index_ids, query="where are tokens signed?", context_lines=0)
        best = found["results"][0]
        assert (best["index_id"], best["path"]) == (library, "tokens/__init__.py")
        assert {one["index_id"] for one in found["repositories"]} == {*index_ids}

    # The first door asks all; of the others each asks some, as all of them lead to the same tools.
    cases = [by_expression, by_change, by_structure, by_links, by_all, by_calls]
    for ask in cases if is_first else [*cases[len(asked) % 6 :], *cases][:2]:
        await ask()
    asked.append(call)
