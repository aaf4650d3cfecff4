"""Links to code in the results of tools."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from scrubjay.core.callers import Caller
from scrubjay.features.memory.link_review import LinkReview
from scrubjay.features.memory.link_state import CodeLinkStatus, Comparison
from scrubjay.features.memory.links import CodeLink, LinkOrigin
from scrubjay.tooling.declaration import Result

# Tool family whose read scope allows reading code.
CODE = "code"


class CodeView(Result):
    """Code that a memory is about."""

    name: str = Field(description="Name as the author wrote it.")
    origin: LinkOrigin = Field(description="named: given in about. mentioned: named in the memory's content.")
    state: CodeLinkStatus = Field(
        description="State since the memory was written or last confirmed. current: unchanged. moved: the same text in "
        "another place. changed, gone: the memory may be wrong. pending: the repository is not indexed yet. unknown: "
        "the repository is not on this machine or is no longer indexed."
    )
    path: str | None = Field(description="Current path, or the last one if the code is gone; null while pending.")
    symbol: str | None = Field(description="Qualified name; empty for the whole file.")
    lines: list[int] | None = Field(description="First and last line.")
    commit: str | None = Field(description="Commit that was checked out when the link was made.")


class StaleView(Result):
    """Why a memory may no longer be true."""

    reason: Literal[CodeLinkStatus.CHANGED, CodeLinkStatus.GONE] = Field(
        description="changed: the code has changed. gone: it was removed."
    )
    symbol: str = Field(description="Qualified name; empty for the whole file.")
    path: str = Field(description="Path of the file; empty if you may not read that code, with the reason changed.")
    commit_then: str | None = Field(description="Commit at which the memory was written or last confirmed.")
    commit_now: str | None = Field(description="Commit that is checked out; there may be uncommitted changes.")
    diff: str | None = Field(
        description="Shortened diff; null if the earlier text is not stored, or without the scope code:read."
    )


_HIDDEN_CHANGE = StaleView(
    reason=CodeLinkStatus.CHANGED, symbol="", path="", commit_then=None, commit_now=None, diff=None
)


def linked_views(links: Iterable[CodeLink]) -> list[CodeView]:
    """Return views of links that were just made."""
    return [
        code_view(Comparison(link, CodeLinkStatus.CURRENT if link.code else CodeLinkStatus.PENDING)) for link in links
    ]


def code_view(compared: Comparison) -> CodeView:
    link, code = compared.link, compared.current or compared.link.code
    return CodeView(
        name=link.name,
        origin=link.origin,
        state=compared.status,
        path=code.path if code else None,
        symbol=code.symbol if code else None,
        lines=[code.first_line, code.last_line] if code else None,
        commit=link.code.commit if link.code else None,
    )


def stale_view(reviewed: LinkReview, caller: Caller) -> StaleView | None:
    """Return a view of the first stale link; None if there is none."""
    return next(iter(stale_views(reviewed, caller)), None)


def stale_views(reviewed: LinkReview, caller: Caller) -> list[StaleView]:
    shown = [_stale(one, caller) for one in reviewed.comparisons if one.is_stale]
    return [*shown, _HIDDEN_CHANGE] if reviewed.has_hidden_change else shown


def _stale(compared: Comparison, caller: Caller) -> StaleView:
    then = compared.link.code
    return StaleView(
        reason=CodeLinkStatus.GONE if compared.status is CodeLinkStatus.GONE else CodeLinkStatus.CHANGED,
        symbol=then.symbol if then else "",
        path=then.path if then else "",
        commit_then=then.commit if then else None,
        commit_now=compared.commit,
        diff=compared.diff() if caller.may_read(CODE) else None,
    )
