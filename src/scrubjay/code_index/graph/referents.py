"""The meaning of a name or of a path of names."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from scrubjay.code_index.graph.definitions import Place
from scrubjay.code_index.graph.rust_modules import RustModule
from scrubjay.code_index.models import Evidence

_LINK = re.compile(r"([^.\[\](){}]*)((?:\(\)|\[\]|\{\})*)")

Links = Sequence[tuple[str, str]]
"""The names of a path, each with its marks (`()`, `[]`, `{}`)."""


class Meaning(NamedTuple):
    """A resolved name."""

    kind: str
    """`symbols`, `instance` (of a type), `type`, `module`, `library`, or `unknown` (a value of no known type)."""
    places: Sequence[Place] = ()
    """The symbols; of an instance or type the type's definitions."""
    evidence: Evidence = Evidence.LOCAL
    name: str = ""
    """Of an instance or type its name, of a library its name."""
    files: Sequence[str] = ()
    """Of a module."""
    rust: RustModule | None = None
    """Of a module of Rust."""
    many: bool = False
    """Whether it is a container of such instances."""


def links_of(path: str) -> Links:
    """Split a path into names with their marks: `a[].b().c` is `a` with `[]`, `b` with `()`, `c`."""
    links: list[tuple[str, str]] = []
    for part in path.split("."):
        match = _LINK.match(part)
        links.append((match.group(1).strip(), match.group(2)) if match else (part, ""))
    return links
