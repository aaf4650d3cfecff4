"""A corpus and its history in a mapped, checked file: a new process searches at once, and reads only what is newer.

This module imports numpy, which takes a while: import it where it is needed.
"""

import logging
from pathlib import Path
from typing import NamedTuple

from recollect.codebase.digest import VERSION
from recollect.codebase.search.corpus import Corpus
from recollect.codebase.search.history import History
from recollect.storage.derived.segment_file import SegmentFile, UnusableFile

logger = logging.getLogger("recollect.codebase")

NAME = "corpus.bin"
KIND = "code-corpus"
# Raised when the same arrays mean something else than before.
FORMAT = 1
_HISTORY = "history."


class KeptCorpus(NamedTuple):
    """A corpus as it was kept."""

    generation: int
    commit: str | None
    corpus: Corpus
    history: History


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
    history = {name.removeprefix(_HISTORY): array for name, array in arrays.items() if name.startswith(_HISTORY)}
    meta = segment.meta
    return KeptCorpus(meta["generation"], meta["commit"], Corpus.of(arrays), History.of(history))


def write_corpus(folder: Path, kept: KeptCorpus) -> None:
    """Keep it in the place of what was kept before; a disk that is full costs only time later."""
    arrays = kept.corpus.arrays() | {f"{_HISTORY}{name}": array for name, array in kept.history.arrays().items()}
    meta = {"generation": kept.generation, "commit": kept.commit}
    try:
        SegmentFile.write(folder / NAME, KIND, _parameters(), [(meta, arrays)])
    except OSError as error:
        logger.warning("a derived file could not be written", extra={"file": NAME, "reason": str(error)})


def _parameters() -> dict[str, int]:
    return {"format": FORMAT, "digest": VERSION}
