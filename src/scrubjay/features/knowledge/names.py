"""Normalization of names and predicates: comparison keys, entity ids and index words."""

import re
import unicodedata
from collections.abc import Iterator
from hashlib import sha256

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.knowledge.models import UNTYPED, Entity, IndexedEntity
from scrubjay.search_index.terms import PART, all_terms

MAX_SLUG_CHARACTERS = 50
MAX_TYPE_CHARACTERS = 50
MAX_PREDICATE_CHARACTERS = 100
# 40 bits of a digest: enough to distinguish the names of one graph.
DIGEST_CHARACTERS = 10
# Similar names share the first letters of a word.
PREFIX_CHARACTERS = 4
MAX_INDEX_WORDS = 24

_TRIMMED = " \t\r\n.,;:!?\"'`\u201c\u201d\u2018\u2019()[]{}"
# A name may begin with a dot, as in `.NET`.
_TRIMMED_LEFT = _TRIMMED.replace(".", "")
_SEPARATORS = re.compile(r"[\s_\-]+")
_ARTICLE = re.compile(r"^(?:the|an|a)\s+(?=\S)", re.IGNORECASE)
_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_NOT_IN_PREDICATE = re.compile(r"[^\w]+")
# Predicates that begin with a participle, an adjective or a noun: owned_by, adjacent_to, member_of, instance_of.
_WITHOUT_VERB = re.compile(r"[a-z]+(?:ed|en|wn)_(?:at|by|from|in|on|to|with)|adjacent_to|[a-z]*[a-rt-z]_of|[a-z]+ss_of")
_NUMBER = re.compile(r"\d+")


def clean_name(name: str) -> str:
    """Return a name for display: without surrounding spaces and punctuation, with single spaces."""
    return " ".join(name.lstrip(_TRIMMED_LEFT).rstrip(_TRIMMED).split())


def name_key(name: str) -> str:
    """Return the key by which names are compared: case-folded, separators as `-`, without an article."""
    return _SEPARATORS.sub("-", _ARTICLE.sub("", clean_name(_folded(name)))).strip("-")


def name_keys(name: str) -> list[str]:
    """Return the key of a name, and for an identifier such as `AuthService` also that of its split parts."""
    parts = " ".join(part for word in clean_name(name).split() for part in _parts(word))
    return [*dict.fromkeys(key for key in (name_key(name), name_key(parts)) if key)]


def index_words(name: str) -> list[str]:
    """Return the words by which similar names are found: the name's terms and their prefixes (`auth~`)."""
    words = all_terms(clean_name(name))
    begins = [f"{word[:PREFIX_CHARACTERS]}~" for word in words if len(word) >= PREFIX_CHARACTERS]
    return [*dict.fromkeys((*words, *begins))][:MAX_INDEX_WORDS]


def numbers_in(name: str) -> list[str]:
    return _NUMBER.findall(_folded(name))


def new_entity(name: str, kind: str | None = None) -> Entity:
    """Build the entity of a name. Its id is a function of type and name, so it is the same in every store."""
    shown, key = clean_name(name), name_key(name)
    if not key:
        raise InvalidRequest(f"{name[:80]!r} is not a name", hint="use a name with letters or digits")
    kind = normalize_type(kind)
    return Entity(id=f"{kind}:{_slug(key)}", type=kind, name=shown)


def indexed_entity(entity: Entity) -> IndexedEntity:
    return IndexedEntity(entity=entity, keys=name_keys(entity.name), words=index_words(entity.name))


def normalize_type(kind: str | None) -> str:
    """Return a type in the form used in ids; `entity` without a type."""
    if kind is None or not (key := name_key(kind)):
        return UNTYPED
    return _slug(key)


def normalize_predicate(text: str) -> str:
    """Return a predicate in stored form: lower case, words separated by `_`. `InvalidRequest` when nothing is left."""
    predicate = _NOT_IN_PREDICATE.sub("", re.sub(r"[\s\-]+", "_", _folded(text).strip())).strip("_")
    if not predicate or len(predicate) > MAX_PREDICATE_CHARACTERS:
        raise InvalidRequest(f"{text[:80]!r} is not a valid predicate", hint="use a verb phrase such as depends_on")
    return predicate


def predicate_phrase(predicate: str) -> str:
    return predicate.replace("_", " ")


def predicate_verb(predicate: str) -> str:
    """Return a predicate with the verb that a sentence needs: `is located in` for `located_in`."""
    phrase = predicate_phrase(predicate)
    return f"is {phrase}" if _WITHOUT_VERB.fullmatch(predicate) else phrase


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _parts(word: str) -> Iterator[str]:
    """Yield the parts of a compound identifier, or the word itself."""
    parts: list[str] = PART.findall(word) if word.isascii() and word.isalnum() and not word[0].isdigit() else []
    yield from parts if len(parts) > 1 and not any(part.isdigit() for part in parts) else [word]


def _slug(key: str) -> str:
    """Return a short ASCII form of a key; when information is lost, with a digest of the key."""
    if len(key) <= MAX_SLUG_CHARACTERS and _PLAIN_SLUG.fullmatch(key):
        return key
    digest = sha256(key.encode()).hexdigest()[:DIGEST_CHARACTERS]
    readable = _NOT_IN_SLUG.sub("-", key).strip("-")[: MAX_SLUG_CHARACTERS - DIGEST_CHARACTERS - 1].strip("-")
    return f"{readable}-{digest}" if readable else digest
