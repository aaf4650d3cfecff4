from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from scrubjay.tooling.declaration import Request, Result, Tool, tool
from scrubjay.tooling.examples import example_requests


class Inner(Request):
    text: str
    number: int = Field(ge=7)
    note: str = ""


class EveryKind(Request):
    key_name: str
    short: str = Field(max_length=4)
    mode: Literal["fast", "slow"]
    when: datetime
    much: float
    sure: bool
    inner: Inner
    several: list[Inner]
    tables: list[list[int]]
    given: str = Field(examples=["an example of its own"])
    free: dict[str, Any]
    left_out: str = "x"


class OneOf(Request):
    id: str | None = None
    key: str | None = None

    @model_validator(mode="after")
    def _names_one(self) -> "OneOf":
        if (self.id is None) == (self.key is None):
            raise ValueError("give either id or key")
        return self


class WithExamples(Request):
    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "one"}, {"title": "two"}]})

    title: str


class Nothing(Result):
    pass


@tool("toy")
async def every_kind(request: EveryKind) -> Nothing:
    """Take every kind."""
    return Nothing()


@tool("toy")
async def one_of(request: OneOf) -> Nothing:
    """Take one of two."""
    return Nothing()


@tool("toy")
async def with_examples(request: WithExamples) -> Nothing:
    """Have examples."""
    return Nothing()


def examples_are_valid(example_of: Tool) -> bool:
    return all(example_of.request.model_validate(example) for example in example_requests(example_of))


def test_a_generated_example_has_the_required_fields_and_is_valid():
    assert example_requests(every_kind) == [
        {
            "key_name": "your key name",
            "short": "your",
            "mode": "fast",
            "when": "2026-01-31T12:00:00Z",
            "much": 1,
            "sure": True,
            "inner": {"text": "your text", "number": 7},
            "several": [{"text": "your text", "number": 7}],
            "tables": [[]],
            "given": "an example of its own",
            "free": {},
        }
    ]
    assert examples_are_valid(every_kind)


def test_the_example_of_a_request_that_needs_one_of_several_fields_has_one():
    assert example_requests(one_of) == [{"id": "your id"}]
    assert examples_are_valid(one_of)


def test_examples_of_the_model_take_precedence():
    assert example_requests(with_examples) == [{"title": "one"}, {"title": "two"}]
