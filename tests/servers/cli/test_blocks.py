from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import pytest
from pydantic import BaseModel, Field

from scrubjay.servers.cli.blocks import Cell, NoteBlock, PairsBlock, TableBlock, relative_time, to_blocks
from scrubjay.tooling.job_view import ErrorView, JobView, ProgressView
from scrubjay.tooling.jobs.models import JobState

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Colour(StrEnum):
    RED = "red"


class Part(BaseModel):
    name: str
    size: float | None = None
    tags: list[str] = []


class Whole(BaseModel):
    title: str = "a whole"
    count: int = 3
    share: float = 0.25
    large: float = 1234.5
    good: bool = True
    bad: bool = False
    colour: Colour = Colour.RED
    made_at: datetime = NOW - timedelta(minutes=3)
    nothing: str | None = None
    labels: dict[str, Any] = {"a": 1, "b": "x"}


class Answer(BaseModel):
    counted: int


class Listed(BaseModel):
    parts: list[Part]
    total: int


class Named(BaseModel):
    parts: dict[str, Part]


class Around(BaseModel):
    part: Part | None


class Empty(BaseModel):
    pass


class Deep(BaseModel):
    schema_: dict[str, Any]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


def test_an_object_becomes_pairs():
    assert to_blocks(Whole(), NOW) == [
        PairsBlock(
            "",
            (
                ("title", Cell("a whole")),
                ("count", Cell("3", "number")),
                ("share", Cell("0.250", "number")),
                ("large", Cell("1234.5", "number")),
                ("good", Cell("yes", "yes")),
                ("bad", Cell("no", "no")),
                ("colour", Cell("red")),
                ("made at", Cell("2026-01-31 11:57 (3 minutes ago)", "time")),
                ("labels", Cell("a 1, b x", "data")),
            ),
        )
    ]


def test_a_list_becomes_a_table_without_empty_columns():
    parts = [Part(name="a", size=1), Part(name="b", size=0.5)]
    assert to_blocks(Listed(parts=parts, total=2), NOW) == [
        TableBlock(
            "parts (2)",
            ("name", "size"),
            ((Cell("a"), Cell("1.000", "number")), (Cell("b"), Cell("0.500", "number"))),
        ),
        NoteBlock("total 2"),
    ]


def test_fields_that_other_surfaces_omit_are_omitted():
    class Batch(BaseModel):
        done: int = 0
        waiting: int = Field(default=0, exclude_if=lambda count: not count)

    def labels(batch: Batch) -> list[str]:
        return [name for block in to_blocks(batch, NOW) if isinstance(block, PairsBlock) for name, _ in block.items]

    assert labels(Batch()) == ["done"]
    assert labels(Batch(waiting=2)) == ["done", "waiting"]


def test_a_mapping_becomes_a_table_with_names():
    assert to_blocks(Named(parts={"x": Part(name="a", tags=["t", "u"])}), NOW) == [
        TableBlock("parts (1)", ("name", "tags"), ((Cell("a"), Cell("t, u", "data")),))
    ]


def test_an_empty_list_and_a_missing_object_become_notes():
    assert to_blocks(Listed(parts=[], total=0), NOW) == [NoteBlock("no parts"), NoteBlock("total 0")]
    assert to_blocks(Around(part=None), NOW) == [NoteBlock("no part")]
    assert to_blocks(Empty(), NOW) == [NoteBlock("done")]


def test_a_nested_object_has_its_own_block():
    assert to_blocks(Around(part=Part(name="a")), NOW) == [PairsBlock("part", (("name", Cell("a")),))]


def test_deep_data_is_indented_json():
    assert to_blocks(Deep(schema_={"a": {"b": "\x9b"}}), NOW) == [
        PairsBlock("", (("schema ", Cell('{\n  "a": {\n    "b": "\\u009b"\n  }\n}', "json")),))
    ]


def test_a_finished_job_shows_its_result():
    job = JobView[Answer](
        job_id="job_1",
        tool="build",
        state=JobState.COMPLETED,
        progress=ProgressView(done=2, total=2, message=""),
        result=Answer(counted=5),
        error=None,
        attempts=1,
        created_at=NOW,
        started_at=NOW,
        ended_at=NOW + timedelta(seconds=1.26),
    )
    assert to_blocks(job, NOW) == [
        PairsBlock("", (("counted", Cell("5", "number")),)),
        NoteBlock("job_1 completed in 1.3 s"),
    ]


def test_any_other_job_shows_state_progress_and_error():
    job = JobView[dict[str, Any]](
        job_id="job_1",
        tool="build",
        state=JobState.FAILED,
        progress=ProgressView(done=1200, total=2000.5, message="part\x1b"),
        result=None,
        error=ErrorView.model_validate({"code": "busy", "message": "held"}),
        attempts=1,
        created_at=NOW,
        started_at=None,
        ended_at=None,
    )
    assert to_blocks(job, NOW) == [
        PairsBlock(
            "",
            (
                ("job id", Cell("job_1")),
                ("tool", Cell("build")),
                ("state", Cell("failed")),
                ("progress", Cell("1,200 of 2000.5 · part\\x1b")),
                ("error", Cell("busy: held")),
                ("attempts", Cell("1", "number")),
                ("created at", Cell("2026-01-31 12:00 (just now)", "time")),
            ),
        )
    ]


def test_names_and_texts_are_escaped():
    assert to_blocks(Deep(schema_={"\x1b[31m": "\x1b[0m"}), NOW) == [
        PairsBlock("", (("schema ", Cell("\\x1b[31m \\x1b[0m", "data")),))
    ]


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 minute ago"),
        (timedelta(hours=47), "1 day ago"),
        (timedelta(days=70), "2 months ago"),
        (timedelta(days=800), "2 years ago"),
        (timedelta(seconds=-5), "in a moment"),
        (timedelta(hours=-3), "in 3 hours"),
    ],
)
def test_relative_times_use_the_largest_unit(ago: timedelta, expected: str):
    assert relative_time(NOW - ago, NOW) == expected
