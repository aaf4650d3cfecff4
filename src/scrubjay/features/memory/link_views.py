"""Code that memories are about, as tools show it."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from scrubjay.features.memory.link_review import Reviewed
from scrubjay.features.memory.link_state import Comparison, Standing
from scrubjay.features.memory.links import CodeLink, LinkOrigin
from scrubjay.tooling.declaration import Result


class CodeView(Result):
    """Code that a memory is about."""

    name: str = Field(description="As it was written.")
    origin: LinkOrigin = Field(description="named: in about. mentioned: in the memory's words.")
    state: Standing = Field(
        description="Compared with what it was when the memory was written or last confirmed. moved: the same text, "
        "elsewhere. pending: the repository was not indexed yet. unknown: it is not here, or not indexed any more."
    )
    path: str | None = Field(description="Where it is, or was before it went; null while it is pending.")
    symbol: str | None = Field(description="Its qualified name; empty for the whole file.")
    lines: list[int] | None = Field(description="The first line and the last.")
    commit: str | None = Field(description="The commit that was checked out when the memory was linked to it.")


class StaleView(Result):
    """Why a memory may not be true any more."""

    reason: Literal[Standing.CHANGED, Standing.GONE] = Field(description="What became of the code.")
    symbol: str = Field(description="Its qualified name; empty for the whole file.")
    path: str
    commit_then: str | None = Field(description="The commit at which the memory was written or last confirmed.")
    commit_now: str | None = Field(description="The commit that is checked out; there may be changes on top of it.")
    diff: str | None = Field(description="What changed, shortened; null when what it was is not kept.")


def linked_views(links: Iterable[CodeLink]) -> list[CodeView]:
    """Links that were just made."""
    return [code_view(Comparison(link, Standing.CURRENT if link.code else Standing.PENDING)) for link in links]


def code_view(compared: Comparison) -> CodeView:
    link, code = compared.link, compared.now or compared.link.code
    return CodeView(
        name=link.name,
        origin=link.origin,
        state=compared.standing,
        path=code.path if code else None,
        symbol=code.symbol if code else None,
        lines=[code.first_line, code.last_line] if code else None,
        commit=link.code.commit if link.code else None,
    )


def stale_view(reviewed: Reviewed) -> StaleView | None:
    """The first of its code that is not what it was."""
    return next((_stale(one) for one in reviewed.comparisons if one.is_stale), None)


def stale_views(reviewed: Reviewed) -> list[StaleView]:
    return [_stale(one) for one in reviewed.comparisons if one.is_stale]


def _stale(compared: Comparison) -> StaleView:
    then = compared.link.code
    return StaleView(
        reason=Standing.GONE if compared.standing is Standing.GONE else Standing.CHANGED,
        symbol=then.symbol if then else "",
        path=then.path if then else "",
        commit_then=then.commit if then else None,
        commit_now=compared.commit,
        diff=compared.diff(),
    )
