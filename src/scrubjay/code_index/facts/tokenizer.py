"""Split code into the words that are indexed; queries are split in the same way."""

import re
from functools import cache, lru_cache
from itertools import chain

from scrubjay.search_index.terms import PART, STOP_WORDS, all_terms_uncached, stem

_IDENTIFIER = re.compile(r"\w+")
# Reduces ASCII text to identifiers and spaces: several times as fast as searching with an expression.
_ONLY_IDENTIFIERS = "".join(chr(sign) if chr(sign).isalnum() or sign == ord("_") else " " for sign in range(128))
_UNDERSCORES = re.compile(r"_+")
# "isn't" as a whole; in "it's" and "parser's" only the ending.
_CONTRACTION = re.compile(r"\b[a-z]+n['\u2019]t\b|['\u2019](?:d|ll|m|re|s|ve)\b", re.IGNORECASE)
# A capitalized word that is not the first of its sentence and not an abbreviation.
_NAME = re.compile(r"(?<=[\w,;:)`'\"] )[`'\"(]?([A-Z][a-z]+)\b")
_BESIDE = re.compile(r"[ \t-]?")
# Longer identifiers are encoded data.
_MAX_IDENTIFIER = 128
# Identifiers repeat, so each is split once; the limit keeps random names from filling the memory.
_MAX_CACHED = 400_000

_PART = 0.7
_PAIR = 0.7
# Verbs of change say less about a location than the objects of the change.
_CHANGE = 0.5
_CHANGES = "fix fixes fixed fixing add adds added adding remove removes removed removing support supports supported"


class _Words(dict[str, tuple[str, ...]]):
    """Words by identifier, split on first lookup."""

    def __missing__(self, identifier: str) -> tuple[str, ...]:
        if len(self) >= _MAX_CACHED:
            self.clear()
        words = self[identifier] = tokenize_identifier(identifier)
        return words


class _Stems(dict[str, str]):
    """Stems by identifier part; few distinct parts make up all identifiers."""

    def __missing__(self, part: str) -> str:
        if len(self) >= _MAX_CACHED:
            self.clear()
        found = self[part] = stem(part.lower())
        return found


_known = _Words()
_stems = _Stems()


def tokenize(text: str) -> list[str]:
    """Split code into words, in order: the parts of identifiers, lower-case and stemmed, and their joined form.

    `RootModel` and `root_model` both give `root`, `model` and `=rootmodel`.
    """
    return list(chain.from_iterable(map(_known.__getitem__, find_identifiers(text))))


@lru_cache(maxsize=65_536)
def tokenize_name(name: str) -> tuple[str, ...]:
    """Split a name into words; the last is the whole name: its joined parts with `=`, or its only word."""
    return tuple(tokenize(name)) or (name.lower(),)


def find_identifiers(text: str) -> list[str]:
    """Return the identifiers in code, in order."""
    return text.translate(_ONLY_IDENTIFIERS).split() if text.isascii() else _IDENTIFIER.findall(text)


def query_words(query: str) -> list[tuple[str, float]]:
    """Return the distinct words to search for, with their weights.

    Stop words are left out, unless there is nothing else. Two adjacent words may be one identifier, so they are also
    searched in joined form.
    """
    text = _CONTRACTION.sub(lambda found: " " * len(found.group()), query)
    return _weigh_words(text, _stop_words()) or _weigh_words(text, frozenset())


def capitalized_words(query: str) -> list[str]:
    """Return capitalized words of one part, such as `Router` in "how the Router adds routes"."""
    return [word for name in _NAME.findall(query) if len(own := tokenize(name)) == 1 for word in own]


def _weigh_words(text: str, left_out: frozenset[str]) -> list[tuple[str, float]]:
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
            # In scripts without spaces, words are pairs of characters; none of them is the whole name.
            count(last, 1.0 if last.startswith("=") else _PART)
            before = ""
        else:
            count(last, _CHANGE if last in _change_words() else 1.0)
            if before and _BESIDE.fullmatch(text, before_ends, found.start()):
                count(f"={before}{last}", _PAIR)
            before, before_ends = last, found.end()
    return list(weights.items())


def tokenize_identifier(identifier: str) -> tuple[str, ...]:
    """Split one identifier into words, without caching the result."""
    if len(identifier) > _MAX_IDENTIFIER:
        return ()
    name = _UNDERSCORES.sub("_", identifier).strip("_")
    if not name.isascii():
        return all_terms_uncached(name.replace("_", " "))
    parts = PART.findall(name)
    if len(parts) <= 1:
        return tuple(map(_stems.__getitem__, parts))
    stems = [*map(_stems.__getitem__, parts)]
    return (*stems, "=" + "".join(stems))


def stem_part(part: str) -> str:
    """Return the stem of one part of an identifier."""
    return _stems[part]


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(tokenize(" ".join(STOP_WORDS)))


@cache
def _change_words() -> frozenset[str]:
    return frozenset(tokenize(_CHANGES))
