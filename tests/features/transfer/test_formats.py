"""Scrubjay's own format: round trips of every field, and detection of damage."""

import json
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.scopes import Scope
from scrubjay.features.memory.models import Memory, MemoryKind
from scrubjay.features.projects.models import Project
from scrubjay.features.transfer.formats import KINDS, OwnFormat
from scrubjay.features.transfer.records import ImportRecord, ProjectRef
from tests.contracts.samples import link
from tests.features.transfer.files import NOW, own_file, read_records, transfer_memory, with_valid_checksum

FULL = transfer_memory(
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
    kind=MemoryKind.TURN,
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


def test_101_every_record_survives_a_round_trip() -> None:
    plain = transfer_memory("plain", kind=MemoryKind.SUMMARY)
    reader = OwnFormat()
    assert read_records(reader, own_file([FULL, plain], [PROJECT])) == [
        ImportRecord(transfer=FULL, project=ProjectRef("/home/ada/x", "x")),
        ImportRecord(transfer=plain),
    ]
    assert reader.totals
    assert reader.totals.memories == {MemoryKind.TURN: 1, MemoryKind.SUMMARY: 1}
    assert reader.complete_kinds() == frozenset(MemoryKind)


def test_101_the_sample_fills_every_field() -> None:
    empty: dict[str, Any] = {"key": None, "conflicts": ()}
    plain = transfer_memory("plain").memory
    same = [one.name for one in fields(Memory) if getattr(FULL.memory, one.name) == getattr(plain, one.name)]
    assert {name: getattr(FULL.memory, name) for name in same} == {**empty, "recorded_at": NOW, "updated_at": NOW}


def test_101_a_file_with_the_previous_product_name_is_read() -> None:
    data = own_file([FULL], [PROJECT])
    previous = with_valid_checksum(data.replace(b'"format":"scrubjay-memories"', b'"format":"recollect-memories"'))
    assert previous != data
    assert OwnFormat.recognises(json.loads(previous.splitlines()[0]))
    assert read_records(OwnFormat(), previous) == read_records(OwnFormat(), data)


def test_101_every_kind_is_either_a_memory_or_a_summary() -> None:
    assert KINDS["memories"] | KINDS["summaries"] == frozenset(MemoryKind)
    assert not KINDS["memories"] & KINDS["summaries"]


def test_101_a_file_truncated_anywhere_is_refused() -> None:
    whole = own_file([FULL, transfer_memory("second")], [PROJECT])
    for end in range(0, len(whole) - 1, 7):
        with pytest.raises(InvalidRequest):
            read_records(OwnFormat(), whole[:end])


def test_101_a_file_with_any_byte_changed_is_refused() -> None:
    whole = own_file([FULL, transfer_memory("second")], [PROJECT])
    for place in range(0, len(whole) - 1, 5):
        changed = bytes([whole[place] ^ 1])
        if changed in b"\r\n" or whole[place : place + 1] == b"\n":
            continue
        with pytest.raises(InvalidRequest):
            read_records(OwnFormat(), whole[:place] + changed + whole[place + 1 :])


def test_101_an_extra_missing_or_duplicate_line_is_refused() -> None:
    head, first, second, end = own_file([FULL, transfer_memory("second")]).splitlines(keepends=True)
    for damaged in (
        [head, first, end],
        [head, first, second, second, end],
        [head, second, first, end],
        [first, second],
    ):
        with pytest.raises(InvalidRequest):
            read_records(OwnFormat(), b"".join(damaged))
    with pytest.raises(InvalidRequest, match="continues after its last line"):
        read_records(OwnFormat(), b"".join([head, first, second, end, second]))


def test_101_wrong_counts_are_refused_even_with_the_right_checksum() -> None:
    head, first, second, end = own_file([FULL, transfer_memory("second")]).splitlines(keepends=True)
    with pytest.raises(InvalidRequest, match="counts"):
        read_records(OwnFormat(), with_valid_checksum(head + first + end))
    assert len(read_records(OwnFormat(), with_valid_checksum(head + first + second + end))) == 2


def test_101_a_newer_format_is_refused_with_a_hint() -> None:
    newer = own_file([FULL]).replace(b'"version":1', b'"version":3')
    with pytest.raises(InvalidRequest, match="newer scrubjay, in version 3") as caught:
        read_records(OwnFormat(), newer)
    assert caught.value.hint
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"content": ""}, "no content"),
        ({"content": "nul \x00"}, "NUL"),
        ({"kind": MemoryKind.SUMMARY}, "kind"),
        ({"importance": 1.5}, "0 to 1"),
        ({"scope": Scope.PROJECT}, "no owner"),
        ({"scope": Scope.SESSION}, "no owner"),
        ({"occurred_at": NOW.replace(tzinfo=None)}, "zone"),
    ],
)
def test_101_invalid_memories_are_refused_even_with_the_right_checksum(fields: dict[str, Any], message: str) -> None:
    invalid = transfer_memory(fields.pop("content", "wrong"), **fields)
    with pytest.raises(InvalidRequest, match=f"line 3.*{message}"):
        read_records(OwnFormat(), own_file([transfer_memory("fine"), invalid], include=["memories"]))


def test_101_a_refusal_never_quotes_content() -> None:
    invalid = own_file([transfer_memory("my darkest secret")]).replace(b'"importance":0.5', b'"importance":"much"')
    with pytest.raises(InvalidRequest) as caught:
        read_records(OwnFormat(), invalid)
    assert "darkest" not in str(caught.value.record)
    assert "memory.importance" in caught.value.message
