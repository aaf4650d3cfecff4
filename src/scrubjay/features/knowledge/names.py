"""Names: when two of them mean the same, what ids they make, and how a predicate is written."""

import re
from collections.abc import Iterator
from hashlib import sha256

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.knowledge.models import UNTYPED, Entity, NamedEntity
from scrubjay.search_index.terms import PART, every_term

LONGEST_SLUG = 50
LONGEST_TYPE = 50
LONGEST_PREDICATE = 100
# So much of a digest as two names will not share by chance.
DIGEST_LETTERS = 10
# A name that is only like another begins some word in the same way.
PREFIX_LETTERS = 4
MOST_WORDS = 24

_AROUND = " \t\r\n.,;:!?\"'`\u201c\u201d\u2018\u2019()[]{}"
# A dot may begin a name, as in `.NET`.
_BEFORE = _AROUND.replace(".", "")
_BETWEEN = re.compile(r"[\s_\-]+")
_ARTICLE = re.compile(r"^(?:the|an|a)\s+(?=\S)", re.IGNORECASE)
_FAITHFUL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_NOT_IN_PREDICATE = re.compile(r"[^\w]+")
_NUMBER = re.compile(r"\d+")


def tidy(name: str) -> str:
    """A name as it is shown: without spaces and marks around it, and with one space between words."""
    return " ".join(name.lstrip(_BEFORE).rstrip(_AROUND).split())


def key_of(name: str) -> str:
    """What names have in common that mean the same: letters of either case, words parted in any way, no article."""
    return _BETWEEN.sub("-", _ARTICLE.sub("", tidy(_folded(name)))).strip("-")


def keys_of(name: str) -> list[str]:
    """Its key; and of an identifier such as `AuthService` also that of its parts."""
    parts = " ".join(part for word in tidy(name).split() for part in _parts(word))
    return [*dict.fromkeys(key for key in (key_of(name), key_of(parts)) if key)]


def words_of(name: str) -> list[str]:
    """What a name shares with names that are like it: its words, and how they begin."""
    words = every_term(tidy(name))
    begins = [f"{word[:PREFIX_LETTERS]}~" for word in words if len(word) >= PREFIX_LETTERS]
    return [*dict.fromkeys((*words, *begins))][:MOST_WORDS]


def numbers_in(name: str) -> list[str]:
    return _NUMBER.findall(_folded(name))


def entity_of(name: str, kind: str | None = None) -> Entity:
    """The entity that a name makes. Its id is the same whoever makes it, and another for every other name."""
    shown, key = tidy(name), key_of(name)
    if not key:
        raise InvalidRequest(f"{name[:80]!r} is no name", hint="name it by words")
    kind = type_of(kind)
    return Entity(id=f"{kind}:{_slug(key)}", type=kind, name=shown)


def named(entity: Entity) -> NamedEntity:
    return NamedEntity(entity=entity, keys=keys_of(entity.name), words=words_of(entity.name))


def type_of(kind: str | None) -> str:
    """A type as ids have it."""
    if kind is None or not (key := key_of(kind)):
        return UNTYPED
    return _slug(key)


def predicate_of(text: str) -> str:
    """A predicate as it is kept: small letters, with `_` between words and nothing else."""
    predicate = _NOT_IN_PREDICATE.sub("", re.sub(r"[\s\-]+", "_", _folded(text).strip())).strip("_")
    if not predicate or len(predicate) > LONGEST_PREDICATE:
        raise InvalidRequest(
            f"{text[:80]!r} is no predicate", hint="say by a verb how the two are related, such as depends_on"
        )
    return predicate


def spoken(predicate: str) -> str:
    return predicate.replace("_", " ")


def _folded(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKC", text).casefold()


def _parts(word: str) -> Iterator[str]:
    """The parts of an identifier; a word that is none is its only part."""
    parts: list[str] = PART.findall(word) if word.isascii() and word.isalnum() and not word[0].isdigit() else []
    yield from parts if len(parts) > 1 and not any(part.isdigit() for part in parts) else [word]


def _slug(key: str) -> str:
    """A short form of a key; where it cannot tell all of it, with a digest of the whole."""
    if len(key) <= LONGEST_SLUG and _FAITHFUL.fullmatch(key):
        return key
    digest = sha256(key.encode()).hexdigest()[:DIGEST_LETTERS]
    readable = _NOT_IN_SLUG.sub("-", key).strip("-")[: LONGEST_SLUG - DIGEST_LETTERS - 1].strip("-")
    return f"{readable}-{digest}" if readable else digest
