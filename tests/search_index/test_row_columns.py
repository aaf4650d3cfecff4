"""What is known of every row: checked against a dictionary, whatever is added, replaced, deleted and read again."""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scrubjay.search_index.row_columns import NOBODY, NONE, Entry, RowColumns
from scrubjay.search_index.segment_file import SegmentFile

SEQS = st.integers(1, 12)
SPEAKERS = [None, "Ann", "Ben", "שלום", "\ud800"]
AUDIENCES = [1, 2, 3]
ENTRIES = st.builds(
    Entry,
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


class Kept:
    """One more segment."""


Change = list[Entry] | list[int] | Kept | None
"""Rows to add, places in the store whose rows are no more, one more segment, or everything read again."""
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.lists(ENTRIES, min_size=1, max_size=8, unique_by=lambda entry: entry.seq),
    st.lists(st.one_of(SEQS, st.just(5000)), max_size=4),
    st.builds(Kept),
    st.none(),
)


def entry(seq: int, time: int, *, audience: int = 1, session: str | None = "s", speaker: str | None = None) -> Entry:
    return Entry(seq, audience, session, time, 0, speaker, 0, 0.5, 1.0)


def filled(*entries: Entry) -> RowColumns:
    columns = RowColumns()
    columns.add(entries)
    return columns


def reread(columns: RowColumns) -> RowColumns:
    return attached([columns.arrays_of(columns.living())])


def attached(segments: Sequence[dict[str, NDArray[Any]]]) -> RowColumns:
    columns = RowColumns()
    for segment in segments:
        columns.attach(segment)
    return columns


def copied(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in arrays.items()}


def around(columns: RowColumns, reach: int) -> dict[int, list[int]]:
    """For each living place in the store, the places in the store of those around it."""
    rows = columns.living()
    found = columns.around(rows, reach)
    if not len(rows):
        return {}
    places = np.where(found == NONE, NONE, columns.seqs[found])
    return dict(zip(columns.seqs[rows].tolist(), places.tolist(), strict=True))


def around_by_hand(model: Mapping[int, Entry], reach: int) -> dict[int, list[int]]:
    return {seq: window(model, seq, reach) for seq in model}


def window(model: Mapping[int, Entry], seq: int, reach: int) -> list[int]:
    one = model[seq]
    in_chain = [(other.time, other.seq) for other in model.values() if is_with(one, other)]
    in_order = [NONE] * reach + [place for _, place in sorted(in_chain)] + [NONE] * reach
    place = in_order.index(seq)
    return in_order[place - reach : place + reach + 1]


def is_with(one: Entry, other: Entry) -> bool:
    if one.session is None:
        return one.seq == other.seq
    return (one.audience, one.session) == (other.audience, other.session)


