"""Candidates of a search: the query, and the values that ranking needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay.core.scopes import Visibility
from scrubjay.features.memory.models import MemoryFilter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateQuery:
    """A search for candidates by words, vector and time spans."""

    visibility: Visibility
    filter: MemoryFilter
    choose_terms: Callable[[Sequence[str]], tuple[str, ...]]
    """Returns the search terms in their order, given the speakers of the visible memories."""
    vector: bytes
    model: str
    limit: int
    """Maximum candidates of each search method."""
    time_spans: tuple[tuple[datetime, datetime], ...] = ()
    """Half-open time spans that the question names; memories within them are candidates too."""
    with_uses: bool = False
    """True if ranking needs use counts."""
    now: datetime | None = None
    """Exclude memories that are no longer valid at this time; None, or a filter with `as_of`, disables this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePool:
    """Unranked candidates with the values that ranking needs, as columns.

    The `text_*` columns have one row for each candidate and each of its neighbours; all others, one for each candidate.
    """

    handles: "NDArray[np.int64]"
    """Row numbers of the candidates in the store, ascending; a later memory has a higher one."""
    neighbours: "NDArray[np.intp]"
    """For each candidate, the `text_*` rows of its neighbours in the session: REACH before, itself, REACH after; -1 for
    none."""
    text_occurrences: "NDArray[np.float32]"
    """Number of occurrences of each term in each text."""
    text_bm25: "NDArray[np.float32]"
    """BM25 score of the best passage; 0 if no term matches."""
    text_traits: "NDArray[np.int32]"
    text_speakers: "NDArray[np.int32]"
    """Index of the speaker in `speaker_names`; -1 if unknown."""
    pairs: "NDArray[np.float32]"
    """Number of pairs of adjacent terms that text and question share."""
    lengths: "NDArray[np.float32]"
    """Number of terms in the text."""
    cosines: "NDArray[np.float32]"
    """Cosine of the vectors of memory and question, -1 to 1; NaN if one of them has no vector."""
    z_scores: "NDArray[np.float32]"
    """Standard deviations of the cosine above the mean of all memories; NaN as for `cosines`."""
    vectors: "NDArray[np.float32]"
    """Unit vectors; NaN if there is none."""
    sessions: "NDArray[np.int32]"
    """Candidates of one session have the same number; -1 without a session."""
    times: "NDArray[np.int64]"
    """When it happened, in microseconds since 1970 UTC."""
    recorded_at: "NDArray[np.int64]"
    """When it was stored, likewise."""
    importance: "NDArray[np.float32]"
    confidence: "NDArray[np.float32]"
    uses: "NDArray[np.int64]"
    """Number of recalls; 0 if the query has no `with_uses`."""
    last_used: "NDArray[np.int64]"
    """When it was last recalled, likewise; when it was stored, if never."""
    speaker_names: Sequence[str]
    terms: tuple[str, ...]
    """The search terms."""
    text_count: int
    """Number of visible texts."""
    frequencies: Sequence[int]
    """Number of visible texts that contain each term."""
    term_weights: "NDArray[np.float32]"
    """Weight of each term (IDF)."""
    damaged: int = 0
    """Number of rows of the store that the index leaves out because they are damaged."""
