"""Words similar in meaning: code may say `arg` and `gzip` where the query says `argument` and `gunzip`.

The table is computed from the bundled word vectors by `python -m models.related_words`.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

FILE = "related_words.txt"


@lru_cache(maxsize=4096)
def related_words(word: str) -> tuple[tuple[str, float], ...]:
    """Return similar words with their similarity (0 to 1), most similar first; words are tokens of `query_words`."""
    near = _lines().get(word, "").split()
    return tuple((other, int(hundredths) / 100) for other, hundredths in zip(near[::2], near[1::2], strict=True))


@cache
def _lines() -> Mapping[str, str]:
    """Return the unparsed line of each word; few words are ever looked up."""
    text = (files("scrubjay.code_index.search") / FILE).read_text("utf-8")
    return {word: near for word, _, near in (line.partition(" ") for line in text.splitlines())}