def agrees(columns: RowColumns, model: Mapping[int, Entry]) -> None:
    rows = columns.living()
    assert columns.rows - columns.dead == len(rows)
    assert columns.seqs[rows].tolist() == [*model]  # in the order they came
    assert [columns.row_of(seq) for seq in model] == rows.tolist()
    assert {columns.row_of(seq) for seq in [0, *range(1, 13), 5000] if seq not in model} <= {NONE}
    assert [columns.audiences[row] for row in range(columns.rows) if row not in rows] == [NOBODY] * columns.dead
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
        ended = columns.ended(moment)
        assert set(columns.seqs[ended[columns.audiences[ended] != NOBODY]].tolist()) == {
            seq for seq, one in model.items() if one.until is not None and one.until <= moment
        }
        assert columns.seqs[rows][columns.true_at(moment)[rows]].tolist() == [
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
        assert around(columns, reach) == around_by_hand(model, reach)
    for some in chain.from_iterable(combinations(AUDIENCES, size) for size in range(4)):
        heard = columns.speakers_among(some)
        assert len(heard) == len(set(heard))
        assert set(heard) == {one.speaker for one in model.values() if one.audience in some} - {None}


@given(changes=st.lists(CHANGES, max_size=10))
def test_rows_are_what_a_dictionary_would_hold_after_any_changes(changes: Sequence[Change]) -> None:
    columns, model = RowColumns(), dict[int, Entry]()
    segments = list[dict[str, NDArray[Any]]]()
    for change in changes:
        if change is None:
            segments = [copied(columns.arrays_of(columns.living()))]
            columns = attached(segments)
            assert columns.dead == 0
        elif isinstance(change, Kept):
            segments.append(copied(columns.arrays_since()))
            columns.note_kept()
            agrees(attached(segments), model)
        else:
            entries = [one for one in change if isinstance(one, Entry)]
            seqs = [one.seq if isinstance(one, Entry) else one for one in change]
            for seq in seqs:
                model.pop(seq, None)
            model |= {one.seq: one for one in entries}
            if entries:
                columns.add(entries)
            else:
                columns.kill(seqs)
        agrees(columns, model)


def test_a_chain_is_in_the_order_of_time_and_at_the_same_moment_in_the_order_kept() -> None:
    columns = filled(entry(1, 30), entry(2, 10), entry(3, 20), entry(4, 20), entry(5, 40))
    columns.add([entry(6, 5), entry(7, 20)])
    assert around(columns, 1) == {
        6: [-1, 6, 2],
        2: [6, 2, 3],
        3: [2, 3, 4],
        4: [3, 4, 7],
        7: [4, 7, 1],
        1: [7, 1, 5],
        5: [1, 5, -1],
    }


def test_a_row_deleted_leaves_no_gap_wherever_it_was() -> None:
    columns = filled(*(entry(seq, seq) for seq in range(1, 8)))
    columns.kill([1, 4, 7])
    assert around(columns, 2) == {
        2: [-1, -1, 2, 3, 5],
        3: [-1, 2, 3, 5, 6],
        5: [2, 3, 5, 6, -1],
        6: [3, 5, 6, -1, -1],
    }
    columns.add([entry(9, 9)])
    assert around(columns, 1)[9] == [6, 9, -1]
    columns.kill([2, 3, 5, 6, 9])
    assert (around(columns, 2), columns.dead) == ({}, 8)
    columns.add([entry(8, 1)])
    assert around(columns, 1) == {8: [-1, 8, -1]}


def test_a_row_replaced_moves_to_its_new_time_and_session() -> None:
    columns = filled(entry(1, 1), entry(2, 2), entry(3, 3), entry(4, 9, session="t"))
    columns.add([entry(1, 4)])
    assert around(columns, 1) == {2: [-1, 2, 3], 3: [2, 3, 1], 1: [3, 1, -1], 4: [-1, 4, -1]}
    columns.add([entry(3, 10, session="t")])
    assert around(columns, 1) == {2: [-1, 2, 1], 1: [2, 1, -1], 4: [-1, 4, 3], 3: [4, 3, -1]}


def test_one_session_of_two_audiences_makes_two_chains() -> None:
    columns = filled(*(entry(seq, seq, audience=1 + seq % 2) for seq in range(1, 5)))
    assert around(columns, 1) == {1: [-1, 1, 3], 2: [-1, 2, 4], 3: [1, 3, -1], 4: [2, 4, -1]}


def test_without_sessions_nothing_is_around() -> None:
    columns = filled(*(entry(seq, seq, session=None) for seq in range(1, 4)))
    assert not columns.chained
    assert around(columns, 1) == {1: [-1, 1, -1], 2: [-1, 2, -1], 3: [-1, 3, -1]}


def test_many_rows_find_their_room_and_the_last_ones_end_their_chains() -> None:
    """Room is made in steps; right after one, nothing may lead into the unused rest."""
    columns, model = RowColumns(), dict[int, Entry]()
    for first in range(1, 400, 7):
        added = [entry(seq, -seq, session="st"[seq % 2]) for seq in range(first, first + 7)]
        columns.add(added)
        model |= {one.seq: one for one in added}
        assert around(columns, 5) == around_by_hand(model, 5)


def test_places_in_the_store_may_be_far_apart() -> None:
    columns = filled(entry(3, 1), entry(1_000_000, 2))
    columns.add([entry(2_500_000, 3)])
    assert [columns.row_of(seq) for seq in (3, 4, 1_000_000, 2_500_000, 9_000_000)] == [0, NONE, 1, 2, NONE]
    assert around(reread(columns), 1) == {3: [-1, 3, 1_000_000], 1_000_000: [3, 1_000_000, 2_500_000]} | {
        2_500_000: [1_000_000, 2_500_000, -1]
    }


def test_who_said_nothing_that_is_left_is_not_named() -> None:
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
    columns.kill([1, 1])
    assert columns.speakers_among([1]) == ["Ann"]
    columns.add([entry(2, 2, speaker="Cid")])
    assert columns.speakers_among([1]) == ["Cid"]
    assert reread(columns).speakers_among([1, 2]) == ["Ben", "Cid"]


def test_columns_come_from_a_real_file_and_can_be_changed_without_changing_it(tmp_path: Path) -> None:
    columns = filled(*(entry(seq, seq, speaker="Ann") for seq in range(1, 5)))
    columns.kill([2])
    path = tmp_path / "columns"
    SegmentFile.write(path, "c", {}, [({}, columns.arrays_of(columns.living()))])
    before = path.read_bytes()
    again = RowColumns()
    again.attach(SegmentFile(path, "c").segments[0].arrays)
    again.add([entry(5, 0), entry(3, 9)])
    again.kill([4])
    assert around(again, 1) == {5: [-1, 5, 1], 1: [5, 1, 3], 3: [1, 3, -1]}
    assert path.read_bytes() == before


def test_a_segment_cannot_follow_rows_that_are_in_none() -> None:
    columns = filled(entry(1, 1))
    with pytest.raises(ValueError, match="only in memory"):
        columns.attach(columns.arrays_of(columns.living()))


def test_what_is_no_column_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="colour"):
        _ = RowColumns().colour


