"""Row columns are checked against a dictionary, through additions, removals, saving and loading."""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scrubjay.search_index.row_columns import NO_AUDIENCE, NONE, RowColumns, RowEntry
from scrubjay.search_index.segment_file import SegmentFile

SEQS = st.integers(1, 12)
SPEAKERS = [None, "Ann", "Ben", "שלום", "\ud800"]
AUDIENCES = [1, 2, 3]
ENTRIES = st.builds(
    RowEntry,
    seq=SEQS,
    audience=st.sampled_from(AUDIENCES),
    session=st.sampled_from([None, "s", "t", "日本"]),
    time=st.integers(-2, 3),
    recorded=st.integers(0, 2**50),
    speaker=st.sampled_from(SPEAKERS),
    traits=st.integers(0, 2**20),
    kind=st.integers(0, 6),
    since=st.none() | st.integers(-3, 3),
    until=st.none() | st.integers(-3, 3),
    importance=st.sampled_from([0.0, 0.25, 1.0]),
    confidence=st.sampled_from([0.5, 0.75]),
)


class SaveSegment:
    """Save one more segment."""


Change = list[RowEntry] | list[int] | SaveSegment | None
"""Rows to add, seqs to remove, one more segment, or None to save and load everything."""
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.lists(ENTRIES, min_size=1, max_size=8, unique_by=lambda entry: entry.seq),
    st.lists(st.one_of(SEQS, st.just(5000)), max_size=4),
    st.builds(SaveSegment),
    st.none(),
)


def entry(seq: int, time: int, *, audience: int = 1, session: str | None = "s", speaker: str | None = None) -> RowEntry:
    return RowEntry(seq, audience, session, time, 0, speaker, 0, 0.5, 1.0)


def filled(*entries: RowEntry) -> RowColumns:
    columns = RowColumns()
    columns.add(entries)
    return columns


def save_and_load(columns: RowColumns) -> RowColumns:
    return load([columns.arrays_of(columns.live_rows())])


def load(segments: Sequence[dict[str, NDArray[Any]]]) -> RowColumns:
    columns = RowColumns()
    for segment in segments:
        columns.attach(segment)
    return columns


def copy_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in arrays.items()}


def neighbours(columns: RowColumns, reach: int) -> dict[int, list[int]]:
    """Return for each live seq the seqs of its neighbours."""
    rows = columns.live_rows()
    found = columns.around(rows, reach)
    if not len(rows):
        return {}
    neighbour_seqs = np.where(found == NONE, NONE, columns.seqs[found])
    return dict(zip(columns.seqs[rows].tolist(), neighbour_seqs.tolist(), strict=True))


def expected_neighbours(model: Mapping[int, RowEntry], reach: int) -> dict[int, list[int]]:
    return {seq: expected_window(model, seq, reach) for seq in model}


def expected_window(model: Mapping[int, RowEntry], seq: int, reach: int) -> list[int]:
    one = model[seq]
    in_chain = [(other.time, other.seq) for other in model.values() if is_with(one, other)]
    in_order = [NONE] * reach + [own for _, own in sorted(in_chain)] + [NONE] * reach
    index = in_order.index(seq)
    return in_order[index - reach : index + reach + 1]


def is_with(one: RowEntry, other: RowEntry) -> bool:
    if one.session is None:
        return one.seq == other.seq
    return (one.audience, one.session) == (other.audience, other.session)


