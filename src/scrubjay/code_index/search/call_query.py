"""Recognize queries about callers and callees, such as "who calls login"."""

import re
from typing import NamedTuple

_NAME = r"[`'\"]?(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*)(?:\(\))?[`'\"]?"
_OF = r"(?:the\s+)?"
_KIND = r"(?:\s+(?:function|method|class|constructor))?"
_INCOMING = (
    rf"(?:who|what|which\s+\w+|what\s+\w+)\s+(?:calls?|uses?|invokes?)\s+{_OF}{_NAME}{_KIND}",
    rf"(?:callers?|usages?|uses)\s+of\s+{_OF}{_NAME}{_KIND}",
    rf"references?\s+to\s+{_OF}{_NAME}{_KIND}",
    rf"where\s+is\s+{_OF}{_NAME}{_KIND}\s+(?:called|used|invoked)",
)
_OUTGOING = (
    rf"(?:what|which\s+\w+)\s+(?:does|do)\s+{_OF}{_NAME}{_KIND}\s+(?:call|use|invoke)",
    rf"(?:functions?|methods?)\s+(?:called|used|invoked)\s+by\s+{_OF}{_NAME}{_KIND}",
    rf"callees?\s+of\s+{_OF}{_NAME}{_KIND}",
)


class CallQuery(NamedTuple):
    """A query for the callers or callees of a name."""

    name: str
    incoming: bool
    """True for callers, false for callees."""


def parse_call_query(query: str) -> CallQuery | None:
    """Return the name and direction that a query asks for; None if it does not ask for calls."""
    text = query.strip().rstrip("?.! ")
    for incoming, forms in ((True, _INCOMING), (False, _OUTGOING)):
        for form in forms:
            if match := re.fullmatch(form, text, re.IGNORECASE):
                return CallQuery(match["name"], incoming)
    return None
