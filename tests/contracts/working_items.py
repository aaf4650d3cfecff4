"""Sample items of working memory."""

from datetime import timedelta
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.features.working_memory.models import WorkingItem, WorkingScope
from tests.contracts.samples import NOW

HERE = WorkingScope("prj_a", "s1")
ELSEWHERE = [WorkingScope("prj_b", "s1"), WorkingScope("prj_a", "s2"), WorkingScope(None, "s1")]
SOON, LATER = NOW + timedelta(seconds=60), NOW + timedelta(seconds=300)


def item(content: str, **fields: Any) -> WorkingItem:
    defaults: dict[str, Any] = {
        "id": new_id("wrk"),
        "scope": HERE,
        "created_at": NOW,
        "expires_at": LATER,
        "accessed_at": NOW,
    }
    return WorkingItem(content=content, **(defaults | fields))
