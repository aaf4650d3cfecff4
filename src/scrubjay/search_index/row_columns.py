"""What is known of every row beside its words and its vector: whose it is, when it was, what came before and after."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# The audience of a row that was replaced or deleted; nobody is in it.
NOBODY: Final = -1
# Where a chain of rows ends, and the speaker of what nobody said.
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
# What later rows change of earlier ones: that they are dead, and what is beside them.
CHANGING: Final = ("audiences", "before", "after")


class Entry(NamedTuple):
    """A row to add. `time` is when it happened, `recorded` when it was kept, both in microseconds."""

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
    """Since when it is true, if not since it happened."""
    until: int | None = None
    """When it ceases to be true, if it does."""


class RowColumns:
    """The rows in the order they came. They are only added; one that was replaced or deleted belongs to nobody.

    Rows of one audience and session make a chain in the order of their time, so that what was said just before and
    just after is found at once.
    """

    def __init__(self) -> None:
        self._room: dict[str, NDArray[Any]] = {name: np.empty(0, dtype=kind) for name, kind in COLUMNS.items()}
        self._chain_count: int = 0
        self._named_chains: dict[tuple[int, str], int] = {}
        self._unread_chains: list[Mapping[str, NDArray[Any]]] = []
        # Made when something is added or goes: a process that only searches has no use for them.
        self._row_of_seq: NDArray[np.int32] | None = None
        self._last_in_chain: dict[int, int] = {}
        self._speakers: dict[str, int] = {}
        self._speakers_of: Counter[tuple[int, int]] = Counter()
        self.speaker_names: list[str] = []
        # The rows that are true only for a time: row, since when, until when.
        self._limited: NDArray[np.int64] = np.empty((0, 3), dtype=np.int64)
        self.rows = 0
        self.dead = 0
        self._show()
        self._forget_changes()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> NDArray[Any]:
            """A column, as long as there are rows."""
            ...

    def _show(self) -> None:
        """Each column as an attribute of its own, as long as there are rows."""
        self.__dict__.update({name: column[: self.rows] for name, column in self._room.items()})

    def add(self, entries: Sequence[Entry]) -> None:
        """Add these; a row of the same place in the store is dead from now on."""
        if not entries:
            return
        seqs, audiences, sessions, times, recorded, speakers, *others, since, until = zip(*entries, strict=True)
        self.kill(seqs)
        first, end = self.rows, self.rows + len(entries)
        # One entry more than there are rows, see `around`.
        self._grow(end + 1)
        chains = [self._chain(*key) for key in zip(audiences, sessions, strict=True)]
        codes = [NONE if name is None else self._speaker(name) for name in speakers]
        nothing = [NONE] * len(entries)
        values = (seqs, audiences, chains, times, recorded, codes, *others, nothing, nothing)
        for name, column in zip(COLUMNS, values, strict=True):
            self._room[name][first:end] = column
        limited = [
            (row, time if begins is None else begins, FOREVER if ends is None else ends)
            for row, (time, begins, ends) in enumerate(zip(times, since, until, strict=True), first)
            if begins is not None or ends is not None
        ]
        if limited:
            self._limited = np.concatenate([self._limited, np.array(limited, dtype=np.int64)])
        self._find_by_seq(max(seqs))[self._room["seqs"][first:end]] = np.arange(first, end, dtype=np.int32)
        self.rows = end
        self._show()
        for row, (audience, speaker, chain) in enumerate(zip(audiences, codes, chains, strict=True), first):
            if speaker != NONE:
                self._hear(audience, speaker, 1)
            if chain != NONE:
                self._link(row, chain)

    def kill(self, seqs: Iterable[int]) -> None:
        """Whatever these rows were, they are no more."""
        row_of_seq = self._find_by_seq()
        for seq in seqs:
            row = self.row_of(seq)
            if row != NONE:
                self._unlink(row)
                audience, speaker = int(self.audiences[row]), int(self.speakers[row])
                if speaker != NONE:
                    self._hear(audience, speaker, -1)
                self.audiences[row] = NOBODY
                self._touched.add(row)
                row_of_seq[seq] = NONE
                self.dead += 1

    def row_of(self, seq: int) -> int:
        """The living row of this place in the store, or NONE."""
        row_of_seq = self._find_by_seq()
        return int(row_of_seq[seq]) if seq < len(row_of_seq) else NONE

    def speaker_code(self, name: str) -> int:
        """By which a speaker stands in the column; one that nobody has, for a name that is not known."""
        return self._speakers.get(name, len(self._speakers))

    def chain_codes(self, session: str, audiences: Iterable[int]) -> list[int]:
        """By which a session stands in the column, as these audiences have it."""
        known = self._chains()
        return [known[key] for audience in audiences if (key := (audience, session)) in known]

    @property
    def kept_rows(self) -> int:
        """How many rows were attached or kept in a file."""
        return self._kept_rows

    @property
    def changes(self) -> int:
        """How much is new since then: rows, and changes of earlier ones."""
        return self.rows - self._kept_rows + len(self._touched)

    @property
    def chained(self) -> bool:
        """Whether any row may have others around it."""
        return self._chain_count > 0

    def speakers_among(self, audiences: Iterable[int]) -> list[str]:
        """Who said something that these audiences may see."""
        wanted = set(audiences)
        codes = {speaker for (audience, speaker), count in self._speakers_of.items() if count and audience in wanted}
        return [self.speaker_names[code] for code in sorted(codes)]

    def ended(self, moment: int) -> NDArray[np.int64]:
        """The rows that are not true any more at this moment."""
        return self._limited[self._limited[:, 2] <= moment, 0]

    def true_at(self, moment: int) -> NDArray[np.bool_]:
        """Which rows are true at this moment."""
        true: NDArray[np.bool_] = self.times <= moment
        rows, since, until = self._limited.T
        true[rows] = (since <= moment) & (moment < until)
        return true

    # -- files ---------------------------------------------------------------------------------------

    def living(self) -> NDArray[np.int64]:
        """The rows that were neither replaced nor deleted, ascending."""
        return (self.audiences != NOBODY).nonzero()[0]

    def arrays_of(self, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """What the first segment consists of, with all living rows."""
        arrays: dict[str, NDArray[Any]] = {name: self._room[name][rows] for name in COLUMNS}
        place_of = np.full(self.rows + 1, NONE, dtype=np.int32)
        place_of[rows] = np.arange(len(rows), dtype=np.int32)
        for name in ("before", "after"):
            arrays[name] = place_of[arrays[name]]
        heard = [pair for pair, count in self._speakers_of.items() if count]
        limited = self._limited.copy()
        limited[:, 0] = place_of[limited[:, 0]]
        arrays["limited"] = limited[limited[:, 0] != NONE]
        return arrays | self._names_after(0, 0, arrays) | self._changes([], heard)

    def arrays_since(self) -> dict[str, NDArray[Any]]:
        """What one more segment consists of: all that is new since the last one was attached or kept."""
        arrays: dict[str, NDArray[Any]] = {name: self._room[name][self._kept_rows : self.rows] for name in COLUMNS}
        arrays["limited"] = self._limited[self._limited[:, 0] >= self._kept_rows]
        touched = sorted(row for row in self._touched if NONE < row < self._kept_rows)
        return arrays | self._names_after(self._kept_chains, self._kept_speakers) | self._changes(touched, self._heard)

    def note_kept(self) -> None:
        """All that there is, is in a file now, in the same order."""
        self._forget_changes()

    def attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add the rows of a segment, the first one first."""
        if self.rows != self._kept_rows:
            raise ValueError("segments cannot follow rows that are only in memory")
        first, end = self.rows, self.rows + len(arrays["seqs"])
        if not first:  # what never changes need not be copied until something follows it
            self._room |= {name: arrays[name] for name in COLUMNS if name not in CHANGING}
        if end > first:
            names = CHANGING if not first else tuple(COLUMNS)
            self._grow(end + 1, names)
            for name in names:
                self._room[name][first:end] = arrays[name]
        self.rows = end
        self._show()
        for name in CHANGING:
            self._room[name][arrays["patched"]] = arrays[f"patched_{name}"]
        self.dead = int(np.count_nonzero(self.audiences == NOBODY))
        self._row_of_seq = None
        self._limited = np.concatenate([self._limited, arrays["limited"]])
        self._unread_chains.append(arrays)
        self._chain_count += len(arrays["chain_audiences"])
        speakers = _texts("speaker_names", arrays)
        self._speakers.update((name, code) for code, name in enumerate(speakers, len(self._speakers)))
        self.speaker_names += speakers
        for audience, who, count in arrays["heard"].tolist():
            self._speakers_of[audience, who] = count
        self._forget_changes()

    def _names_after(
        self, chains: int, speakers: int, everything: Mapping[str, NDArray[Any]] | None = None
    ) -> dict[str, NDArray[Any]]:
        """The names that come after so many; with `everything` only those that a row of it has."""
        keys = list(islice(self._chains(), chains, None))
        sessions, names = [session for _, session in keys], self.speaker_names[speakers:]
        if everything is not None:
            sessions = _only_used(sessions, everything["chains"])
            names = _only_used(names, everything["speakers"])
        return {
            "chain_audiences": np.array([audience for audience, _ in keys], dtype=np.int64),
            **_text_arrays("chain_sessions", sessions),
            **_text_arrays("speaker_names", names),
        }

    def _changes(self, touched: Sequence[int], heard: Iterable[tuple[int, int]]) -> dict[str, NDArray[Any]]:
        rows = np.array(touched, dtype=np.int64)
        patches = {f"patched_{name}": self._room[name][rows] for name in CHANGING}
        counts = np.array([(*pair, self._speakers_of[pair]) for pair in heard], dtype=np.int64)
        return {"patched": rows, **patches, "heard": counts.reshape(-1, 3)}

    def _find_by_seq(self, most: int = 0) -> NDArray[np.int32]:
        """The living row of each place in the store, with room for this one; finds where chains end as well."""
        if self._row_of_seq is None:
            is_living = self.audiences != NOBODY
            living = is_living.nonzero()[0]
            self._row_of_seq = np.full(max(int(self.seqs.max(initial=0)) + 1, 1024), NONE, dtype=np.int32)
            self._row_of_seq[self.seqs[living]] = living
            ends = (is_living & (self.chains != NONE) & (self.after == NONE)).nonzero()[0]
            self._last_in_chain = dict(zip(self.chains[ends].tolist(), ends.tolist(), strict=True))
        if most >= len(self._row_of_seq):
            larger = np.full(max(most + 1, 2 * len(self._row_of_seq)), NONE, dtype=np.int32)
            larger[: len(self._row_of_seq)] = self._row_of_seq
            self._row_of_seq = larger
        return self._row_of_seq

    def _chains(self) -> dict[tuple[int, str], int]:
        """By which each audience's session stands in the column."""
        known = self._named_chains
        for arrays in self._unread_chains:
            keys = zip(arrays["chain_audiences"].tolist(), _texts("chain_sessions", arrays), strict=True)
            known.update((key, code) for code, key in enumerate(keys, len(known)))
        self._unread_chains.clear()
        return known

    def _forget_changes(self) -> None:
        self._kept_rows, self._kept_chains, self._kept_speakers = self.rows, self._chain_count, len(self._speakers)
        self._touched: set[int] = set()
        self._heard: set[tuple[int, int]] = set()

    # -- adding --------------------------------------------------------------------------------------

    def _chain(self, audience: int, session: str | None) -> int:
        if session is None:
            return NONE
        code = self._chains().setdefault((audience, session), self._chain_count)
        self._chain_count = max(self._chain_count, code + 1)
        return code

    def _hear(self, audience: int, speaker: int, more: int) -> None:
        self._speakers_of[audience, speaker] += more
        self._heard.add((audience, speaker))

    def _speaker(self, name: str) -> int:
        code = self._speakers.setdefault(name, len(self._speakers))
        if code == len(self.speaker_names):
            self.speaker_names.append(name)
        return code

    def _link(self, row: int, chain: int) -> None:
        """Put the row into its chain, after everything that was not later."""
        before, after = self._room["before"], self._room["after"]
        times, seqs = self._room["times"], self._room["seqs"]
        place = (times[row], seqs[row])
        earlier, later = self._last_in_chain.get(chain, NONE), NONE
        while earlier != NONE and (times[earlier], seqs[earlier]) > place:
            earlier, later = int(before[earlier]), earlier
        before[row], after[row] = earlier, later
        self._touched |= {earlier, later}
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
        self._touched |= {earlier, later}
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
            column = self._room[name]
            if rows > len(column):
                larger = np.empty(max(rows, 2 * len(column), 64), dtype=column.dtype)
                larger[: self.rows] = column[: self.rows]
                self._room[name] = larger

    def around(self, rows: NDArray[np.int64], reach: int) -> NDArray[np.int32]:
        """For each row those around it in its chain: `reach` before, itself, `reach` after; NONE beyond the ends."""
        found = np.full((len(rows), 2 * reach + 1), NONE, dtype=np.int32)
        found[:, reach] = rows
        if not (self.chained and len(rows)):
            return found
        for step, name in ((-1, "before"), (1, "after")):
            # The entry after the last row leads nowhere, and that is where NONE points to.
            links = self._room[name][: self.rows + 1]
            links[-1] = NONE
            here = rows
            for distance in range(1, reach + 1):
                here = links[here]
                found[:, reach + step * distance] = here
        return found


def _only_used(names: Sequence[str], codes: NDArray[Any]) -> list[str]:
    """The names, without those that have no code here: a number that is nobody's name keeps their place."""
    used = set(np.unique(codes).tolist())
    return [name if code in used else f"\0{code}" for code, name in enumerate(names)]


def _text_arrays(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ends": ends}


def _texts(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    content, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    return [content[start:end].decode("utf-8", "surrogatepass") for start, end in zip([0, *ends], ends, strict=False)]
