"""Words that are near in meaning: a text may say `arg` and `gzip` where the question says `argument` and `gunzip`.

They come from the bundled table of word vectors; `python -m models.kindred` writes them.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

FILE = "kindred.txt"


@lru_cache(maxsize=4096)
def kindred(word: str) -> tuple[tuple[str, float], ...]:
    """The words near this one, nearest first, each with how near it is; both as `query_words` has them."""
    near = _lines().get(word, "").split()
    return tuple((other, int(hundredths) / 100) for other, hundredths in zip(near[::2], near[1::2], strict=True))


@cache
def _lines() -> Mapping[str, str]:
    """By word what its line has after it: of few words more is ever read."""
    text = (files("scrubjay.code_index.search") / FILE).read_text("utf-8")
    return {word: near for word, _, near in (line.partition(" ") for line in text.splitlines())}
