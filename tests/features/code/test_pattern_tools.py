"""`search_pattern`, `search_structure` and `diff_impact` in one process: filters, pages, budgets and errors."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.context import CallContext

Call = Callable[..., Awaitable[dict[str, Any]]]
FILES = {
    "src/a.py": "def one():\n    return helper(1)\n\n\ndef two():\n    return helper(2)\n",
    "src/b.py": "def three():\n    return helper(3)\n",
    "src/c.js": "function four() { return helper(4); }\n",
    "check/test_a.py": "def test_one():\n    helper(5)\n",
}


@pytest.fixture
async def call(tmp_path: Path) -> AsyncGenerator[Call]:
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    async with running(Settings(home=tmp_path / "home")) as application:

        async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
            context = CallContext(surface="python", client="ada", working_directory=str(root))
            return (await application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

        await call("index", action="project", path=str(root))
        yield call


def summary(found: dict[str, Any]) -> list[tuple[str, int, list[int]]]:
    return [(file["path"], file["count"], [one["lines"][0] for one in file["matches"]]) for file in found["files"]]


async def test_matches_are_filtered_counted_and_paged(call: Call) -> None:
    every = await call("search_pattern", pattern="helper", word=True)
    assert summary(every) == [
        ("src/a.py", 2, [2, 6]),
        ("src/b.py", 1, [2]),
        ("src/c.js", 1, [1]),
        ("check/test_a.py", 1, [2]),
    ]
    assert [one["symbol"] for file in every["files"] for one in file["matches"]] == [
        "one",
        "two",
        "three",
        "four",
        "test_one",
    ]
    assert (every["total"], every["total_files"], every["truncated"]) == (5, 4, False)
    page = await call("search_pattern", pattern="HELPER", case="insensitive", offset=1, limit=2)
    assert (summary(page), page["total"], page["truncated"]) == ([("src/a.py", 2, [6]), ("src/b.py", 1, [2])], 5, True)
    last = await call("search_pattern", pattern="helper", case="smart", offset=3, limit=10, token_budget=200)
    assert summary(last)[0] == ("src/c.js", 1, [1])
    counts = await call("search_pattern", pattern="helper(", literal=True, output="counts", limit=1)
    assert (summary(counts), counts["total"], counts["truncated"]) == ([("src/a.py", 2, [])], 5, True)
    some = await call("search_pattern", pattern="helper", include=["*.py"], exclude=["check/", "/src/b.*"])
    assert summary(some) == [("src/a.py", 2, [2, 6])]
    by_language = await call("search_pattern", pattern="helper", language="javascript")
    assert summary(by_language) == [("src/c.js", 1, [1])]
    few = await call("search_pattern", pattern="helper", context_lines=5, token_budget=200)
    assert (summary(few), few["total"], few["truncated"]) == ([("src/a.py", 2, [2, 6])], 5, True)
    forms = await call("search_structure", pattern="helper($N)", language="python", output="counts")
    assert summary(forms) == [("src/a.py", 2, []), ("src/b.py", 1, []), ("check/test_a.py", 1, [])]


async def test_invalid_arguments_are_rejected_with_a_hint(call: Call) -> None:
    nonsense: list[tuple[str, dict[str, Any], str]] = [
        ("search_pattern", {"pattern": "("}, "is not a valid regular expression"),
        ("search_pattern", {"pattern": "x", "include": ["*" * 9]}, "matches no files"),
        ("search_structure", {"pattern": "$X", "language": "python"}, "contains only holes"),
        ("search_structure", {"pattern": "a: 1", "language": "yaml"}, "cannot be searched by structure"),
        ("diff_impact", {"base": "a...b"}, "is not a valid range"),
        ("diff_impact", {"base": "a..b", "head": "c"}, "is not a valid range"),
        ("diff_impact", {}, "is not in a git repository"),
    ]
    for tool, arguments, why in nonsense:
        with pytest.raises(InvalidRequest, match=why) as refused:
            await call(tool, **arguments)
        assert refused.value.record.hint
