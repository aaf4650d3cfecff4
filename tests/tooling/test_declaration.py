"""A typed function becomes a tool."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, Field

from scrubjay.tooling.context import CallContext
from scrubjay.tooling.declaration import Request, Result, tool


class Question(Request):
    text: str = Field(description="What to ask.")
    limit: int = Field(default=5, ge=1, le=50, description="How many answers.")


class Answer(Result):
    texts: list[str] = Field(description="Best first.")


class Library:
    pass


async def ask(request: Question, library: Library, context: CallContext) -> Answer:
    """Ask the library.

    It answers.
    """
    return Answer(texts=[request.text])


def test_a_declaration_holds_everything_that_gateways_show() -> None:
    declared = tool("books", read_only=True)(ask)
    assert (declared.name, declared.family, declared.title) == ("ask", "books", "Ask")
    assert declared.description == "Ask the library.\n\nIt answers."
    assert declared.summary == "Ask the library."
    assert declared.injected == {"library": Library, "context": CallContext}
    assert (declared.read_only, declared.idempotent, declared.destructive, declared.runs_as_job) == (
        True,
        True,
        False,
        False,
    )
    assert declared.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string", "description": "What to ask."},
            "limit": {
                "type": "integer",
                "default": 5,
                "minimum": 1,
                "maximum": 50,
                "description": "How many answers.",
            },
        },
        "required": ["text"],
    }
    assert declared.output_schema == {
        "type": "object",
        "properties": {"texts": {"type": "array", "items": {"type": "string"}, "description": "Best first."}},
        "required": ["texts"],
    }


def test_a_field_that_is_called_title_stays_in_the_schema() -> None:
    class Book(Request):
        title: str = Field(title="The Title", description="On the cover.")

    async def add(request: Book) -> Answer:
        """Add a book."""
        return Answer(texts=[])

    assert tool("books")(add).input_schema["properties"] == {
        "title": {"type": "string", "description": "On the cover."}
    }


def test_a_job_tool_answers_with_a_job_that_holds_its_result() -> None:
    async def index(request: Question) -> Answer:
        """Index the books."""
        return Answer(texts=[])

    declared = tool("books", runs_as_job=True)(index)
    properties = declared.output_schema["properties"]
    assert {"job_id", "state", "progress", "result", "error"} <= set(properties)
    assert properties["result"]["anyOf"][0] == {"$ref": "#/$defs/Answer"}


def wrong_first(library: Library) -> Any: ...
async def no_docstring(request: Question) -> Answer: ...
async def no_result(request: Question) -> str:
    """Says something."""
    return ""


class Loose(BaseModel):
    text: str


async def loose_request(request: Loose) -> Answer:
    """Would accept unknown fields."""
    return Answer(texts=[])


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (wrong_first, "first parameter must be a Request"),
        (loose_request, "first parameter must be a Request"),
        (no_docstring, "needs a docstring"),
        (no_result, "must be a model"),
    ],
)
def test_a_function_that_is_no_tool_is_refused_where_it_is_declared(function: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        tool("books")(function)


def test_what_only_reads_cannot_be_destructive() -> None:
    with pytest.raises(TypeError, match="destroys nothing"):
        tool("books", read_only=True, destructive=True)(ask)


def test_a_result_of_our_own_values_is_like_one_that_was_checked() -> None:
    class Inner(Result):
        name: str
        at: datetime | None

    class Outer(Result):
        inner: list[Inner]
        score: float

    moment = datetime(2026, 1, 2, tzinfo=UTC)
    quick = Outer.of(
        {"inner": [Inner.of({"name": "a", "at": moment}), Inner.of({"name": "b", "at": None})], "score": 1.0}
    )
    checked = Outer(inner=[Inner(name="a", at=moment), Inner(name="b", at=None)], score=1.0)
    assert quick == checked
    assert quick.model_dump_json() == checked.model_dump_json()
    assert quick.model_dump(exclude_unset=True) == checked.model_dump(exclude_unset=True)
