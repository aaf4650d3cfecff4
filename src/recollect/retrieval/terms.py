"""How text becomes the terms that the text index holds; questions and memories are read alike."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

# Scripts written without spaces: each pair of neighbouring characters is a term.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
# Letters and digits, and the vowel signs of Indic scripts, which Python does not count as letters.
_WORD = rf"(?:[^\W_{_UNSPACED}]|[\u0300-\u036f\u0900-\u0dff])"
_CHUNK = re.compile(rf"[{_UNSPACED}]+|{_WORD}+(?:[_'\u2019]{_WORD}+)*")
_UNSPACED_CHUNK = re.compile(rf"[{_UNSPACED}]")
_POSSESSIVE = re.compile(r"['\u2019]s?$|['\u2019](?=\w)")
# Inside an identifier: fooBar, HTTPServer, sha256.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being but by can could did do does doing for
    from had has have having he her here hers him his how i if in into is it its just me more most my no nor not of off
    on once only or other our out over own same she should so some such than that the their them then there these they
    this those through to too under until up us very was we were what when where which while who whom why will with
    would you your
    """.split()  # noqa: SIM905 - read as words, not as a list
)


def terms(text: str) -> tuple[str, ...]:
    """Every term of a text, in order: lower-case, without accents, stemmed; identifiers whole and in parts."""
    return tuple(_terms(text))


def question_terms(text: str) -> tuple[str, ...]:
    """The terms worth looking for, each once: those of a question without its stop words, unless none remain."""
    found = dict.fromkeys(_terms(text))
    telling = tuple(term for term in found if term not in _stemmed_stop_words())
    return telling or tuple(found)


def _terms(text: str) -> Iterator[str]:
    for chunk in _CHUNK.findall(_without_accents(text)):
        yield from _chunk_terms(chunk)


@lru_cache(maxsize=65_536)
def _chunk_terms(chunk: str) -> tuple[str, ...]:
    if _UNSPACED_CHUNK.match(chunk):
        return tuple(_pairs(chunk))
    word = _POSSESSIVE.sub("", chunk)
    pieces = word.split("_")
    parts = [part for piece in pieces for part in _PART.findall(piece)] if word.isascii() else pieces
    return tuple(_stem(part.lower()) for part in ([word, *parts] if len(parts) > 1 else [word]))


def _pairs(chunk: str) -> Iterator[str]:
    if len(chunk) == 1:
        yield chunk
    for first, second in pairwise(chunk):
        yield first + second


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(letter for letter in decomposed if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFKC", kept)


def _stem(word: str) -> str:
    return _stemmer()(word) if word.isalpha() and word.isascii() else word


@cache
def _stemmer() -> Callable[[str], str]:
    import Stemmer

    untyped: Any = Stemmer
    return untyped.Stemmer("english", 0).stemWord  # its cache is not needed: ours is in front of it


@cache
def _stemmed_stop_words() -> frozenset[str]:
    return frozenset(_stem(word) for word in STOP_WORDS)