def test_a_later_segment_tells_what_came_between_earlier_rows_and_after_them() -> None:
    columns = filled(entry(1, 1), entry(2, 5))
    segments = [copied(columns.arrays_since())]
    columns.note_kept()
    columns.add([entry(3, 3), entry(4, 9)])
    segments.append(copied(columns.arrays_since()))
    assert around(attached(segments), 1) == {1: [-1, 1, 3], 2: [3, 2, 4], 3: [1, 3, 2], 4: [2, 4, -1]}


def test_a_chain_whose_rows_all_died_in_a_later_segment_begins_anew() -> None:
    columns = filled(entry(1, 1), entry(2, 2), entry(3, 1, session="t"))
    segments = [copied(columns.arrays_since())]
    columns.note_kept()
    columns.kill([1, 2])
    segments.append(copied(columns.arrays_since()))
    again = attached(segments)
    assert (again.living().tolist(), again.dead) == ([2], 2)
    again.add([entry(4, 4)])
    assert around(again, 1) == {3: [-1, 3, -1], 4: [-1, 4, -1]}
    columns.kill([3])
    segments.append(copied(columns.arrays_since()))
    assert attached([segments[0], segments[2]]).dead == 3


def test_nothing_new_makes_an_empty_segment() -> None:
    columns = filled(entry(1, 1))
    segments = [copied(columns.arrays_since())]
    columns.note_kept()
    assert columns.changes == 0
    segments.append(copied(columns.arrays_since()))
    again = attached(segments)
    assert (around(again, 1), again.changes, again.kept_rows) == ({1: [-1, 1, -1]}, 0, 1)


def test_a_segment_of_deaths_alone_follows_one_in_a_real_file(tmp_path: Path) -> None:
    columns = filled(entry(1, 1), entry(2, 2))
    file = SegmentFile.write(tmp_path / "x.bin", "test", {}, [({}, columns.arrays_of(columns.living()))])
    columns.note_kept()
    columns.kill([1])
    file.append({}, columns.arrays_since())
    again = RowColumns()
    for segment in SegmentFile(tmp_path / "x.bin", "test").segments:
        again.attach(segment.arrays)
    assert again.seqs[again.living()].tolist() == [2]


def test_names_that_no_row_has_any_more_are_not_written_anew() -> None:
    columns = filled(entry(1, 1, session="gone", speaker="Gone"), entry(2, 2, session="here", speaker="Here"))
    columns.kill([1])
    arrays = columns.arrays_of(columns.living())
    written = b"".join(array.tobytes() for array in arrays.values())
    assert (b"here" in written, b"Here" in written, b"gone" in written, b"Gone" in written) == (
        True,
        True,
        False,
        False,
    )
    again = attached([arrays])
    again.add([entry(3, 3, session="gone", speaker="Gone"), entry(4, 4, session="here")])
    assert sorted(again.speakers_among([1])) == ["Gone", "Here"]
    assert around(again, 1) == {2: [-1, 2, 4], 3: [-1, 3, -1], 4: [2, 4, -1]}


def test_of_a_segment_whose_rows_all_went_nothing_is_around_anything() -> None:
    columns = RowColumns()
    columns.add([entry(1, 1), entry(2, 2)])
    columns.kill([1, 2])
    emptied = reread(columns)
    assert (emptied.rows, emptied.chained) == (0, True)
    assert emptied.around(np.empty(0, dtype=np.int64), 2).shape == (0, 5)
