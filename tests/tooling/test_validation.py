"""Validation of arguments."""

from typing import Any

import pytest
from pydantic import Field

from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.declaration import Request, Result, tool
from scrubjay.tooling.validation import MAX_DEPTH, refuse_unstorable, validate


class Page(Request):
    text: str = Field(description="What it says.")
    number: int = Field(default=1, ge=1)


class Book(Request):
    content: str = Field(min_length=1, description="What it says.")
    importance: float = Field(default=0.5, ge=0, le=1)
    pages: list[Page] = Field(default_factory=list[Page])
    metadata: dict[str, Any] = Field(default_factory=dict[str, Any])


class Shelf(Result):
    pass


@tool("books")
async def add_book(request: Book) -> Shelf:
    """Add a book."""
    return Shelf()


def refusal(arguments: dict[str, Any]) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        validate(add_book, arguments)
    return caught.value


def test_defaults_are_applied_by_the_server() -> None:
    assert validate(add_book, {"content": "x"}) == Book(content="x", importance=0.5, pages=[], metadata={})


def test_an_unknown_field_is_refused_with_the_nearest_known_names() -> None:
    error = refusal({"content": "x", "importence": 1})
    assert error.message == "add_book: importence: unknown field"
    assert error.hint == "importence: did you mean importance?"
    assert error.details == {
        "problems": [{"field": "importence", "problem": "unknown field", "nearest": ["importance"]}]
    }


def test_an_unknown_field_without_a_near_name_is_refused_with_all_known_names() -> None:
    assert refusal({"content": "x", "zzz": 1}).hint == "known fields: content, importance, metadata, pages"


def test_an_unknown_field_inside_a_list_is_compared_with_the_fields_of_the_entry() -> None:
    error = refusal({"content": "x", "pages": [{"text": "a"}, {"text": "b", "nummer": 2}]})
    assert error.details["problems"] == [{"field": "pages.1.nummer", "problem": "unknown field", "nearest": ["number"]}]


def test_all_problems_are_reported_at_once_without_values() -> None:
    error = refusal({"content": "", "importance": "secret-token"})
    assert [problem["field"] for problem in error.details["problems"]] == ["content", "importance"]
    assert "secret-token" not in f"{error.message} {error.hint} {error.details}"


def test_values_in_string_form_are_converted() -> None:
    assert validate(add_book, {"content": "x", "importance": "0.25"}) == Book(content="x", importance=0.25)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": "a\x00b"}, "content: contains a NUL"),
        ({"content": "x", "metadata": {"deep": ["fine", {"here": "\x00"}]}}, "metadata.deep[1].here: contains a NUL"),
        ({"content": "x", "metadata": {"bad\x00key": 1}}, "metadata.bad\\x00key: contains a NUL"),
        ({"content": "half \ud83d of an emoji"}, "content: contains half of a surrogate pair"),
        ({"\ud800": 1}, "\\ud800: contains half"),
        ({"content": "x", "metadata": {"n": float("nan")}}, "metadata.n: nan is not a finite number"),
        ({"content": "x", "metadata": {"n": float("inf")}}, "metadata.n: inf is not a finite number"),
    ],
)
def test_values_that_cannot_be_stored_are_refused_with_their_location(arguments: dict[str, Any], message: str) -> None:
    assert message in refusal(arguments).message


def test_emoji_and_right_to_left_text_are_accepted() -> None:
    text = "👩‍👩‍👧‍👦 שלום مرحبا \u202eabc"
    assert validate(add_book, {"content": text}) == Book(content=text)


def test_deep_nesting_is_refused_without_recursion() -> None:
    deep: Any = "bottom"
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(InvalidRequest, match=f"deeper than {MAX_DEPTH}"):
        refuse_unstorable({"content": "x", "metadata": {"deep": deep}})
    while isinstance(deep, list):  # unnest iteratively, because freeing it would recurse too deeply
        deep = deep[0]  # pyright: ignore[reportUnknownVariableType]