def assert_equals_model(columns: RowColumns, model: Mapping[int, RowEntry]) -> None:
    rows = columns.live_rows()
    assert columns.rows - columns.dead == len(rows)
    assert columns.seqs[rows].tolist() == [*model]  # in the order they came
    assert [columns.row_of(seq) for seq in model] == rows.tolist()
    assert {columns.row_of(seq) for seq in [0, *range(1, 13), 5000] if seq not in model} <= {NONE}
    assert [columns.audiences[row] for row in range(columns.rows) if row not in rows] == [NO_AUDIENCE] * columns.dead
    for name, field in (
        ("audiences", "audience"),
        ("times", "time"),
        ("recorded", "recorded"),
        ("traits", "traits"),
        ("importance", "importance"),
        ("confidence", "confidence"),
        ("kinds", "kind"),
    ):
        assert getattr(columns, name)[rows].tolist() == [getattr(one, field) for one in model.values()]
    for moment in range(-3, 5):
        expired = columns.expired(moment)
        assert set(columns.seqs[expired[columns.audiences[expired] != NO_AUDIENCE]].tolist()) == {
            seq for seq, one in model.items() if one.until is not None and one.until <= moment
        }
        assert columns.seqs[rows][columns.valid_at(moment)[rows]].tolist() == [
            seq
            for seq, one in model.items()
            if (one.time if one.since is None else one.since) <= moment and (one.until is None or moment < one.until)
        ]
    codes = columns.speakers[rows].tolist()
    assert [None if code == NONE else columns.speaker_names[code] for code in codes] == [
        one.speaker for one in model.values()
    ]
    chains = columns.chains[rows]
    together = (chains[:, np.newaxis] == chains) & (chains != NONE) | np.eye(len(rows), dtype=np.bool_)
    assert together.tolist() == [[is_with(one, other) for other in model.values()] for one in model.values()]
    assert columns.chained or not any(one.session is not None for one in model.values())
    for reach in (1, 2, 5):
        assert neighbours(columns, reach) == expected_neighbours(model, reach)
    for some in chain.from_iterable(combinations(AUDIENCES, size) for size in range(4)):
        speakers = columns.speakers_among(some)
        assert len(speakers) == len(set(speakers))
        assert set(speakers) == {one.speaker for one in model.values() if one.audience in some} - {None}


@given(changes=st.lists(CHANGES, max_size=10))
def test_rows_equal_a_dictionary_after_any_changes(changes: Sequence[Change]) -> None:
    columns, model = RowColumns(), dict[int, RowEntry]()
    segments = list[dict[str, NDArray[Any]]]()
    for change in changes:
        if change is None:
            segments = [copy_arrays(columns.arrays_of(columns.live_rows()))]
            columns = load(segments)
            assert columns.dead == 0
        elif isinstance(change, SaveSegment):
            segments.append(copy_arrays(columns.arrays_since()))
            columns.mark_saved()
            assert_equals_model(load(segments), model)
        else:
            entries = [one for one in change if isinstance(one, RowEntry)]
            seqs = [one.seq if isinstance(one, RowEntry) else one for one in change]
            for seq in seqs:
                model.pop(seq, None)
            model |= {one.seq: one for one in entries}
            if entries:
                columns.add(entries)
            else:
                columns.remove(seqs)
        assert_equals_model(columns, model)


def test_a_chain_is_ordered_by_time_then_by_insertion() -> None:
    columns = filled(entry(1, 30), entry(2, 10), entry(3, 20), entry(4, 20), entry(5, 40))
    columns.add([entry(6, 5), entry(7, 20)])
    assert neighbours(columns, 1) == {
        6: [-1, 6, 2],
        2: [6, 2, 3],
        3: [2, 3, 4],
        4: [3, 4, 7],
        7: [4, 7, 1],
        1: [7, 1, 5],
        5: [1, 5, -1],
    }


def test_a_removed_row_leaves_no_gap() -> None:
    columns = filled(*(entry(seq, seq) for seq in range(1, 8)))
    columns.remove([1, 4, 7])
    assert neighbours(columns, 2) == {
        2: [-1, -1, 2, 3, 5],
        3: [-1, 2, 3, 5, 6],
        5: [2, 3, 5, 6, -1],
        6: [3, 5, 6, -1, -1],
    }
    columns.add([entry(9, 9)])
    assert neighbours(columns, 1)[9] == [6, 9, -1]
    columns.remove([2, 3, 5, 6, 9])
    assert (neighbours(columns, 2), columns.dead) == ({}, 8)
    columns.add([entry(8, 1)])
    assert neighbours(columns, 1) == {8: [-1, 8, -1]}


