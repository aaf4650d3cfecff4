"""Referents: the definitions, types, modules or libraries that a name or a path of names refers to."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.code_index.graph.definitions import SymbolRef
from scrubjay.code_index.graph.rust_modules import RustModule
from scrubjay.code_index.models import Evidence

_LINK = re.compile(r"([^.\[\](){}]*)((?:\(\)|\[\]|\{\})*)")

PathParts = Sequence[tuple[str, str]]
"""The names of a path, each with its suffixes (`()`, `[]`, `{}`)."""


class Referent(NamedTuple):
    """A resolved name: the definitions, type, module or library that it refers to."""

    kind: str
    """`symbols`, `instance` (of a type), `type`, `module`, `library`, or `unknown` (a value of unknown type)."""
    symbols: Sequence[SymbolRef] = ()
    """The definitions; for an instance or type, those of the type."""
    evidence: Evidence = Evidence.LOCAL
    name: str = ""
    """Name of the type or library."""
    files: Sequence[str] = ()
    """Paths of the files of a module."""
    rust: RustModule | None = None
    """Set only for a module of Rust."""
    is_container: bool = False
    """True for a container of such instances."""


def split_path(path: str) -> PathParts:
    """Split a path into names with their suffixes: `a[].b().c` is `a` with `[]`, `b` with `()`, `c`."""
    parts: list[tuple[str, str]] = []
    for part in path.split("."):
        match = _LINK.match(part)
        parts.append((match.group(1).strip(), match.group(2)) if match else (part, ""))
    return parts
