"""Code is indexed, searched and explained, on every surface."""

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
    job = await call("index", action="project")
    (index,) = job["indexes"]
    assert (index["root"], index["files"], index["rev"]) == (str(repository), 5, "HEAD")
    result = await call("get_symbols", file_path="shop/auth.py")
    symbols = [(one["qualified_name"], one["symbol_type"], one["line_start"]) for one in result["symbols"]]
    assert symbols == [
        ("UserNotFoundError", "class", 6),
        ("validate_password", "function", 10),
        ("Session", "class", 18),
        ("Session.__init__", "constructor", 21),
        ("Session.name", "field", 22),
        ("Session.login", "method", 24),
    ]
    assert result["symbols"][1]["documentation"] == "Whether this is the password of that user."


async def test_105_callers_and_callees_have_their_lines(call: Caller, repository: Path) -> None:
    await call("index", action="project", path=str(repository))
    await call("set_project", path=str(repository))
    callers = await call("find_callers", function_name="validate_password")
    assert [(entry["function"], entry["path"], entry["lines"]) for entry in callers["calls"]] == [
        ("Session.login", "shop/auth.py", [25])
    ]
    callees = await call("find_callees", function_name="validate_password")
    callee_lines = {(entry["function"], entry["path"], tuple(entry["lines"])) for entry in callees["calls"]}
    assert callee_lines == {("load_user", "shop/store.py", (12,)), ("UserNotFoundError", "shop/auth.py", (14,))}
    first = await call("find_callees", function_name="validate_password", limit=1)
    assert (len(first["calls"]), first["total"], first["truncated"], callees["truncated"]) == (1, 2, True, False)
    with pytest.raises(CallFailed, match="not_found") as failed:
        await call("find_callers", function_name="validatePasword")
    assert "validate_password" in (failed.value.hint or "")


async def test_110_114_116_search_results_have_citations(call: Caller, repository: Path) -> None:
    built = await call("build_repo_index", path=str(repository))
    index_id = built["result"]["index_id"]
    ensured = await call("ensure_repo_index", path=str(repository))
    assert (ensured["index_id"], ensured["state"], ensured["job_id"]) == (index_id, "completed", None)
    result = await call("search_repo", index_id=index_id, query="where is the password of a user checked?", k=3)
    first = result["results"][0]
    assert (first["path"], first["lines"][0] <= 10 <= first["lines"][1]) == ("shop/auth.py", True)
    assert 0 < first["score"] <= 1
    content = AUTH.encode()
    sha = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    assert first["citation"]["content_sha"] == sha
    start, end = first["citation"]["span"]
    assert content[start:end].decode() == first["content"]["text"]
    total = await call("search_repo", index_id=index_id, query="total of the cart", features={"vector": False})
    assert total["results"][0]["path"] == "web/cart.ts"


async def test_118_an_index_that_is_not_being_built_cannot_be_cancelled(call: Caller) -> None:
    assert await call("cancel", index_id="idx_none") == {"ok": False, "message": "Pipeline not found"}


async def test_108_a_folder_is_watched_until_watching_is_stopped(call: Caller, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one(): pass\n")
    started = await call("watch_repo", action="start", path=str(tmp_path))
    (watch,) = started["watches"]
    assert (watch["root"], started["message"]) == (str(tmp_path), f"{tmp_path} is now watched")
    for listed in (await call("watch_repo", action="list"), await call("index", action="status")):
        (found,) = [entry for entry in listed["watches"] if entry["root"] == str(tmp_path)]
        assert (found["job_id"], found["state"] in ("queued", "running")) == (watch["job_id"], True)
    stopped = await call("watch_repo", action="stop", path=str(tmp_path))
    assert [entry["state"] for entry in stopped["watches"]] == ["cancelled"]
    listed = await call("watch_repo", action="list")
    assert [entry for entry in listed["watches"] if entry["root"] == str(tmp_path)] == []


async def test_106_107_modules_are_listed_with_exports_and_imports(call: Caller, repository: Path) -> None:
    await call("index", action="project", path=str(repository))
    await call("set_project", path=str(repository))
    result = await call("summarize_codebase")
    modules = {
        module["path"]: (module["purpose"], module["exports"], module["depends_on"]) for module in result["modules"]
    }
    assert modules["shop/auth.py"] == (
        "Who may come in",
        ["UserNotFoundError", "Session", "validate_password"],
        ["shop/store"],
    )
    assert (result["method"], result["problem"]) == ("structural", None)


async def test_117_a_question_is_answered_in_steps_with_evidence(call: Caller, repository: Path) -> None:
    index_id = (await call("build_repo_index", path=str(repository)))["result"]["index_id"]
    question = "Where is UserNotFoundError thrown?"
    result = await call("ask_index", index_id=index_id, question=question, context_lines=1)
    (first, second), freshness = result["evidence"], result.pop("freshness")
    assert result.pop("query_time_ms") > 0
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
    assert result == {
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
        "This repository does not define `validatePassword`. Similar names are `validate_password`."
    )


async def test_105_112_impact_call_paths_and_important_symbols(call: Caller, repository: Path) -> None:
    index_id = (await call("build_repo_index", path=str(repository)))["result"]["index_id"]
    result = await call("impact", index_id=index_id, symbol="load_user")
    assert [(one["symbol"], one["hops"], one["guess"]) for one in result["affected"]] == [
        ("validate_password", 1, False),
        ("Session.login", 2, False),
    ]
    assert (result["tests"], result["total_affected"], result["truncated"]) == ([], 2, False)
    traced = await call("trace", index_id=index_id, source="Session", target="load_user")
    assert [(chain["symbols"], [hop["line"] for hop in chain["calls"]]) for chain in traced["chains"]] == [
        (["Session.login", "validate_password", "load_user"], [25, 12])
    ]
    repo_map = await call("repo_map", index_id=index_id, token_budget=200)
    assert repo_map["files"][0]["path"] in {"shop/store.py", "web/price.ts"}
    assert repo_map["files"][0]["symbols"][0]["signature"]
