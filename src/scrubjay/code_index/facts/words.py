"""How code becomes the words that its index holds; questions about code are read alike."""

import re
from functools import cache, lru_cache
from itertools import chain

from scrubjay.search_index.terms import PART, STOP_WORDS, every_term_once, stemmed

_IDENTIFIER = re.compile(r"\w+")
# Leaves of plain text the identifiers and spaces, which is several times as fast as looking for them.
_ONLY_IDENTIFIERS = "".join(chr(sign) if chr(sign).isalnum() or sign == ord("_") else " " for sign in range(128))
_UNDERSCORES = re.compile(r"_+")
# "isn't" as a whole; of "it's" and "parser's" only the ending.
_CONTRACTION = re.compile(r"\b[a-z]+n['\u2019]t\b|['\u2019](?:d|ll|m|re|s|ve)\b", re.IGNORECASE)
# A word with a capital that a sentence does not begin with, and that is no abbreviation.
_NAME = re.compile(r"(?<=[\w,;:)`'\"] )[`'\"(]?([A-Z][a-z]+)\b")
_BESIDE = re.compile(r"[ \t-]?")
# Longer ones are encoded data.
_LONGEST_IDENTIFIER = 128
# Identifiers repeat, so each is read once; a repository of random names must not fill the memory.
_MOST_KEPT = 400_000

_PART = 0.7
_PAIR = 0.7
# What a change does tells less of where it belongs than what it is about.
_CHANGE = 0.5
_CHANGES = "fix fixes fixed fixing add adds added adding remove removes removed removing support supports supported"


class _Words(dict[str, tuple[str, ...]]):
    """The words of each identifier, read when it is first seen."""

    def __missing__(self, identifier: str) -> tuple[str, ...]:
        if len(self) >= _MOST_KEPT:
            self.clear()
        words = self[identifier] = words_in(identifier)
        return words


class _Stems(dict[str, str]):
    """What the parts of identifiers are counted as: the same few are in all of them."""

    def __missing__(self, part: str) -> str:
        if len(self) >= _MOST_KEPT:
            self.clear()
        stem = self[part] = stemmed(part.lower())
        return stem


_known = _Words()
_stems = _Stems()


def words_of(text: str) -> list[str]:
    """The words of code, in order: identifiers in parts, lower-case and stemmed; of several parts also joined.

    `RootModel` and `root_model` both are `root`, `model` and `=rootmodel`.
    """
    return list(chain.from_iterable(map(_known.__getitem__, identifiers_of(text))))


@lru_cache(maxsize=65_536)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a name; the last one is the whole of it: the joined parts with `=`, or its only word."""
    return tuple(words_of(name)) or (name.lower(),)


def identifiers_of(text: str) -> list[str]:
    """The identifiers of code, in order."""
    return text.translate(_ONLY_IDENTIFIERS).split() if text.isascii() else _IDENTIFIER.findall(text)


def query_words(query: str) -> list[tuple[str, float]]:
    """The words to look for, each once, with what each counts.

    Stop words are left out, unless nothing else is there. Two words side by side may be one identifier: they are looked
    for joined as well.
    """
    text = _CONTRACTION.sub(lambda found: " " * len(found.group()), query)
    return _weighed(text, _stop_words()) or _weighed(text, frozenset())


def names_in(query: str) -> list[str]:
    """The words that are written as a name of one word is, such as `Router` in "how the Router adds routes"."""
    return [word for name in _NAME.findall(query) if len(own := words_of(name)) == 1 for word in own]


def _weighed(text: str, left_out: frozenset[str]) -> list[tuple[str, float]]:
    weights: dict[str, float] = {}

    def count(word: str, weight: float) -> None:
        weights[word] = max(weight, weights.get(word, 0.0))

    before, before_ends = "", -1
    for found in _IDENTIFIER.finditer(text):
        *parts, last = _known[found.group()] or ("",)
        if not last or (not parts and last in left_out):
            before = ""
        elif parts:
            for part in parts:
                if part not in left_out:
                    count(part, _PART)
            # Words of a script without spaces are pairs of characters, and none is the whole.
            count(last, 1.0 if last.startswith("=") else _PART)
            before = ""
        else:
            count(last, _CHANGE if last in _change_words() else 1.0)
            if before and _BESIDE.fullmatch(text, before_ends, found.start()):
                count(f"={before}{last}", _PAIR)
            before, before_ends = last, found.end()
    return list(weights.items())


def words_in(identifier: str) -> tuple[str, ...]:
    """The words of one identifier, for who keeps them: nothing of it is kept here."""
    if len(identifier) > _LONGEST_IDENTIFIER:
        return ()
    name = _UNDERSCORES.sub("_", identifier).strip("_")
    if not name.isascii():
        return every_term_once(name.replace("_", " "))
    parts = PART.findall(name)
    if len(parts) <= 1:
        return tuple(map(_stems.__getitem__, parts))
    stems = [*map(_stems.__getitem__, parts)]
    return (*stems, "=" + "".join(stems))


def stem_of(part: str) -> str:
    """What one part of an identifier is counted as."""
    return _stems[part]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(words_of(" ".join(STOP_WORDS)))


@cache
def _change_words() -> frozenset[str]:
    return frozenset(words_of(_CHANGES))
