"""Properties common to all answers about code: budgets, truncation and freshness."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import NotFound
from scrubjay.features.code.cross_repo_tools import MAX_INDEXES
from scrubjay.tooling.context import CallContext
from tests.code_index.discovery.repository import commit, git, write

MANY = 30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "apollo"
    write(
        root,
        {
            "src/store.py": 'def load_user(name):\n    """Load one user."""\n    return name\n',
            "src/auth.py": "from src.store import load_user\n\n\ndef login(name):\n    return load_user(name)\n",
            "src/page.css": ".user { color: red; }\n",
            **{
                f"tests/test_user_{number}.py": "from src.store import load_user\n\n\n"
                f"def test_user_{number}():\n    assert load_user('user')\n    assert load_user('user {number}')\n"
                for number in range(MANY)
            },
        },
    )
    git(root, "init", "-q")
    commit(root, "Load users")
    return root


@pytest.fixture
async def app(tmp_path: Path) -> AsyncGenerator[Application]:
    async with running(Settings(home=tmp_path / "home")) as app:
        yield app


async def call(app: Application, root: Path, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = await app.dispatcher.call(tool, arguments, CallContext(surface="python", working_directory=str(root)))
    return result.model_dump(mode="json")


async def build_index(app: Application, root: Path, **arguments: Any) -> str:
    built = await call(app, root, "build_repo_index", path=str(root), **arguments)
    return built["result"]["index_id"]


@pytest.mark.parametrize(
    ("tool", "field", "arguments"),
    [
        ("search_repo", "results", {"query": "load one user", "k": 20}),
        ("semantic_code_search", "results", {"query": "load one user", "limit": 20}),
        ("semantic_code_search", "calls", {"query": "who calls load_user", "limit": 100}),
        ("find_callers", "calls", {"function_name": "load_user", "limit": 100}),
    ],
)
async def test_116_answers_fit_their_token_budget_and_report_truncation(
    app: Application, root: Path, tool: str, field: str, arguments: dict[str, Any]
) -> None:
    index_id = await build_index(app, root)
    if tool == "search_repo":
        arguments = {"index_id": index_id, **arguments}
    whole = await call(app, root, tool, token_budget=200_000, **arguments)
    short = await call(app, root, tool, token_budget=500, **arguments)
    assert short["truncated"] is True
    assert 0 < len(short[field]) < len(whole[field])
    assert short[field] == whole[field][: len(short[field])]
    assert len(json.dumps(short, separators=(",", ":"))) / 4 <= 500
    assert short["freshness"]["commit"] == whole["freshness"]["commit"]


@pytest.mark.parametrize(
    ("tool", "field", "arguments"),
    [
        ("get_symbols", "symbols", {"file_path": "many.py", "limit": 500}),
        ("find_callers", "definitions", {"function_name": "helper"}),
        ("find_callees", "unresolved", {"function_name": "everything"}),
        ("impact", "definitions", {"symbol": "helper"}),
        ("impact", "tests", {"symbol": "load_user"}),
        ("diff_impact", "files", {}),
        ("search_pattern", "files", {"pattern": "load_user"}),
        ("search_pattern", "files", {"pattern": "load_user", "output": "counts"}),
        ("search_structure", "files", {"pattern": "load_user($N)", "language": "python"}),
        ("search_repos", "results", {"query": "load one user"}),
        ("summarize_codebase", "external_dependencies", {}),
    ],
)
async def test_116_every_long_list_counts_towards_the_budget(
    app: Application, root: Path, tool: str, field: str, arguments: dict[str, Any]
) -> None:
    libraries = [f"a_library_of_some_name_{number}" for number in range(100)]
    many = [f"import {name}\n" for name in libraries]
    many += [f"class Of{number}:\n    def helper(self): ...\n" for number in range(60)]
    many += ["def everything():\n", *(f"    {name}.run_it()\n" for name in libraries)]
    write(root, {"many.py": "".join(many)})
    commit(root, "Add many definitions")
    await build_index(app, root)
    write(root, {f"tests/test_user_{number}.py": f"x = {number}\n" for number in range(MANY, 2 * MANY)})
    whole = await call(app, root, tool, token_budget=200_000, **arguments)
    short = await call(app, root, tool, token_budget=600, **arguments)
    assert short["truncated"] is True
    assert 0 < len(short[field]) < len(whole[field])
    assert len(json.dumps(short, separators=(",", ":"))) / 4 <= 600


async def test_116_truncated_is_set_only_if_results_were_omitted(app: Application, root: Path) -> None:
    index_id = await build_index(app, root)
    few = await call(app, root, "search_repo", index_id=index_id, query="load one user", k=3)
    assert (len(few["results"]), few["truncated"]) == (3, True)
    everything = await call(app, root, "search_repo", index_id=index_id, query="load one user", k=100)
    assert (len(everything["results"]) <= MANY + 3, everything["truncated"]) == (True, False)
    symbols = await call(app, root, "get_symbols", file_path="src/store.py")
    assert (symbols["total"], symbols["truncated"]) == (1, False)
    beyond = await call(app, root, "get_symbols", file_path="src/store.py", limit=1, offset=1)
    assert (beyond["symbols"], beyond["truncated"]) == ([], False)
    modules = await call(app, root, "summarize_codebase", limit=1)
    assert modules["truncated"] is (modules["total"] > 1)


async def test_105_callers_in_program_code_come_before_callers_in_tests(app: Application, root: Path) -> None:
    cache = "class Cache:\n    def load_user(self, name):\n        return name\n\n\n"
    write(root, {"src/cache.py": cache + "def warm(cache: Cache):\n    return cache.load_user('ada')\n"})
    index_id = await build_index(app, root)
    callers = await call(app, root, "find_callers", function_name="load_user", limit=5)
    first, second, third, *_ = callers["calls"]
    assert [(one["function"], one["confidence"]) for one in (first, second)] == [("login", 1.0), ("warm", 0.9)]
    assert (third["path"].startswith("tests/"), callers["total"], callers["truncated"]) == (True, MANY + 2, True)
    answer = await call(app, root, "ask_index", index_id=index_id, question="What functions call load_user?")
    assert "`load_user` is called by `login` (src/auth.py:5) [1], `warm` (src/cache.py:7) [2], " in answer["answer"]


async def test_110_a_language_filter_limits_the_results(app: Application, root: Path) -> None:
    await build_index(app, root)
    found = await call(app, root, "semantic_code_search", query="load one user", language="css", limit=1)
    assert [one["path"] for one in found["results"]] == ["src/page.css"]
    assert found["truncated"] is False


async def test_111_results_from_changed_files_are_marked_stale(app: Application, root: Path) -> None:
    index_id = await build_index(app, root)
    store, auth = root / "src/store.py", root / "src/auth.py"
    store.write_text("# moved down\n\n" + store.read_text("utf-8"), "utf-8")
    auth.write_text(auth.read_text("utf-8"), "utf-8")  # new modification time, same content

    async def staleness(query: str) -> dict[str, bool]:
        found = await call(app, root, "search_repo", index_id=index_id, query=query, k=50)
        shown = {one["path"]: (one["stale"], one["content"]["text"]) for one in found["results"]}
        assert shown["src/store.py"][1].startswith("def load_user(name):")
        return {path: is_stale for path, (is_stale, _) in shown.items() if path.startswith("src/")}

    assert await staleness("load_user") == {"src/store.py": True, "src/auth.py": False, "src/page.css": False}
    answer = await call(app, root, "ask_index", index_id=index_id, question="What is load_user?")
    assert [(one["path"], one["stale"]) for one in answer["evidence"]] == [("src/store.py", True)]
    assert "Changed since indexing, so the indexed content is shown: src/store.py." in answer["answer"]

    git(root, "checkout", "-q", "--", ".")
    assert await staleness("load_user") == {"src/store.py": False, "src/auth.py": False, "src/page.css": False}


async def test_111_results_from_an_indexed_commit_are_never_stale(app: Application, root: Path) -> None:
    index_id = await build_index(app, root, rev="HEAD~0")
    (root / "src/store.py").unlink()
    found = await call(app, root, "search_repo", index_id=index_id, query="load_user", k=1)
    assert [(one["path"], one["stale"]) for one in found["results"]] == [("src/store.py", False)]


async def test_116_a_cross_repository_search_uses_the_index_of_the_whole_working_tree(
    app: Application, root: Path
) -> None:
    whole = await build_index(app, root)
    write(root, {"src/new.py": "def zebra():\n    pass\n"})
    whole = await build_index(app, root)
    await build_index(app, root, rev="HEAD~0")
    await build_index(app, root, excludes=["src/"])
    found = await call(app, root, "search_repos", query="zebra", k=1)
    assert [one["index_id"] for one in found["repositories"]] == [whole]
    assert [one["path"] for one in found["results"]] == ["src/new.py"]


async def test_116_an_index_answers_with_the_options_it_was_built_with(app: Application, root: Path) -> None:
    plain = await build_index(app, root)
    options = {
        "context_lines": 1,
        "max_files_to_embed": 1000,
        "excludes": ["node_modules/", "*.test.ts"],
        "features": {"vector": True, "symbol": True, "graph": False},
    }
    ensured = await call(app, root, "ensure_repo_index", path=str(root), language="ts", index_opts=options)
    index_id, job_id = ensured["index_id"], ensured["job_id"]
    with anyio.fail_after(30):
        while (await call(app, root, "get_job", job_id=job_id))["state"] != "completed":  # noqa: ASYNC110
            await anyio.sleep(0.01)
    again = await call(app, root, "ensure_repo_index", path=str(root), index_opts=options)
    assert (again["state"], again["index_id"]) == ("completed", index_id)
    manifest = json.loads(str((await app.resources.read(ensured["manifest_uri"], CallContext(surface="x"))).body))
    assert (manifest["config"]["context_lines"], manifest["config"]["features"]) == (1, options["features"])
    assert manifest["config"]["excludes"] == options["excludes"]

    async def search_and_check_graph(index_id: str, **arguments: Any) -> tuple[str, bool]:
        """Return the context shown before a definition and whether any result has a graph score."""
        named = await call(app, root, "search_repo", index_id=index_id, query="login", k=1, **arguments)
        matches = await call(app, root, "search_repo", index_id=index_id, query="load users", k=50, **arguments)
        return named["results"][0]["content"]["pre"], any(one["scores"]["graph"] > 0 for one in matches["results"])

    assert await search_and_check_graph(plain) == ("from src.store import load_user\n\n\n", True)
    assert await search_and_check_graph(index_id) == ("\n", False)
    assert await search_and_check_graph(index_id, context_lines=2, features={"graph": True}) == ("\n\n", True)
    answer = await call(app, root, "ask_index", index_id=index_id, question="What is login?")
    assert answer["evidence"][0]["content"]["pre"] == "\n"


async def test_104_an_indexed_folder_is_addressable_as_a_project(app: Application, root: Path) -> None:
    elsewhere = root.parent
    await call(app, elsewhere, "index", action="project", path=str(root))
    callers = await call(app, elsewhere, "find_callers", function_name="load_user", project=str(root), limit=1)
    assert callers["calls"][0]["function"] == "login"
    symbols = await call(app, elsewhere, "get_symbols", file_path="src/store.py", project=str(root))
    assert [one["name"] for one in symbols["symbols"]] == ["load_user"]
    found = await call(app, elsewhere, "semantic_code_search", query="load_user", project=str(root), limit=1)
    assert found["results"][0]["path"] == "src/store.py"
    with pytest.raises(NotFound, match="not found"):
        await call(app, elsewhere, "find_callers", function_name="load_user", project=str(root / "src"))


async def test_only_related_repositories_of_many_are_searched(app: Application, tmp_path: Path) -> None:
    library, user = tmp_path / "library", tmp_path / "user"
    write(library, {"pyproject.toml": '[project]\nname = "tokens"\n', "tokens/__init__.py": "def sign(): ...\n"})
    write(
        user,
        {
            "pyproject.toml": '[project]\nname = "user"\ndependencies = ["tokens"]\n',
            "user/__init__.py": "from tokens import sign\n\n\ndef login():\n    return sign()\n",
        },
    )
    for root in (library, user):
        await build_index(app, root)
    for number in range(MAX_INDEXES):
        write(other := tmp_path / f"other{number}", {"a.py": "a = 1\n"})
        await build_index(app, other)
    callers = await call(app, library, "find_callers", function_name="sign", across=True)
    assert [one["root"] for one in callers["elsewhere"]] == [str(user)]
    callees = await call(app, user, "find_callees", function_name="login", across=True)
    assert [one["root"] for one in callees["elsewhere"]] == [str(library)]
