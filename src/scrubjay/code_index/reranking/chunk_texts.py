"""The texts of chunks as they are sent to a service: without secrets, each known by a key of its own.

This module imports numpy, which takes a while: import it where it is needed.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from scrubjay.code_index.discovery.contents import read_contents
from scrubjay.code_index.facts.digest import unpacked_searchable
from scrubjay.code_index.models import Snapshot, SourceFile
from scrubjay.code_index.secret_masking import hidden
from scrubjay.code_index.store import Content, IndexedFile


def key_of(text: str) -> str:
    """By which a text is known, wherever it stands."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def texts_of(
    place: Snapshot,
    files: Sequence[IndexedFile],
    digests: Mapping[Content, bytes],
    should_stop: Callable[[], bool],
) -> dict[Content, list[str]]:
    """The texts of the chunks of these files, in order. What cannot be read as it was is left out."""
    wanted = {
        file.path: SourceFile(file.path, file.content.blob, file.size, file.content.language, file.traits, file.dirty)
        for file in files
        if file.content in digests
    }
    found: dict[Content, list[str]] = {}
    with suppress(OSError):  # the folder is gone
        for source, content in read_contents(place, wanted.values(), should_stop=should_stop):
            if content is not None:
                own = Content(source.blob, source.language)
                found[own] = _cut(hidden(content), digests[own])
    return found


def _cut(content: bytes, digest: bytes) -> list[str]:
    spans = unpacked_searchable(digest).spans
    return [content[start:end].decode("utf-8", "replace") for start, end in spans[:, :2].tolist()]
