"""What a key opens: families of tools, with `:read` only what changes nothing in them."""

from collections.abc import Iterable, Sequence

from scrubjay.core.callers import EVERYTHING, READ_ONLY
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.suggestions import nearest_names

OPEN_TO_ALL = frozenset({"jobs", "tools"})
"""Families that every key opens: they reach nothing but what its other scopes open."""


def parse_scopes(text: str, families: Sequence[str]) -> frozenset[str]:
    """The scopes in a text such as `memory,code:read`; `InvalidRequest` names the nearest to one that there is not."""
    scopes = [part.strip() for part in text.split(",") if part.strip()]
    if not scopes:
        raise InvalidRequest("a key needs at least one scope", hint=_known(families))
    for scope in scopes:
        if scope.removesuffix(READ_ONLY) not in {EVERYTHING, *families}:
            _refuse(scope, families)
    return _without_needless(scopes)


def _without_needless(scopes: Iterable[str]) -> frozenset[str]:
    """Not `memory:read` beside `memory`, and nothing beside everything."""
    chosen = set(scopes)
    if EVERYTHING in chosen:
        return frozenset({EVERYTHING})
    return frozenset(
        scope for scope in chosen if not (scope.endswith(READ_ONLY) and scope[: -len(READ_ONLY)] in chosen)
    )


def _refuse(scope: str, families: Sequence[str]) -> None:
    family, colon, _ = scope.partition(":")
    if colon and family in {EVERYTHING, *families}:
        raise InvalidRequest(f"there is no scope {scope!r}", hint=f"did you mean {family}{READ_ONLY} or {family}?")
    near = nearest_names(family, families)
    hint = f"did you mean {' or '.join(near)}?" if near else _known(families)
    raise InvalidRequest(f"no family of tools is called {family!r}", hint=hint, details={"nearest": list(near)})


def _known(families: Sequence[str]) -> str:
    return f"known: {EVERYTHING}, {', '.join(families)}; each also with {READ_ONLY}"
