"""What is known of every row beside its words and its vector: whose it is, when it was, what came before and after."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

# The audience of a row that was replaced or deleted; nobody is in it.
NOBODY: Final = -1
# Where a chain of rows ends, and the speaker of what nobody said.
NONE: Final = -1

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
    "before": np.int32,
    "after": np.int32,
}


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


class RowColumns:
    """The rows in the order they came. They are only added; one that was replaced or deleted belongs to nobody.

    Rows of one audience and session make a chain in the order of their time, so that what was said just before and
    just after is found at once.
    """

    def __init__(self) -> None:
        self._room: dict[str, NDArray[Any]] = {name: np.empty(0, dtype=kind) for name, kind in COLUMNS.items()}
        self._row_of_seq: NDArray[np.int32] = np.full(1024, NONE, dtype=np.int32)
        self._chains: dict[tuple[int, str], int] = {}
        self._last_in_chain: dict[int, int] = {}
        self._speakers: dict[str, int] = {}
        self._speakers_of: Counter[tuple[int, int]] = Counter()
        self.speaker_names: list[str] = []
        self.rows = 0
        self.dead = 0

    def __getattr__(self, name: str) -> NDArray[Any]:
        """A column, as long as there are rows."""
        try:
            return self.__dict__["_room"][name][: self.rows]
        except KeyError:
            raise AttributeError(name) from None

    def add(self, entries: Sequence[Entry]) -> None:
        """Add these; a row of the same place in the store is dead from now on."""
        if not entries:
            return
        self.kill([entry.seq for entry in entries])
        # One entry more than there are rows, see `around`.
        self._grow(self.rows + len(entries) + 1, max(entry.seq for entry in entries))
        for entry in entries:
            self._add(entry)

    def kill(self, seqs: Iterable[int]) -> None:
        """Whatever these rows were, they are no more."""
        for seq in seqs:
            row = self.row_of(seq)
            if row != NONE:
                self._unlink(row)
                audience, speaker = int(self.audiences[row]), int(self.speakers[row])
                if speaker != NONE:
                    self._speakers_of[audience, speaker] -= 1
                self.audiences[row] = NOBODY
                self._row_of_seq[seq] = NONE
                self.dead += 1

    def row_of(self, seq: int) -> int:
        """The living row of this place in the store, or NONE."""
        return int(self._row_of_seq[seq]) if seq < len(self._row_of_seq) else NONE

    @property
    def chained(self) -> bool:
        """Whether any row has others around it."""
        return bool(self._last_in_chain)

    def speakers_among(self, audiences: Iterable[int]) -> list[str]:
        """Who said something that these audiences may see."""
        wanted = set(audiences)
        codes = {speaker for (audience, speaker), count in self._speakers_of.items() if count and audience in wanted}
        return [self.speaker_names[code] for code in sorted(codes)]

    # -- files ---------------------------------------------------------------------------------------

    def living(self) -> NDArray[np.int64]:
        """The rows that were neither replaced nor deleted, ascending."""
        return (self.audiences != NOBODY).nonzero()[0]

    def arrays_of(self, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """What a segment with all living rows consists of."""
        arrays: dict[str, NDArray[Any]] = {name: self._room[name][rows] for name in COLUMNS}
        place_of = np.full(self.rows + 1, NONE, dtype=np.int32)
        place_of[rows] = np.arange(len(rows), dtype=np.int32)
        for name in ("before", "after"):
            arrays[name] = place_of[arrays[name]]
        keys = list(self._chains)
        arrays["chain_audiences"] = np.array([audience for audience, _ in keys], dtype=np.int64)
        arrays |= _text_arrays("chain_sessions", [session for _, session in keys])
        arrays |= _text_arrays("speaker_names", self.speaker_names)
        heard = [(*pair, count) for pair, count in self._speakers_of.items() if count]
        arrays["heard"] = np.array(heard, dtype=np.int64).reshape(-1, 3)
        return arrays

    def attach(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Begin with the rows that `arrays_of` gave."""
        if self.rows:
            raise ValueError("there are rows already")
        rows = len(arrays["seqs"])
        if rows:
            self._grow(rows + 1, int(arrays["seqs"].max()))
        for name in COLUMNS:
            self._room[name][:rows] = arrays[name]
        self.rows = rows
        self._row_of_seq[self.seqs] = np.arange(rows, dtype=np.int32)
        ends = ((self.chains != NONE) & (self.after == NONE)).nonzero()[0]
        self._last_in_chain = dict(zip(self.chains[ends].tolist(), ends.tolist(), strict=True))
        keys = zip(arrays["chain_audiences"].tolist(), _texts("chain_sessions", arrays), strict=True)
        self._chains = {key: code for code, key in enumerate(keys)}
        self.speaker_names = _texts("speaker_names", arrays)
        self._speakers = {name: code for code, name in enumerate(self.speaker_names)}
        self._speakers_of = Counter({(audience, who): count for audience, who, count in arrays["heard"].tolist()})

    # -- adding --------------------------------------------------------------------------------------

    def _add(self, entry: Entry) -> None:
        row = self.rows
        speaker = NONE if entry.speaker is None else self._speaker(entry.speaker)
        chain = NONE
        if entry.session is not None:
            chain = self._chains.setdefault((entry.audience, entry.session), len(self._chains))
        values = (entry.seq, entry.audience, chain, entry.time, entry.recorded, speaker, entry.traits)
        values += (entry.importance, entry.confidence, NONE, NONE)
        for name, value in zip(COLUMNS, values, strict=True):
            self._room[name][row] = value
        self._row_of_seq[entry.seq] = row
        if speaker != NONE:
            self._speakers_of[entry.audience, speaker] += 1
        self.rows += 1
        if chain != NONE:
            self._link(row, chain)

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
        if earlier != NONE:
            self.after[earlier] = later
        if later != NONE:
            self.before[later] = earlier
        elif earlier != NONE:
            self._last_in_chain[chain] = earlier
        else:
            del self._last_in_chain[chain]
        self.before[row] = self.after[row] = NONE

    def _grow(self, rows: int, seq: int) -> None:
        for name, column in self._room.items():
            if rows > len(column):
                larger = np.empty(max(rows, 2 * len(column), 64), dtype=column.dtype)
                larger[: self.rows] = column[: self.rows]
                self._room[name] = larger
        if seq >= len(self._row_of_seq):
            larger = np.full(max(seq + 1, 2 * len(self._row_of_seq)), NONE, dtype=np.int32)
            larger[: len(self._row_of_seq)] = self._row_of_seq
            self._row_of_seq = larger

    def around(self, rows: NDArray[np.int64], reach: int) -> NDArray[np.int32]:
        """For each row those around it in its chain: `reach` before, itself, `reach` after; NONE beyond the ends."""
        found = np.full((len(rows), 2 * reach + 1), NONE, dtype=np.int32)
        found[:, reach] = rows
        if not self.chained:
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


def _text_arrays(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ends": ends}


def _texts(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    content, ends = arrays[name].tobytes(), arrays[f"{name}_ends"].tolist()
    return [content[start:end].decode("utf-8", "surrogatepass") for start, end in zip([0, *ends], ends, strict=False)]
