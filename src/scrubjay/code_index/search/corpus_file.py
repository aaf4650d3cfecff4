"""A corpus with its history and users in a mapped, checked file: a new process searches at once, and reads only news.

This module imports numpy, which takes a while: import it where it is needed.
"""

import logging
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from scrubjay.code_index.facts.digest_version import VERSION
from scrubjay.code_index.search.callers_text import Users
from scrubjay.code_index.search.commit_history import History
from scrubjay.code_index.search.corpus import Corpus
from scrubjay.search_index.segment_file import SegmentFile, UnusableFile

logger = logging.getLogger("scrubjay.code_index")

NAME = "corpus.bin"
KIND = "code-corpus"
# Raised when the same arrays mean something else than before.
FORMAT = 4
_HISTORY, _USERS = "history.", "users."


class KeptCorpus(NamedTuple):
    """A corpus as it was kept."""

    generation: int
    commit: str | None
    corpus: Corpus
    history: History
    users: Users | None = None
    """None while it is being found out who uses what."""


def read_corpus(folder: Path) -> KeptCorpus | None:
    """What is kept in this folder; None when nothing is, or nothing that can be used."""
    path = folder / NAME
    if not path.exists():
        return None
    try:
        file = SegmentFile(path, KIND, trusting=True)
        if file.parameters != _parameters():
            return None
        (segment,) = file.segments
        arrays = segment.arrays
        file.note_whole()
    except (UnusableFile, ValueError) as error:
        logger.warning("a derived file is made anew", extra={"file": path.name, "reason": str(error)})
        return None

    def own(part: str) -> dict[str, NDArray[Any]]:
        return {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}

    history, users = History.of(own(_HISTORY)), Users.of(own(_USERS))
    return KeptCorpus(segment.meta["generation"], segment.meta["commit"], Corpus.of(arrays), history, users)


def write_corpus(folder: Path, kept: KeptCorpus) -> None:
    """Keep it in the place of what was kept before; a disk that is full costs only time later."""
    arrays = kept.corpus.arrays()
    for part, own in ((_HISTORY, kept.history.arrays()), (_USERS, (kept.users or Users()).arrays())):
        arrays |= {f"{part}{name}": array for name, array in own.items()}
    meta = {"generation": kept.generation, "commit": kept.commit}
    try:
        SegmentFile.write(folder / NAME, KIND, _parameters(), [(meta, arrays)])
    except OSError as error:
        logger.warning("a derived file could not be written", extra={"file": NAME, "reason": str(error)})


def _parameters() -> dict[str, int]:
    return {"format": FORMAT, "digest": VERSION}
