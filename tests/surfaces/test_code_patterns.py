"""Pattern search, change review and questions to several repositories, on every surface."""

import subprocess
from pathlib import Path

import pytest

from scrubjay.features.code.cross_repo_tools import MAX_INDEXES
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
    """The index ids of the shop and the library, once the first surface has indexed them."""
    return []


@pytest.fixture(scope="session")
def surfaces_run() -> list[Caller]:
    """The surfaces that have run the test so far."""
    return []


async def test_105_110_116_patterns_changes_and_several_repositories(
    call: Caller, repositories: tuple[Path, Path], index_ids: list[str], surfaces_run: list[Caller]
) -> None:
    is_first = not index_ids
    if is_first:
        index_ids += [(await call("build_repo_index", path=str(root)))["result"]["index_id"] for root in repositories]
    shop, library = index_ids

    async def by_expression() -> None:
        result = await call("search_pattern", index_id=shop, pattern=r"# (?P<what>TODO): \w+", context_lines=1)
        (file,) = result["files"]
        assert (file["path"], file["count"], file["language"], result["total"]) == ("shop/store.py", 1, "python", 1)
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
        assert (result["truncated"], result["timed_out"], result["unread"]) == (False, False, [])

    async def by_structure() -> None:
        result = await call("search_structure", index_id=shop, language="python", pattern="$F($$$, default=$D)")
        ((place,),) = [file["matches"] for file in result["files"]]
        assert (place["symbol"], place["captures"]) == ("login", {"F": ["load"], "D": ["None"]})

    async def by_change() -> None:
        result = await call("diff_impact", index_id=shop)
        first = result["changes"][0]
        assert (first["symbol"], first["change"], first["risk"]) == ("save", "removed", 1.0)
        assert [(use["symbol"], use["path"], use["line"], use["sure"]) for use in first["still_used"]] == [
            ("auth.py", "shop/auth.py", 2, True),
            ("register", "shop/auth.py", 10, True),
        ]
        assert first["reason"] == "removed; `save` is still used at shop/auth.py:2 and 1 more"
        assert [(file["path"], file["status"]) for file in result["files"]] == [("shop/store.py", "modified")]
        assert (result["head"], result["truncated"]) == (None, False)

    async def by_links() -> None:
        result = await call("repo_links", index_ids=index_ids)
        (link,) = result["links"]
        assert (link["index_id"], link["uses_index_id"], link["package"]) == (shop, library, "tokens")
        assert (link["declared"], link["files"]) == (True, [{"path": "shop/auth.py", "lines": [1], "names": ["sign"]}])
        broken = await call("impact", index_id=library, symbol="sign", across=True, max_hops=1)
        users = {entry["index_id"]: entry["users"] for entry in broken["elsewhere"]}
        assert [(one["symbol"], one["path"], one["line"]) for one in users[shop]] == [("login", "shop/auth.py", 6)]

    async def by_calls() -> None:
        shop_root, library_root = repositories[0], repositories[1]
        await call("set_project", path=str(library_root))
        one = {"lines": [6], "call_path": "shop/auth.py", "count": 1, "kind": "call"}
        sure = {"evidence": "imported", "confidence": 0.9}
        result = await call("find_callers", function_name="sign", across=True)
        (shops,) = [one for one in result["elsewhere"] if one["index_id"] == shop]
        assert shops == {
            "index_id": shop,
            "root": str(shop_root),
            "package": "tokens",
            "calls": [{"function": "login", "path": "shop/auth.py", **one, **sure}],
            "total": 1,
        }
        indexed = {one["root"] for one in (await call("index", action="status"))["indexes"]}
        # The store is shared with the tests of other files, and at most `MAX_INDEXES` other repositories are searched.
        assert (result["calls"], result["truncated"]) == ([], len(indexed) - 1 > MAX_INDEXES)
        assert (await call("find_callers", function_name="sign"))["elsewhere"] == []
        await call("set_project", path=str(shop_root))
        result = await call("find_callees", function_name="login", across=True)
        (libraries,) = [one for one in result["elsewhere"] if one["index_id"] == library]
        assert libraries == {
            "index_id": library,
            "root": str(library_root),
            "package": "tokens",
            "calls": [{"function": "sign", "path": "tokens/__init__.py", **one, **sure}],
            "total": 1,
        }
        assert ([one["function"] for one in result["calls"]], result["unresolved"]) == (["load"], ["sign"])

    async def by_all() -> None:
        result = await call("search_repos", index_ids=index_ids, query="where are tokens signed?", context_lines=0)
        best = result["results"][0]
        assert (best["index_id"], best["path"]) == (library, "tokens/__init__.py")
        assert {one["index_id"] for one in result["repositories"]} == {*index_ids}

    # The first surface runs all cases, the others some of them, as all call the same tools.
    cases = [by_expression, by_change, by_structure, by_links, by_all, by_calls]
    for case in cases if is_first else [*cases[len(surfaces_run) % 6 :], *cases][:2]:
        await case()
    surfaces_run.append(call)
