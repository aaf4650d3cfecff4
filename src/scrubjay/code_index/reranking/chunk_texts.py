"""Texts of chunks as sent to an embedding service: secrets masked, each identified by a hash.

This module imports numpy, which is slow to load.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from scrubjay.code_index.discovery.contents import read_contents
from scrubjay.code_index.facts.digest import unpack_search_arrays
from scrubjay.code_index.models import Snapshot, SourceFile
from scrubjay.code_index.secret_masking import mask_secrets
from scrubjay.code_index.store import Content, IndexedFile


def key_of(text: str) -> str:
    """Return the key of a text: a hash, the same for equal texts anywhere."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def texts_of(
    place: Snapshot,
    files: Sequence[IndexedFile],
    digests: Mapping[Content, bytes],
    should_stop: Callable[[], bool],
) -> dict[Content, list[str]]:
    """Return the chunk texts of these files, in order; files that changed or cannot be read are left out."""
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
                found[own] = _cut(mask_secrets(content), digests[own])
    return found


def _cut(content: bytes, digest: bytes) -> list[str]:
    spans = unpack_search_arrays(digest).spans
    return [content[start:end].decode("utf-8", "replace") for start, end in spans[:, :2].tolist()]