def test_a_replaced_row_moves_to_its_new_time_and_session() -> None:
    columns = filled(entry(1, 1), entry(2, 2), entry(3, 3), entry(4, 9, session="t"))
    columns.add([entry(1, 4)])
    assert neighbours(columns, 1) == {2: [-1, 2, 3], 3: [2, 3, 1], 1: [3, 1, -1], 4: [-1, 4, -1]}
    columns.add([entry(3, 10, session="t")])
    assert neighbours(columns, 1) == {2: [-1, 2, 1], 1: [2, 1, -1], 4: [-1, 4, 3], 3: [4, 3, -1]}


def test_one_session_of_two_audiences_has_two_chains() -> None:
    columns = filled(*(entry(seq, seq, audience=1 + seq % 2) for seq in range(1, 5)))
    assert neighbours(columns, 1) == {1: [-1, 1, 3], 2: [-1, 2, 4], 3: [1, 3, -1], 4: [2, 4, -1]}


def test_without_sessions_there_are_no_neighbours() -> None:
    columns = filled(*(entry(seq, seq, session=None) for seq in range(1, 4)))
    assert not columns.chained
    assert neighbours(columns, 1) == {1: [-1, 1, -1], 2: [-1, 2, -1], 3: [-1, 3, -1]}


def test_buffers_grow_and_chains_end_at_their_last_rows() -> None:
    """Buffers grow in steps; after a step, no link may lead into the unused rest."""
    columns, model = RowColumns(), dict[int, RowEntry]()
    for first in range(1, 400, 7):
        added = [entry(seq, -seq, session="st"[seq % 2]) for seq in range(first, first + 7)]
        columns.add(added)
        model |= {one.seq: one for one in added}
        assert neighbours(columns, 5) == expected_neighbours(model, 5)


def test_seqs_may_be_far_apart() -> None:
    columns = filled(entry(3, 1), entry(1_000_000, 2))
    columns.add([entry(2_500_000, 3)])
    assert [columns.row_of(seq) for seq in (3, 4, 1_000_000, 2_500_000, 9_000_000)] == [0, NONE, 1, 2, NONE]
    assert neighbours(save_and_load(columns), 1) == {3: [-1, 3, 1_000_000], 1_000_000: [3, 1_000_000, 2_500_000]} | {
        2_500_000: [1_000_000, 2_500_000, -1]
    }


def test_speakers_without_live_rows_are_not_listed() -> None:
    columns = filled(
        entry(1, 1, speaker="Ann"), entry(2, 2, speaker="Ann"), entry(3, 3, speaker="Ben", audience=2), entry(4, 4)
    )
    assert [columns.speakers_among(some) for some in ([1], [2], [1, 2], [3], [])] == [
        ["Ann"],
        ["Ben"],
        ["Ann", "Ben"],
        [],
        [],
    ]
    columns.remove([1, 1])
    assert columns.speakers_among([1]) == ["Ann"]
    columns.add([entry(2, 2, speaker="Cid")])
    assert columns.speakers_among([1]) == ["Cid"]
    assert save_and_load(columns).speakers_among([1, 2]) == ["Ben", "Cid"]


def test_columns_are_loaded_from_a_file_and_changed_without_changing_it(tmp_path: Path) -> None:
    columns = filled(*(entry(seq, seq, speaker="Ann") for seq in range(1, 5)))
    columns.remove([2])
    path = tmp_path / "columns"
    SegmentFile.write(path, "c", {}, [({}, columns.arrays_of(columns.live_rows()))])
    before = path.read_bytes()
    again = RowColumns()
    again.attach(SegmentFile(path, "c").segments[0].arrays)
    again.add([entry(5, 0), entry(3, 9)])
    again.remove([4])
    assert neighbours(again, 1) == {5: [-1, 5, 1], 1: [5, 1, 3], 3: [1, 3, -1]}
    assert path.read_bytes() == before


