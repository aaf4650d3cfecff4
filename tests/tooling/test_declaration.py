"""A typed function becomes a tool."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, Field

from scrubjay.core.callers import Caller
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


def test_a_declaration_contains_everything_that_servers_publish() -> None:
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


def test_a_field_named_title_stays_in_the_schema() -> None:
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
def test_an_invalid_tool_function_is_refused_at_its_declaration(function: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        tool("books")(function)


def test_a_read_only_tool_cannot_be_destructive() -> None:
    with pytest.raises(TypeError, match="cannot be destructive"):
        tool("books", read_only=True, destructive=True)(ask)


def test_a_result_built_without_validation_equals_a_validated_one() -> None:
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


@pytest.mark.parametrize(
    ("declaration", "problem"),
    [
        ({"reads": ("books",)}, "books is its own family"),
        ({"withholds": ("books",)}, "books is its own family"),
        ({"runs_as_job": True, "withholds": ("memory",)}, "a job does not know its caller"),
    ],
)
def test_15_scopes_that_cannot_be_checked_are_refused(declaration: dict[str, Any], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        tool("books", **declaration)(ask)


@pytest.mark.parametrize(
    ("scopes", "missing", "reads_results"),
    [
        ("", ("books", False), False),
        ("books:read", ("books", False), False),
        ("books", ("memory", True), False),
        ("books memory:read", None, False),
        ("books memory code", None, True),
        ("memory code", ("books", False), False),
        ("*:read", ("books", False), True),
        ("*", None, True),
    ],
)
def test_15_a_tool_needs_the_scopes_of_all_that_it_reads(
    scopes: str, missing: tuple[str, bool] | None, reads_results: bool
) -> None:
    declared = tool("books", reads=("memory",), withholds=("code",))(ask)
    caller = Caller("key", frozenset(scopes.split()))
    assert declared.missing_scope(caller, read_only=False) == missing
    assert declared.may_read_results(caller) is reads_results
