"""Split text into the terms of the text index; queries are split in the same way."""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from scrubjay.core.lazy import lazy_module
from scrubjay.core.lazy_regex import lazy_pattern

if TYPE_CHECKING:
    import unicodedata

    import Stemmer
else:
    Stemmer = lazy_module("Stemmer")
    unicodedata = lazy_module("unicodedata")

# Scripts without spaces: each pair of adjacent characters is a term.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
# Letters, digits, and the vowel signs of Indic scripts, which Python does not count as letters.
_WORD = rf"(?:[^\W_{_UNSPACED}]|[\u0300-\u036f\u0900-\u0dff])"
_CHUNK = lazy_pattern(rf"[{_UNSPACED}]+|{_WORD}+(?:[_'\u2019]{_WORD}+)*")
_ASCII_CHUNK = lazy_pattern(r"[A-Za-z0-9]+(?:[_'][A-Za-z0-9]+)*")  # equivalent for ASCII text, and faster
_UNSPACED_CHUNK = lazy_pattern(rf"[{_UNSPACED}]")
_POSSESSIVE = lazy_pattern(r"['\u2019]s?$|['\u2019](?=\w)")
# Inside an identifier: fooBar, HTTPServer, sha256.
PART = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being but by can could did do does doing for
    from had has have having he her here hers him his how i if in into is it its just me more most my no nor not of off
    on once only or other our out over own same she should so some such than that the their them then there these they
    this those through to too under until up us very was we were what when where which while who whom why will with
    would you your may might must shall let
    """.split()  # noqa: SIM905 - read as words, not as a list
)


# Longer texts, in words, are indexed as passages, which end with a sentence where possible.
LONG_TEXT = 90
PASSAGE_WORDS = 60
_SENTENCE = lazy_pattern(r"[^.!?\n]*(?:[.!?]+[\"')\]]*\s*|\n+|$)")


def terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text, in order: lower-case, without accents, stemmed; identifiers whole and in parts.

    Stop words are left out, unless there is nothing else.
    """
    chunks = _chunks(text)
    significant = tuple(chain.from_iterable(map(_significant_terms, chunks)))
    return significant or tuple(chain.from_iterable(map(_chunk_terms, chunks)))


def significant_terms(text: str) -> tuple[str, ...]:
    """Like `terms`, but without stop words even if there is nothing else."""
    return tuple(chain.from_iterable(map(_significant_terms, _chunks(text))))


def all_terms(text: str) -> tuple[str, ...]:
    """Return all terms of a text, including stop words."""
    return tuple(chain.from_iterable(map(_chunk_terms, _chunks(text))))


def all_terms_uncached(text: str) -> tuple[str, ...]:
    """Like `all_terms`, without caching, for callers that cache the result."""
    return tuple([term for chunk in _chunks(text) for term in _chunk_terms.__wrapped__(chunk)])


def prefix_terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text whose last word is incomplete; that word is not stemmed."""
    chunks = _chunks(text)
    if not chunks:
        return ()
    *whole, last = chunks
    begun = tuple(_pairs(last)) if _UNSPACED_CHUNK.match(last) else (_POSSESSIVE.sub("", last).lower(),)
    return (*chain.from_iterable(map(_significant_terms, whole)), *begun)


def query_terms(text: str) -> tuple[str, ...]:
    """Return the distinct terms to search for."""
    return tuple(dict.fromkeys(terms(text)))


def passages(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the terms of a text as passages: one, or several of a few sentences each if the text is long."""
    if len(text) < LONG_TEXT * 2 or len(text.split(None, LONG_TEXT)) <= LONG_TEXT:
        return (terms(text),)
    return tuple(found for passage in _split_at_sentences(text) if (found := terms(passage))) or ((),)


def _split_at_sentences(text: str) -> Iterator[str]:
    """Yield parts of at most `PASSAGE_WORDS` words that end with a sentence, unless a sentence is longer than that."""
    begun: list[str] = []
    for sentence in _SENTENCE.findall(text):
        words = sentence.split()
        if begun and len(begun) + len(words) > PASSAGE_WORDS:
            yield " ".join(begun)
            begun = []
        begun += words
        while len(begun) > PASSAGE_WORDS:
            yield " ".join(begun[:PASSAGE_WORDS])
            begun = begun[PASSAGE_WORDS:]
    if begun:
        yield " ".join(begun)