def test_a_segment_cannot_follow_unsaved_rows() -> None:
    columns = filled(entry(1, 1))
    with pytest.raises(ValueError, match="only in memory"):
        columns.attach(columns.arrays_of(columns.live_rows()))


def test_an_unknown_column_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="colour"):
        _ = RowColumns().colour


def test_a_later_segment_changes_the_neighbours_of_earlier_rows() -> None:
    columns = filled(entry(1, 1), entry(2, 5))
    segments = [copy_arrays(columns.arrays_since())]
    columns.mark_saved()
    columns.add([entry(3, 3), entry(4, 9)])
    segments.append(copy_arrays(columns.arrays_since()))
    assert neighbours(load(segments), 1) == {1: [-1, 1, 3], 2: [3, 2, 4], 3: [1, 3, 2], 4: [2, 4, -1]}


def test_a_chain_without_live_rows_starts_again() -> None:
    columns = filled(entry(1, 1), entry(2, 2), entry(3, 1, session="t"))
    segments = [copy_arrays(columns.arrays_since())]
    columns.mark_saved()
    columns.remove([1, 2])
    segments.append(copy_arrays(columns.arrays_since()))
    again = load(segments)
    assert (again.live_rows().tolist(), again.dead) == ([2], 2)
    again.add([entry(4, 4)])
    assert neighbours(again, 1) == {3: [-1, 3, -1], 4: [-1, 4, -1]}
    columns.remove([3])
    segments.append(copy_arrays(columns.arrays_since()))
    assert load([segments[0], segments[2]]).dead == 3


def test_without_changes_the_next_segment_is_empty() -> None:
    columns = filled(entry(1, 1))
    segments = [copy_arrays(columns.arrays_since())]
    columns.mark_saved()
    assert columns.changes == 0
    segments.append(copy_arrays(columns.arrays_since()))
    again = load(segments)
    assert (neighbours(again, 1), again.changes, again.saved_rows) == ({1: [-1, 1, -1]}, 0, 1)


def test_a_segment_of_removals_alone_is_loaded_from_a_file(tmp_path: Path) -> None:
    columns = filled(entry(1, 1), entry(2, 2))
    file = SegmentFile.write(tmp_path / "x.bin", "test", {}, [({}, columns.arrays_of(columns.live_rows()))])
    columns.mark_saved()
    columns.remove([1])
    file.append({}, columns.arrays_since())
    again = RowColumns()
    for segment in SegmentFile(tmp_path / "x.bin", "test").segments:
        again.attach(segment.arrays)
    assert again.seqs[again.live_rows()].tolist() == [2]


def test_names_without_live_rows_are_not_saved() -> None:
    columns = filled(entry(1, 1, session="gone", speaker="Gone"), entry(2, 2, session="here", speaker="Here"))
    columns.remove([1])
    arrays = columns.arrays_of(columns.live_rows())
    written = b"".join(array.tobytes() for array in arrays.values())
    assert (b"here" in written, b"Here" in written, b"gone" in written, b"Gone" in written) == (
        True,
        True,
        False,
        False,
    )
    again = load([arrays])
    again.add([entry(3, 3, session="gone", speaker="Gone"), entry(4, 4, session="here")])
    assert sorted(again.speakers_among([1])) == ["Gone", "Here"]
    assert neighbours(again, 1) == {2: [-1, 2, 4], 3: [-1, 3, -1], 4: [2, 4, -1]}


def test_a_segment_without_live_rows_has_no_neighbours() -> None:
    columns = RowColumns()
    columns.add([entry(1, 1), entry(2, 2)])
    columns.remove([1, 2])
    emptied = save_and_load(columns)
    assert (emptied.rows, emptied.chained) == (0, True)
    assert emptied.around(np.empty(0, dtype=np.int64), 2).shape == (0, 5)
