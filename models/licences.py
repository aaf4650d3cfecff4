"""Which licences let a package be trained on, judged by what its metadata declares."""

import re


def _any_of(*names: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(names)})", re.IGNORECASE)


_PERMISSIVE = _any_of(
    "0BSD",
    "Apache",
    "BlueOak",
    "BSD",
    "CC0",
    "Expat",
    "HPND",
    "ISC",
    "MIT",
    "PSF",
    "Python Software",
    "Unlicense",
    "Zlib",
)
# One of these anywhere refuses the package, also beside a permissive one.
_RESTRICTIVE = _any_of(
    "[AL]?GPL", "GNU", "MPL", "Mozilla", "EPL", "EUPL", "CDDL", "CC-BY-[NS]", "BUSL", "SSPL", "Elastic",
    "Commons Clause", "Proprietary", "Unlicensed", "See licen[cs]e",
)  # fmt: skip


def permissive(statements: list[str]) -> bool:
    """Whether a licence is declared, every statement is permissive and none restricts."""
    return bool(statements) and all(
        _PERMISSIVE.search(statement) and not _RESTRICTIVE.search(statement) for statement in statements
    )
