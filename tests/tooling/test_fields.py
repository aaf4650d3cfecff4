from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from scrubjay.tooling.fields import field_notes, nested_field_notes
from scrubjay.tooling.jobs.models import JobState


class Leaf(BaseModel):
    """A leaf."""

    colour: Literal["green", "red"] = Field("green", description="Its colour.")


class Tree(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=20)] | None = Field(None, description="Its name.")
    state: JobState = Field(description="How it is.")
    height: float = Field(1, gt=0, lt=100, description="In metres.")
    rings: int = Field(ge=0, multiple_of=2)
    planted_at: datetime
    leaves: list[Leaf] = Field(default_factory=list[Leaf], max_length=1, description="All of them.")
    tags: list[Annotated[str, Field(pattern="^[a-z]+$")]] = Field(min_length=2, description="Labels.")
    best: Leaf | None = None
    by_name: dict[str, Leaf] = Field(min_length=1, description="Each by its name.")
    code: str | int = Field(0, description="One or the other.")
    extra: Any = None
    evergreen: bool = True
    neighbours: "list[Tree]" = Field(default_factory=list["Tree"], description="Trees near it.")


def test_every_field_is_described_in_words():
    notes = field_notes(Tree.model_json_schema())
    described = [
        (note.name, note.type, note.required, note.default, list(note.limits), note.description) for note in notes
    ]
    assert described == [
        ("name", "text", False, None, ["1 to 20 characters"], "Its name."),
        (
            "state",
            "one of queued, running, cancelling, completed, failed, cancelled",
            True,
            None,
            [],
            "How it is.",
        ),
        ("height", "number", False, 1, ["more than 0", "less than 100"], "In metres."),
        ("rings", "integer", True, None, ["at least 0", "a multiple of 2"], ""),
        ("planted_at", "time", True, None, [], ""),
        ("leaves", "list of object", False, None, ["at most 1 item"], "All of them."),
        ("tags", "list of text", True, None, ["at least 2 items", "each matches ^[a-z]+$"], "Labels."),
        ("best", "object", False, None, [], "A leaf."),
        ("by_name", "object", True, None, ["at least 1 entry"], "Each by its name."),
        ("code", "text or integer", False, 0, [], "One or the other."),
        ("extra", "anything", False, None, [], ""),
        ("evergreen", "true or false", False, True, [], ""),
        ("neighbours", "list of object", False, None, [], "Trees near it."),
    ]
    assert [note.name for note in notes if note.nullable] == ["name", "best"]
    assert [list(note.choices) for note in notes if note.choices] == [[state.value for state in JobState]]


def test_nested_fields_follow_their_parent_and_a_recursive_model_is_described_once():
    names = [note.name for note in nested_field_notes(Tree.model_json_schema())]
    assert names == [
        *["name", "state", "height", "rings", "planted_at", "leaves", "leaves[].colour", "tags", "best", "best.colour"],
        *["by_name", "by_name.*.colour", "code", "extra", "evergreen", "neighbours"],
    ]
