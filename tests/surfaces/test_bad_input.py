"""Invalid input gets a typed error on every surface and changes nothing."""

from typing import Any

import pytest

from scrubjay.features.memory.tools import MAX_CONTENT
from tests.surfaces.callers import Caller, CallFailed, Json, sample_cases


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


MEMORY = "Bad input must not change this."

INVALID: dict[str, Json] = {
    "2 MB of text": {"content": "x" * (MAX_CONTENT + 1)},
    "NUL": {"content": "nul \x00 inside"},
    "empty": {"content": ""},
    "a number": {"content": 7},
    "a list": {"content": ["a list"]},
    "out of range": {"content": "x", "importance": 2},
    "not a number": {"content": "x", "importance": "much"},
    "text for a list": {"content": "x", "tags": "one, two"},
    "text for an object": {"content": "x", "metadata": "text"},
    "no date": {"content": "x", "occurred_at": "yesterday"},
    "no scope": {"content": "x", "scope": "universe"},
    "too deep": {"content": "x", "metadata": {"deep": nested(40)}},
    "missing": {},
}

PRESERVED = {
    "emoji": "👩‍👩‍👧‍👦 family 🎉",
    "right to left": "שלום עולם, مرحبا بالعالم",
    "bidi override": "\u202eright to left override\u202c",
    "sql": "'; DROP TABLE memory; --",
    "fts": 'NEAR("a" b) AND * OR ^content: {x}',
    "markup": "<script>alert(1)</script> & [bold]markup[/bold]",
    "control characters": "line one\nline two\ttabbed\r\n\x1b[31mred",
    "long": "a" * 99_999,
}

QUERIES = (
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
)


async def call_refused(call: Caller, tool: str, /, **arguments: Any) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await call(tool, **arguments)
    return caught.value


async def count(call: Caller, project: str) -> int:
    answer = await call("recall", query=MEMORY, project=project, scope="project", threshold=0, limit=100)
    return len(answer["memories"])


async def test_019_an_invalid_request_is_refused_and_changes_nothing(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    await call("remember", content=MEMORY, project=project)
    for name, arguments in sample_cases(call, [*INVALID.items()]):
        error = await call_refused(call, "remember", **arguments, project=project)
        assert (name, error.code) == (name, "invalid_request")
        assert error.message, name
    assert await count(call, project) == 1


async def test_019_an_unknown_field_is_refused_with_the_nearest_names(call: Caller) -> None:
    error = await call_refused(call, "remember", content="x", importanse=0.5)
    assert error.code == "invalid_request"
    assert error.hint == "importanse: did you mean importance?"


async def test_012_an_unknown_tool_is_refused_with_the_nearest_names(call: Caller) -> None:
    error = await call_refused(call, "call_tool", name="remembr", arguments={})
    assert error.code == "unknown_tool"
    assert error.details["nearest"][0] == "remember"


async def test_019_any_text_is_returned_unchanged(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    cases = sample_cases(call, [*PRESERVED.items()])
    stored = await call("remember_many", memories=[{"content": text} for _, text in cases], project=project)
    for memory, (name, text) in zip(stored["memories"], cases, strict=True):
        deleted = await call("forget", id=memory["id"], project=project)
        assert (name, deleted["forgotten"]["content"]) == (name, text)


async def test_019_queries_are_never_interpreted_as_commands(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    await call("remember", content=MEMORY, project=project)
    for query in sample_cases(call, QUERIES):
        answer = await call("recall", query=query, project=project, scope="project", threshold=0.5)
        assert (query, answer["memories"]) == (query, [])
    assert await count(call, project) == 1
