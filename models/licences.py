"""Decide from declared licences whether a package may be used for training."""

import re


def _any_name(*names: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(names)})", re.IGNORECASE)


_PERMISSIVE = _any_name(
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
# Any of these refuses the package, even together with a permissive licence.
_RESTRICTIVE = _any_name(
    "[AL]?GPL", "GNU", "MPL", "Mozilla", "EPL", "EUPL", "CDDL", "CC-BY-[NS]", "BUSL", "SSPL", "Elastic",
    "Commons Clause", "Proprietary", "Unlicensed", "See licen[cs]e",
)  # fmt: skip


def is_permissive(statements: list[str]) -> bool:
    """Return True when at least one licence is declared and every statement is permissive without restrictions."""
    return bool(statements) and all(
        _PERMISSIVE.search(statement) and not _RESTRICTIVE.search(statement) for statement in statements
    )