@lru_cache(maxsize=65_536)
def _significant_terms(chunk: str) -> tuple[str, ...]:
    stop_words = _stemmed_stop_words()
    return tuple([term for term in _chunk_terms(chunk) if term not in stop_words])


@lru_cache(maxsize=65_536)
def _chunk_terms(chunk: str) -> tuple[str, ...]:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.isupper() or chunk[1:].islower()):
        return (stem(chunk.lower()),)
    if _UNSPACED_CHUNK.match(chunk):
        return tuple(_pairs(chunk))
    word = _POSSESSIVE.sub("", chunk)
    pieces = word.split("_")
    parts = [part for piece in pieces for part in PART.findall(piece)] if word.isascii() else pieces
    return tuple(stem(part.lower()) for part in ([word, *parts] if len(parts) > 1 else [word]))


def _pairs(chunk: str) -> Iterator[str]:
    if len(chunk) == 1:
        yield chunk
    for first, second in pairwise(chunk):
        yield first + second


def _chunks(text: str) -> list[str]:
    return _ASCII_CHUNK.findall(text) if text.isascii() else _CHUNK.findall(_without_accents(text))


def _without_accents(text: str) -> str:
    normalize = unicodedata.normalize
    decomposed = normalize("NFKD", text)
    letters = "".join(letter for letter in decomposed if not "\u0300" <= letter <= "\u036f")
    return normalize("NFKC", letters)


def stem(word: str) -> str:
    if not (word.isalpha() and word.isascii()):
        return word
    return _stemmer()(_base_forms().get(word, word))


# Questions use the base form ("what did she buy?"), answers the past ("bought"); no stemmer knows irregular verbs.
_IRREGULAR = """
    become:became begin:began,begun bite:bit,bitten blow:blew,blown break:broke,broken bring:brought build:built
    buy:bought catch:caught choose:chose,chosen come:came deal:dealt dig:dug draw:drew,drawn dream:dreamt
    drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt fight:fought find:found
    fly:flew,flown forget:forgot,forgotten forgive:forgave,forgiven freeze:froze,frozen get:got,gotten give:gave,given
    go:went,gone,goes grow:grew,grown hang:hung hear:heard hide:hid,hidden hold:held keep:kept know:knew,known lead:led
    learn:learnt leave:left lend:lent lie:lain lose:lost make:made mean:meant meet:met pay:paid ride:rode,ridden
    ring:rang,rung rise:rose,risen run:ran say:said see:saw,seen seek:sought sell:sold send:sent shake:shook,shaken
    shine:shone shoot:shot show:shown sing:sang,sung sink:sank,sunk sit:sat sleep:slept speak:spoke,spoken spend:spent
    stand:stood steal:stole,stolen stick:stuck strike:struck swear:swore,sworn swim:swam,swum take:took,taken
    teach:taught tear:tore,torn tell:told think:thought throw:threw,thrown understand:understood wake:woke,woken
    wear:wore,worn win:won write:wrote,written child:children person:people man:men woman:women foot:feet tooth:teeth
    mouse:mice wife:wives knife:knives
"""


def irregular_forms(base: str) -> tuple[str, ...]:
    """Return the irregular forms that have this base form: "bought" for "buy"."""
    return _forms_of().get(base, ())


@cache
def _forms_of() -> dict[str, tuple[str, ...]]:
    pairs = (entry.split(":") for entry in _IRREGULAR.split())
    return {_stemmer()(base): tuple(forms.split(",")) for base, forms in pairs}


@cache
def _base_forms() -> dict[str, str]:
    pairs = (entry.split(":") for entry in _IRREGULAR.split())
    return {form: base for base, forms in pairs for form in forms.split(",")}


@cache
def _stemmer() -> Callable[[str], str]:
    untyped: Any = Stemmer
    return untyped.Stemmer("english", 0).stemWord  # without its cache: callers cache the result


@cache
def _stemmed_stop_words() -> frozenset[str]:
    return frozenset(stem(word) for word in STOP_WORDS)
