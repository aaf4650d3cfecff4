"""Our own files hold every field of every memory, and prove themselves whole."""

import json
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Kind, Memory
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.formats import KINDS, OwnFormat
from scrubjay.features.transfer.records import Arrival, Place
from tests.contracts.samples import link
from tests.features.transfer.files import NOW, arrivals, moved, own_file, signed

FULL = moved(
    'Ünïcode, "quotes", \\u0000 written out,\nlines 🙂',
    uses=3,
    id="old_1",
    scope=Scope.SESSION,
    project_id="prj_1",
    session_id="s",
    key=None,
    category="c",
    importance=0.25,
    confidence=0.75,
    speaker="Ada",
    tags=("a", "b"),
    metadata={"deep": [1, 2.5, None, {"er": True}]},
    occurred_at=NOW - timedelta(days=1, microseconds=1),
    kind=Kind.TURN,
    details={"prompt": "p", "thought": "t", "response": "r"},
    provenance={"source": "test"},
    subject="tea",
    valid_from=NOW - timedelta(days=2),
    valid_until=NOW,
    superseded_by="mem_2",
    protected=True,
    links=(link("src/auth.py::login", text='def login():\n    "Ü"'), link("later")),
)
PROJECT = Project(id="prj_1", path="/home/ada/x", name="x", created_at=NOW)


def test_101_everything_comes_back_as_it_was() -> None:
    plain = moved("plain", kind=Kind.SUMMARY)
    reading = OwnFormat()
    assert arrivals(reading, own_file([FULL, plain], [PROJECT])) == [
        Arrival(moved=FULL, place=Place("/home/ada/x", "x")),
        Arrival(moved=plain),
    ]
    assert reading.totals
    assert reading.totals.memories == {Kind.TURN: 1, Kind.SUMMARY: 1}
    assert reading.holds() == frozenset(Kind)


def test_101_the_sample_has_something_in_every_field_of_the_record() -> None:
    empty: dict[str, Any] = {"key": None, "conflicts": ()}
    plain = moved("plain").memory
    same = [one.name for one in fields(Memory) if getattr(FULL.memory, one.name) == getattr(plain, one.name)]
    assert {name: getattr(FULL.memory, name) for name in same} == {**empty, "recorded_at": NOW, "updated_at": NOW}


def test_101_a_file_that_was_written_under_the_previous_name_of_the_product_is_read() -> None:
    data = own_file([FULL], [PROJECT])
    previous = signed(data.replace(b'"format":"scrubjay-memories"', b'"format":"recollect-memories"'))
    assert previous != data
    assert OwnFormat.recognises(json.loads(previous.splitlines()[0]))
    assert arrivals(OwnFormat(), previous) == arrivals(OwnFormat(), data)


def test_101_every_kind_is_either_a_memory_or_a_summary() -> None:
    assert KINDS["memories"] | KINDS["summaries"] == frozenset(Kind)
    assert not KINDS["memories"] & KINDS["summaries"]


def test_101_a_file_torn_anywhere_is_refused() -> None:
    whole = own_file([FULL, moved("second")], [PROJECT])
    for end in range(0, len(whole) - 1, 7):
        with pytest.raises(InvalidRequest):
            arrivals(OwnFormat(), whole[:end])


def test_101_a_file_with_any_byte_changed_is_refused() -> None:
    whole = own_file([FULL, moved("second")], [PROJECT])
    for place in range(0, len(whole) - 1, 5):
        changed = bytes([whole[place] ^ 1])
        if changed in b"\r\n" or whole[place : place + 1] == b"\n":
            continue
        with pytest.raises(InvalidRequest):
            arrivals(OwnFormat(), whole[:place] + changed + whole[place + 1 :])


def test_101_a_line_too_many_or_too_few_or_twice_is_refused() -> None:
    head, first, second, end = own_file([FULL, moved("second")]).splitlines(keepends=True)
    for wrong in ([head, first, end], [head, first, second, second, end], [head, second, first, end], [first, second]):
        with pytest.raises(InvalidRequest):
            arrivals(OwnFormat(), b"".join(wrong))
    with pytest.raises(InvalidRequest, match="goes on behind its last line"):
        arrivals(OwnFormat(), b"".join([head, first, second, end, second]))


def test_101_a_file_with_other_counts_than_it_says_is_refused_also_with_the_right_checksum() -> None:
    head, first, second, end = own_file([FULL, moved("second")]).splitlines(keepends=True)
    with pytest.raises(InvalidRequest, match="counts"):
        arrivals(OwnFormat(), signed(head + first + end))
    assert len(arrivals(OwnFormat(), signed(head + first + second + end))) == 2


def test_101_a_file_of_a_newer_program_is_refused_with_what_to_do() -> None:
    newer = own_file([FULL]).replace(b'"version":1', b'"version":3')
    with pytest.raises(InvalidRequest, match="newer scrubjay, in version 3") as caught:
        arrivals(OwnFormat(), newer)
    assert caught.value.hint
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": ""}, "no content"),
        ({"content": "nul \x00"}, "NUL"),
        ({"kind": Kind.SUMMARY}, "kind"),
        ({"importance": 1.5}, "0 to 1"),
        ({"scope": Scope.PROJECT}, "whose"),
        ({"scope": Scope.SESSION}, "whose"),
        ({"occurred_at": NOW.replace(tzinfo=None)}, "zone"),
    ],
)
def test_101_what_no_store_can_have_written_is_refused_also_with_the_right_checksum(
    fields: dict[str, Any], said: str
) -> None:
    wrong = moved(fields.pop("content", "wrong"), **fields)
    with pytest.raises(InvalidRequest, match=f"line 3.*{said}"):
        arrivals(OwnFormat(), own_file([moved("fine"), wrong], include=["memories"]))


def test_101_a_refusal_never_quotes_what_somebody_confided() -> None:
    wrong = own_file([moved("my darkest secret")]).replace(b'"importance":0.5', b'"importance":"much"')
    with pytest.raises(InvalidRequest) as caught:
        arrivals(OwnFormat(), wrong)
    assert "darkest" not in str(caught.value.record)
    assert "memory.importance" in caught.value.message
