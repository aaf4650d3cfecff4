"""Store a corpus with its history and caller words in a memory-mapped, checksummed file.

A new process loads it at once and applies only later changes. This module imports numpy, which is slow to load.
"""

import logging
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.search.callers_text import CallerWords
from scrubjay.code_index.search.commit_history import CommitHistory
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile

logger = logging.getLogger("scrubjay.code_index")

NAME = "corpus.bin"
KIND = "code-corpus"
# Increase when the meaning of the arrays changes.
FORMAT = 4
_HISTORY, _USERS = "history.", "users."


class StoredCorpus(NamedTuple):
    """A corpus with everything that the file stores."""

    generation: int
    commit: str | None
    corpus: Corpus
    history: CommitHistory
    users: CallerWords | None = None
    """None while uses are being resolved."""


def read_corpus(folder: Path) -> StoredCorpus | None:
    """Read the file in this folder; None if it is missing, damaged or of another format."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        file = SegmentFile(path, KIND, trusting=True)
        if file.parameters != _parameters():
            return None
        (segment,) = file.segments
        arrays = segment.arrays
        file.mark_verified()
    except (UnusableFile, ValueError) as error:
        logger.warning(
            "a derived file is unusable and will be rebuilt", extra={"file": path.name, "reason": str(error)}
        )
        return None

    def own(part: str) -> dict[str, NDArray[Any]]:
        return {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}

    history, users = CommitHistory.of(own(_HISTORY)), CallerWords.of(own(_USERS))
    return StoredCorpus(segment.meta["generation"], segment.meta["commit"], Corpus.of(arrays), history, users)


def write_corpus(folder: Path, kept: StoredCorpus) -> None:
    """Replace the file in this folder; a failure is logged, as the file only saves time."""
    arrays = kept.corpus.arrays()
    for part, own in ((_HISTORY, kept.history.arrays()), (_USERS, (kept.users or CallerWords()).arrays())):
        arrays |= {f"{part}{name}": array for name, array in own.items()}
    meta = {"generation": kept.generation, "commit": kept.commit}
    try:
        SegmentFile.write(folder / NAME, KIND, _parameters(), [(meta, arrays)])
    except OSError as error:
        logger.warning("a derived file could not be written", extra={"file": NAME, "reason": str(error)})


def _parameters() -> dict[str, int]:
    return {"format": FORMAT, "digest": VERSION}
