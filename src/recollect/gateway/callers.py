"""Who a request comes from, as the edge found out."""

from collections.abc import Mapping
from typing import Any

from recollect.domain.callers import OWNER, Caller


def caller_of(scope: Mapping[str, Any]) -> Caller:
    """Whom the edge let in with this request; the owner where no edge stands in front."""
    return scope.get("state", {}).get("caller", OWNER)
