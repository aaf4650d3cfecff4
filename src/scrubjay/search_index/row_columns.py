"""Columns with metadata of every row: audience, times, speaker, and the neighbours in its session."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Audience of a row that was replaced or deleted.
NO_AUDIENCE: Final = -1
# End of a chain, and the speaker of a row without one.
NONE: Final = -1
FOREVER: Final = np.iinfo(np.int64).max

COLUMNS: Final[dict[str, Any]] = {
    "seqs": np.int64,
    "audiences": np.int64,
    "chains": np.int32,
    "times": np.int64,
    "recorded": np.int64,
    "speakers": np.int32,
    "traits": np.int32,
    "importance": np.float32,
    "confidence": np.float32,
    "kinds": np.int8,
    "before": np.int32,
    "after": np.int32,
}
# Columns of existing rows that later rows change: the audience when a row is removed, and the neighbours.
MUTABLE_COLUMNS: Final = ("audiences", "before", "after")


class RowEntry(NamedTuple):
    """A row to add. `time` is when it happened, `recorded` when it was stored, both in microseconds."""

    seq: int
    audience: int
    session: str | None
    time: int
    recorded: int
    speaker: str | None
    traits: int
    importance: float
    confidence: float
    kind: int = 0
    since: int | None = None
    """Start of validity, if it is not `time`."""
    until: int | None = None
    """End of validity, if any."""


class RowColumns:
    """Rows in insertion order, append-only; a replaced or deleted row only loses its audience.

    The rows of one audience and session form a chain in order of time, so that the neighbours of a row are found at
    once.
    """

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[Any]] = {name: np.empty(0, dtype=kind) for name, kind in COLUMNS.items()}
        self._chain_count: int = 0
        self._named_chains: dict[tuple[int, str], int] = {}
        self._unread_chains: list[Mapping[str, NDArray[Any]]] = []
        # Built when a row is added or removed: a process that only searches does not need them.
        self._row_of_seq: NDArray[np.int32] | None = None
        self._last_in_chain: dict[int, int] = {}
        self._speakers: dict[str, int] = {}
        self._speakers_of: Counter[tuple[int, int]] = Counter()
        self.speaker_names: list[str] = []
        # Rows with a limited validity: row, since, until.
        self._limited: NDArray[np.int64] = np.empty((0, 3), dtype=np.int64)
        self.rows = 0
        self.dead = 0
        self._publish_columns()
        self._clear_changes()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            """A column, up to the number of rows."""
            ...

    def _publish_columns(self) -> None:
        """Make each column available as an attribute, up to the number of rows."""
        self.__dict__.update({name: column[: self.rows] for name, column in self._buffers.items()})

    def add(self, entries: Sequence[RowEntry]) -> None:
        """Add these rows; an earlier row with the same seq is removed."""
        if not entries:
            return
        seqs, audiences, sessions, times, recorded, speakers, *others, since, until = zip(*entries, strict=True)
        self.remove(seqs)
        first, end = self.rows, self.rows + len(entries)
        # One entry more than there are rows; see `around`.
        self._grow(end + 1)
        chains = [self._chain(*key) for key in zip(audiences, sessions, strict=True)]
        codes = [NONE if name is None else self._speaker(name) for name in speakers]
        nothing = [NONE] * len(entries)
        values = (seqs, audiences, chains, times, recorded, codes, *others, nothing, nothing)
        for name, column in zip(COLUMNS, values, strict=True):
            self._buffers[name][first:end] = column
        limited = [
            (row, time if begins is None else begins, FOREVER if ends is None else ends)
            for row, (time, begins, ends) in enumerate(zip(times, since, until, strict=True), first)
            if begins is not None or ends is not None
        ]
        if limited:
            self._limited = np.concatenate([self._limited, np.array(limited, dtype=np.int64)])
        self._load_seq_index(max(seqs))[self._buffers["seqs"][first:end]] = np.arange(first, end, dtype=np.int32)
        self.rows = end
        self._publish_columns()
        for row, (audience, speaker, chain) in enumerate(zip(audiences, codes, chains, strict=True), first):
            if speaker != NONE:
                self._count_speaker(audience, speaker, 1)
            if chain != NONE:
                self._link(row, chain)

    def remove(self, seqs: Iterable[int]) -> None:
        """Remove the rows with these seqs, if they exist."""
        row_of_seq = self._load_seq_index()
        for seq in seqs:
            row = self.row_of(seq)
            if row != NONE:
                self._unlink(row)
                audience, speaker = int(self.audiences[row]), int(self.speakers[row])
                if speaker != NONE:
                    self._count_speaker(audience, speaker, -1)
                self.audiences[row] = NO_AUDIENCE
                self._changed_rows.add(row)
                row_of_seq[seq] = NONE
                self.dead += 1

    def row_of(self, seq: int) -> int:
        """Return the live row with this seq, or NONE."""
        row_of_seq = self._load_seq_index()
        return int(row_of_seq[seq]) if seq < len(row_of_seq) else NONE

    def speaker_code(self, name: str) -> int:
        """Return the code of a speaker in the column; an unused code for an unknown name."""
        return self._speakers.get(name, len(self._speakers))

    def chain_codes(self, session: str, audiences: Iterable[int]) -> list[int]:
        """Return the codes of a session in the column, for these audiences."""
        known = self._chains()
        return [known[key] for audience in audiences if (key := (audience, session)) in known]

    @property
    def saved_rows(self) -> int:
        """Number of rows that were attached or saved to a file."""
        return self._saved_rows

    @property
    def changes(self) -> int:
        """Number of changes since the last save: new rows, and changed earlier ones."""
        return self.rows - self._saved_rows + len(self._changed_rows)

    @property
    def chained(self) -> bool:
        """True if any row may have neighbours."""
        return self._chain_count > 0

    def speakers_among(self, audiences: Iterable[int]) -> list[str]:
        """Return the speakers of rows that these audiences may see."""
        wanted = set(audiences)
        codes = {speaker for (audience, speaker), count in self._speakers_of.items() if count and audience in wanted}
        return [self.speaker_names[code] for code in sorted(codes)]

    def expired(self, moment: int) -> NDArray[np.int64]:
        """Return the rows whose validity has ended at this moment."""
        return self._limited[self._limited[:, 2] <= moment, 0]

    def valid_at(self, moment: int) -> NDArray[np.bool_]:
        """Return which rows are valid at this moment."""
        valid: NDArray[np.bool_] = self.times <= moment
        rows, since, until = self._limited.T
        valid[rows] = (since <= moment) & (moment < until)
        return valid

    # -- files ---------------------------------------------------------------------------------------

    def live_rows(self) -> NDArray[np.int64]:
        """Return the rows that were neither replaced nor deleted, ascending."""
        return (self.audiences != NO_AUDIENCE).nonzero()[0]

    def arrays_of(self, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the arrays of a first segment, which contains all live rows."""
        arrays: dict[str, NDArray[Any]] = {name: self._buffers[name][rows] for name in COLUMNS}
        position_of = np.full(self.rows + 1, NONE, dtype=np.int32)
        position_of[rows] = np.arange(len(rows), dtype=np.int32)
        for name in ("before", "after"):
            arrays[name] = position_of[arrays[name]]
        counted = [pair for pair, count in self._speakers_of.items() if count]
        limited = self._limited.copy()
        limited[:, 0] = position_of[limited[:, 0]]
        arrays["limited"] = limited[limited[:, 0] != NONE]
        return arrays | self._name_arrays(0, 0, arrays) | self._change_arrays([], counted)

    def arrays_since(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a further segment: everything since the last one was attached or saved."""
        arrays: dict[str, NDArray[Any]] = {name: self._buffers[name][self._saved_rows : self.rows] for name in COLUMNS}
        arrays["limited"] = self._limited[self._limited[:, 0] >= self._saved_rows]
        touched = sorted(row for row in self._changed_rows if NONE < row < self._saved_rows)
        return (
            arrays
            | self._name_arrays(self._saved_chains, self._saved_speakers)
            | self._change_arrays(touched, self._changed_speakers)
        )

    def mark_saved(self) -> None:
        """Record that everything is saved in a file, in the same order."""
        self._clear_changes()

    def attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add the rows of a segment; segments must be attached in order."""
        if self.rows != self._saved_rows:
            raise ValueError("segments cannot follow rows that are only in memory")
        first, end = self.rows, self.rows + len(arrays["seqs"])
        if not first:  # immutable columns need not be copied until rows are added
            self._buffers |= {name: arrays[name] for name in COLUMNS if name not in MUTABLE_COLUMNS}
        if end > first:
            names = MUTABLE_COLUMNS if not first else tuple(COLUMNS)
            self._grow(end + 1, names)
            for name in names:
                self._buffers[name][first:end] = arrays[name]
        self.rows = end
        self._publish_columns()
        for name in MUTABLE_COLUMNS:
            self._buffers[name][arrays["patched"]] = arrays[f"patched_{name}"]
        self.dead = int(np.count_nonzero(self.audiences == NO_AUDIENCE))
        self._row_of_seq = None
        self._limited = np.concatenate([self._limited, arrays["limited"]])
        self._unread_chains.append(arrays)
        self._chain_count += len(arrays["chain_audiences"])
        speakers = _decode_texts("speaker_names", arrays)
        self._speakers.update((name, code) for code, name in enumerate(speakers, len(self._speakers)))
        self.speaker_names += speakers
        for audience, speaker, count in arrays["heard"].tolist():
            self._speakers_of[audience, speaker] = count
        self._clear_changes()

    def _name_arrays(
        self, chains: int, speakers: int, everything: Mapping[str, NDArray[Any]] | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return the names after the first `chains` and `speakers`; with `everything`, blank unused ones."""
        keys = list(islice(self._chains(), chains, None))
        sessions, names = [session for _, session in keys], self.speaker_names[speakers:]
        if everything is not None:
            sessions = _blank_unused(sessions, everything["chains"])
            names = _blank_unused(names, everything["speakers"])
        return {
            "chain_audiences": np.array([audience for audience, _ in keys], dtype=np.int64),
            **_encode_texts("chain_sessions", sessions),
            **_encode_texts("speaker_names", names),
        }

    def _change_arrays(self, changed: Sequence[int], counted: Iterable[tuple[int, int]]) -> dict[str, NDArray[Any]]:
        rows = np.array(changed, dtype=np.int64)
        patches = {f"patched_{name}": self._buffers[name][rows] for name in MUTABLE_COLUMNS}
        counts = np.array([(*pair, self._speakers_of[pair]) for pair in counted], dtype=np.int64)
        return {"patched": rows, **patches, "heard": counts.reshape(-1, 3)}

    def _load_seq_index(self, max_seq: int = 0) -> NDArray[np.int32]:
        """Return the live row of each seq, with room for `most`; also builds the ends of the chains."""
        if self._row_of_seq is None:
            is_living = self.audiences != NO_AUDIENCE
            living = is_living.nonzero()[0]
            self._row_of_seq = np.full(max(int(self.seqs.max(initial=0)) + 1, 1024), NONE, dtype=np.int32)
            self._row_of_seq[self.seqs[living]] = living
            ends = (is_living & (self.chains != NONE) & (self.after == NONE)).nonzero()[0]
            self._last_in_chain = dict(zip(self.chains[ends].tolist(), ends.tolist(), strict=True))
        if max_seq >= len(self._row_of_seq):
            larger = np.full(max(max_seq + 1, 2 * len(self._row_of_seq)), NONE, dtype=np.int32)
            larger[: len(self._row_of_seq)] = self._row_of_seq
            self._row_of_seq = larger
        return self._row_of_seq

    def _chains(self) -> dict[tuple[int, str], int]:
        """Return the code of each audience and session."""
        known = self._named_chains
        for arrays in self._unread_chains:
            keys = zip(arrays["chain_audiences"].tolist(), _decode_texts("chain_sessions", arrays), strict=True)
            known.update((key, code) for code, key in enumerate(keys, len(known)))
        self._unread_chains.clear()
        return known

    def _clear_changes(self) -> None:
        self._saved_rows, self._saved_chains, self._saved_speakers = self.rows, self._chain_count, len(self._speakers)
        self._changed_rows: set[int] = set()
        self._changed_speakers: set[tuple[int, int]] = set()

    # -- adding --------------------------------------------------------------------------------------

    def _chain(self, audience: int, session: str | None) -> int:
        if session is None:
            return NONE
        code = self._chains().setdefault((audience, session), self._chain_count)
        self._chain_count = max(self._chain_count, code + 1)
        return code

    def _count_speaker(self, audience: int, speaker: int, more: int) -> None:
        self._speakers_of[audience, speaker] += more
        self._changed_speakers.add((audience, speaker))

    def _speaker(self, name: str) -> int:
        code = self._speakers.setdefault(name, len(self._speakers))
        if code == len(self.speaker_names):
            self.speaker_names.append(name)
        return code

    def _link(self, row: int, chain: int) -> None:
        """Insert the row into its chain by time and seq."""
        before, after = self._buffers["before"], self._buffers["after"]
        times, seqs = self._buffers["times"], self._buffers["seqs"]
        key = (times[row], seqs[row])
        earlier, later = self._last_in_chain.get(chain, NONE), NONE
        while earlier != NONE and (times[earlier], seqs[earlier]) > key:
            earlier, later = int(before[earlier]), earlier
        before[row], after[row] = earlier, later
        self._changed_rows |= {earlier, later}
        if earlier != NONE:
            after[earlier] = row
        if later != NONE:
            before[later] = row
        else:
            self._last_in_chain[chain] = row

    def _unlink(self, row: int) -> None:
        chain = int(self.chains[row])
        if chain == NONE:
            return
        earlier, later = int(self.before[row]), int(self.after[row])
        self._changed_rows |= {earlier, later}
        if earlier != NONE:
            self.after[earlier] = later
        if later != NONE:
            self.before[later] = earlier
        elif earlier != NONE:
            self._last_in_chain[chain] = earlier
        else:
            del self._last_in_chain[chain]
        self.before[row] = self.after[row] = NONE

    def _grow(self, rows: int, names: Iterable[str] = COLUMNS) -> None:
        for name in names:
            column = self._buffers[name]
            if rows > len(column):
                larger = np.empty(max(rows, 2 * len(column), 64), dtype=column.dtype)
                larger[: self.rows] = column[: self.rows]
                self._buffers[name] = larger

    def around(self, rows: NDArray[np.int64], reach: int) -> NDArray[np.int32]:
        """Return the neighbours of each row in its chain: `reach` before, itself, `reach` after; NONE past the ends."""
        found = np.full((len(rows), 2 * reach + 1), NONE, dtype=np.int32)
        found[:, reach] = rows
        if not (self.chained and len(rows)):
            return found
        for step, name in ((-1, "before"), (1, "after")):
            # The entry after the last row leads nowhere; NONE (-1) refers to it.
            links = self._buffers[name][: self.rows + 1]
            links[-1] = NONE
            here = rows
            for distance in range(1, reach + 1):
                here = links[here]
                found[:, reach + step * distance] = here
        return found


def _blank_unused(names: Sequence[str], codes: NDArray[Any]) -> list[str]:
    """Return the names, with those that have no code here replaced by a placeholder that keeps their position."""
    used = set(np.unique(codes).tolist())
    return [name if code in used else f"\0{code}" for code, name in enumerate(names)]


def _encode_texts(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ends": ends}


def _decode_texts(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    content, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    return [content[start:end].decode("utf-8", "surrogatepass") for start, end in zip([0, *ends], ends, strict=False)]
