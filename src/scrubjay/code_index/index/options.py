"""Options of an index, and the id they give it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from scrubjay.code_index.path_text import path_text
from scrubjay.core.errors import NotFound

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
CONTEXT_LINES = 5


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Contents of an index, and defaults of searches in it."""

    excludes: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Languages to index; empty for all."""
    context_lines: int = CONTEXT_LINES
    """Default number of lines shown before and after a hit."""
    disabled_signals: tuple[str, ...] = ()
    """Ranking signals (vector, symbol, graph) that searches do not use by default."""

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"excludes": list(self.excludes), "languages": list(self.languages)}
        # Defaults are left out, so that existing indexes keep their ids.
        if self.context_lines != CONTEXT_LINES:
            data["context_lines"] = self.context_lines
        if self.disabled_signals:
            # The key is part of stored records and of index ids.
            data["unheard"] = sorted(self.disabled_signals)
        return data

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        """Read the options stored with an index."""
        return cls(
            tuple(data.get("excludes", ())),
            tuple(data.get("languages", ())),
            data.get("context_lines", CONTEXT_LINES),
            tuple(data.get("unheard", ())),
        )

    @property
    def features(self) -> dict[str, bool]:
        """Return which ranking signals are enabled."""
        return {name: name not in self.disabled_signals for name in ("vector", "symbol", "graph")}


def index_id_of(root: str, rev: str, options: IndexOptions) -> str:
    """Return the index id of a folder at a revision; it depends only on the arguments, not on the contents."""
    key = json.dumps([path_text(root), rev, options.as_data()], sort_keys=True)
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:16])
    letters = ""
    for _ in range(26):
        number, digit = divmod(number, 32)
        letters += _LETTERS[digit]
    return f"idx_{letters}"


def unknown_index(index_id: str) -> NotFound:
    """Return the error for an index id that does not exist."""
    return NotFound(f"there is no index {index_id[:80]!r}", hint="ensure_repo_index creates one and returns its id")
