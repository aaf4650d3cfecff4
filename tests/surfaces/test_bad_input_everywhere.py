"""Bad input gets a typed error through every door, changes nothing, and the process lives."""

from typing import Any

import pytest

from tests.surfaces.callers import Caller, CallFailed, Json

MEMORY = "Bad input must not change this."


async def refused(call: Caller, tool: str, /, **arguments: Any) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await call(tool, **arguments)
    return caught.value


async def count(call: Caller, project: str) -> int:
    answer = await call("recall", query=MEMORY, project=project, scope="project", threshold=0, limit=100)
    return len(answer["memories"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": "x" * 100_001},
        {"content": "nul \x00 inside"},
        {"content": ""},
        {"content": 7},
        {"content": ["a list"]},
        {"content": "x", "importance": 2},
        {"content": "x", "importance": "much"},
        {"content": "x", "tags": "one, two"},
        {"content": "x", "metadata": "text"},
        {"content": "x", "occurred_at": "yesterday"},
        {"content": "x", "scope": "universe"},
        {
            "content": "x",
            "metadata": {"deep": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]},
        },
        {},
    ],
    ids=[
        "100 kB of text",
        "NUL",
        "empty",
        "number",
        "list",
        "out of range",
        "not a number",
        "text for a list",
        "text for an object",
        "no date",
        "no scope",
        "too deep",
        "missing",
    ],
)
async def test_019_a_request_that_does_not_fit_is_refused_and_nothing_changes(
    call: Caller, project: str, arguments: Json
) -> None:
    await call("set_project", path=project)
    await call("remember", content=MEMORY, project=project)
    error = await refused(call, "remember", **arguments, project=project)
    assert error.code == "invalid_request"
    assert error.message
    assert await count(call, project) == 1


async def test_019_an_unknown_field_is_refused_with_the_nearest_names(call: Caller) -> None:
    error = await refused(call, "remember", content="x", importanse=0.5)
    assert error.code == "invalid_request"
    assert error.hint == "importanse: did you mean importance?"


async def test_012_an_unknown_tool_is_told_with_the_nearest_names(call: Caller) -> None:
    error = await refused(call, "call_tool", name="remembr", arguments={})
    assert (error.code, error.details) == ("unknown_tool", {"nearest": ["remember"]})


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧‍👦 family 🎉",
        "שלום עולם, مرحبا بالعالم",
        "\u202eright to left override\u202c",
        "'; DROP TABLE memory; --",
        'NEAR("a" b) AND * OR ^content: {x}',
        "<script>alert(1)</script> & [bold]markup[/bold]",
        "line one\nline two\ttabbed\r\n",
        "a" * 99_999,
    ],
    ids=["emoji", "rtl", "bidi override", "sql", "fts", "markup", "control characters", "long"],
)
async def test_019_any_text_comes_back_as_it_was_given(call: Caller, project: str, text: str) -> None:
    await call("set_project", path=project)
    kept = await call("remember", content=text, project=project)
    gone = await call("forget", id=kept["id"], project=project)
    assert gone["forgotten"]["content"] == text


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '"unbalanced AND (',
        "content:* NOT OR",
        "NEAR(a b, 5)",
        "' OR 1=1 --",
        "%_\\",
        "?!…",
        "🎉",
        "^-+~",
        "שלום",
        "w " * 4_000,
    ],
)
async def test_019_no_query_is_read_as_a_command(call: Caller, project: str, query: str) -> None:
    await call("set_project", path=project)
    await call("remember", content=MEMORY, project=project)
    answer = await call("recall", query=query, project=project, scope="project", threshold=0.5)
    assert answer["memories"] == []
