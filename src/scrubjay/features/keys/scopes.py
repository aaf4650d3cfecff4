"""Scopes of a key: tool families; with the suffix `:read` only their read-only tools."""

from collections.abc import Iterable, Sequence

from scrubjay.core.callers import EVERYTHING, READ_ONLY
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.suggestions import nearest_names

ALWAYS_ALLOWED = frozenset({"jobs", "tools"})
"""Families that every key may call, because they only reach what its other scopes allow."""


def parse_scopes(text: str, families: Sequence[str]) -> frozenset[str]:
    """Parse scopes such as `memory,code:read`; raise `InvalidRequest` with suggestions for an unknown one."""
    scopes = [part.strip() for part in text.split(",") if part.strip()]
    if not scopes:
        raise InvalidRequest("a key needs at least one scope", hint=_known(families))
    for scope in scopes:
        if scope.removesuffix(READ_ONLY) not in {EVERYTHING, *families}:
            _refuse(scope, families)
    return _without_redundant(scopes)


def _without_redundant(scopes: Iterable[str]) -> frozenset[str]:
    """Drop scopes that others include, such as `memory:read` next to `memory`."""
    chosen = set(scopes)
    if EVERYTHING in chosen:
        return frozenset({EVERYTHING})
    return frozenset(
        scope for scope in chosen if not (scope.endswith(READ_ONLY) and scope[: -len(READ_ONLY)] in chosen)
    )


def _refuse(scope: str, families: Sequence[str]) -> None:
    family, colon, _ = scope.partition(":")
    if colon and family in {EVERYTHING, *families}:
        raise InvalidRequest(f"unknown scope {scope!r}", hint=f"did you mean {family}{READ_ONLY} or {family}?")
    near = nearest_names(family, families)
    hint = f"did you mean {' or '.join(near)}?" if near else _known(families)
    raise InvalidRequest(f"unknown tool family {family!r}", hint=hint, details={"nearest": list(near)})


def _known(families: Sequence[str]) -> str:
    return f"valid scopes: {EVERYTHING}, {', '.join(families)}; each family also with {READ_ONLY}"
