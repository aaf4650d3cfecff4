"""Code is indexed, searched and explained alike through every door."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from tests.surfaces.callers import Caller, CallFailed

AUTH = '''"""Who may come in."""

from shop.store import load_user


class UserNotFoundError(Exception):
    """Nobody is called like that."""


def validate_password(name: str, password: str) -> bool:
    """Whether this is the password of that user."""
    user = load_user(name)
    if user is None:
        raise UserNotFoundError(name)
    return user["password"] == password


class Session:
    """Somebody who came in."""

    def __init__(self, name: str) -> None:
        self.name = name

    def login(self, password: str) -> bool:
        return validate_password(self.name, password)
'''
STORE = '''"""Keeps users."""

USERS: dict[str, dict[str, str]] = {}


def load_user(name: str) -> dict[str, str] | None:
    return USERS.get(name)
'''
CART = """import { price } from "./price";

export class Cart {
  items: string[] = [];

  total(): number {
    return this.items.map(price).reduce((a, b) => a + b, 0);
  }
}

export function checkout(cart: Cart): number {
  return cart.total();
}
"""
PRICE = """export function price(item: string): number {
  return item.length;
}
"""


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    for path, text in {
        "shop/auth.py": AUTH,
        "shop/store.py": STORE,
        "shop/__init__.py": "",
        "web/cart.ts": CART,
        "web/price.ts": PRICE,
    }.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, "utf-8")
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Let users in by their passwords")):
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True)
    return root


async def test_103_104_a_project_is_indexed_and_its_symbols_are_listed(call: Caller, repository: Path) -> None:
    await call("set_project", path=str(repository))
    done = await call("index", action="project")
    (index,) = done["indexes"]
    assert (index["root"], index["files"], index["rev"]) == (str(repository), 5, "HEAD")
    found = await call("get_symbols", file_path="shop/auth.py")
    shown = [(one["qualified_name"], one["symbol_type"], one["line_start"]) for one in found["symbols"]]
    assert shown == [
        ("UserNotFoundError", "class", 6),
        ("validate_password", "function", 10),
        ("Session", "class", 18),
        ("Session.__init__", "constructor", 21),
        ("Session.name", "field", 22),
        ("Session.login", "method", 24),
    ]
    assert found["symbols"][1]["documentation"] == "Whether this is the password of that user."


async def test_105_callers_and_callees_are_told_with_their_lines(call: Caller, repository: Path) -> None:
    await call("index", action="project", path=str(repository))
    await call("set_project", path=str(repository))
    callers = await call("find_callers", function_name="validate_password")
    assert [(one["function"], one["path"], one["lines"]) for one in callers["calls"]] == [
        ("Session.login", "shop/auth.py", [25])
    ]
    callees = await call("find_callees", function_name="validate_password")
    told = {(one["function"], one["path"], tuple(one["lines"])) for one in callees["calls"]}
    assert told == {("load_user", "shop/store.py", (12,)), ("UserNotFoundError", "shop/auth.py", (14,))}
    first = await call("find_callees", function_name="validate_password", limit=1)
    assert (len(first["calls"]), first["total"], first["truncated"], callees["truncated"]) == (1, 2, True, False)
    with pytest.raises(CallFailed, match="not_found") as failed:
        await call("find_callers", function_name="validatePasword")
    assert "validate_password" in (failed.value.hint or "")


async def test_110_114_116_a_search_cites_what_it_found(call: Caller, repository: Path) -> None:
    built = await call("build_repo_index", path=str(repository))
    index_id = built["result"]["index_id"]
    ensured = await call("ensure_repo_index", path=str(repository))
    assert (ensured["index_id"], ensured["state"], ensured["job_id"]) == (index_id, "completed", None)
    found = await call("search_repo", index_id=index_id, query="where is the password of a user checked?", k=3)
    first = found["results"][0]
    assert (first["path"], first["lines"][0] <= 10 <= first["lines"][1]) == ("shop/auth.py", True)
    assert 0 < first["score"] <= 1
    content = AUTH.encode()
    sha = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    assert first["citation"]["content_sha"] == sha
    start, end = first["citation"]["span"]
    assert content[start:end].decode() == first["content"]["text"]
    total = await call("search_repo", index_id=index_id, query="total of the cart", features={"vector": False})
    assert total["results"][0]["path"] == "web/cart.ts"


async def test_118_an_index_that_nobody_builds_cannot_be_cancelled(call: Caller) -> None:
    assert await call("cancel", index_id="idx_none") == {"ok": False, "message": "Pipeline not found"}


async def test_108_a_folder_is_watched_until_it_is_stopped(call: Caller, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one(): pass\n")
    begun = await call("watch_repo", action="start", path=str(tmp_path))
    (watch,) = begun["watches"]
    assert (watch["root"], begun["message"]) == (str(tmp_path), f"{tmp_path} is watched from now on")
    for listed in (await call("watch_repo", action="list"), await call("index", action="status")):
        (found,) = [one for one in listed["watches"] if one["root"] == str(tmp_path)]
        assert (found["job_id"], found["state"] in ("queued", "running")) == (watch["job_id"], True)
    stopped = await call("watch_repo", action="stop", path=str(tmp_path))
    assert [one["state"] for one in stopped["watches"]] == ["cancelled"]
    listed = await call("watch_repo", action="list")
    assert [one for one in listed["watches"] if one["root"] == str(tmp_path)] == []


async def test_106_107_modules_are_told_with_what_they_export_and_need(call: Caller, repository: Path) -> None:
    await call("index", action="project", path=str(repository))
    await call("set_project", path=str(repository))
    found = await call("summarize_codebase")
    modules = {one["path"]: (one["purpose"], one["exports"], one["depends_on"]) for one in found["modules"]}
    assert modules["shop/auth.py"] == (
        "Who may come in",
        ["UserNotFoundError", "Session", "validate_password"],
        ["shop/store"],
    )
    assert (found["method"], found["problem"]) == ("structural", None)


async def test_117_a_question_is_answered_in_steps_with_evidence(call: Caller, repository: Path) -> None:
    index_id = (await call("build_repo_index", path=str(repository)))["result"]["index_id"]
    question = "Where is UserNotFoundError thrown?"
    found = await call("ask_index", index_id=index_id, question=question, context_lines=1)
    (first, second), freshness = found["evidence"], found.pop("freshness")
    assert found.pop("query_time_ms") > 0
    assert freshness["commit"] == first["citation"]["rev"]
    start, end = first["span"]
    assert AUTH.encode()[start:end].decode() == first["content"]["text"]
    assert (first["lines"], first["symbol"], first["content"]["pre"], first["relevance"]) == (
        [10, 15],
        "validate_password",
        "\n",
        0.9405,
    )
    assert (second["lines"], second["symbol"]) == ([6, 7], "UserNotFoundError")
    assert found == {
        "question": question,
        "answer": "`UserNotFoundError` is raised in `validate_password` (shop/auth.py:14) [1].",
        "reasoning_steps": [
            {"step": 1, "intent": "symbol", "query": "UserNotFoundError", "results_count": 1},
            {"step": 2, "intent": "raise", "query": "UserNotFoundError", "results_count": 1},
        ],
        "evidence": [first, second],
        "truncated": False,
    }
    missing = await call("ask_index", index_id=index_id, question="What functions call the validatePassword method?")
    assert missing["answer"] == (
        "Nothing is called `validatePassword` in this repository. The nearest names are `validate_password`."
    )


async def test_105_112_who_breaks_by_which_calls_and_what_matters_most(call: Caller, repository: Path) -> None:
    index_id = (await call("build_repo_index", path=str(repository)))["result"]["index_id"]
    found = await call("impact", index_id=index_id, symbol="load_user")
    assert [(one["symbol"], one["hops"], one["guess"]) for one in found["affected"]] == [
        ("validate_password", 1, False),
        ("Session.login", 2, False),
    ]
    assert (found["tests"], found["total_affected"], found["truncated"]) == ([], 2, False)
    traced = await call("trace", index_id=index_id, source="Session", target="load_user")
    assert [(way["symbols"], [hop["line"] for hop in way["calls"]]) for way in traced["ways"]] == [
        (["Session.login", "validate_password", "load_user"], [25, 12])
    ]
    drawn = await call("repo_map", index_id=index_id, token_budget=200)
    assert drawn["files"][0]["path"] in {"shop/store.py", "web/price.ts"}
    assert drawn["files"][0]["symbols"][0]["signature"]
