"""Questions that ask who calls what, told by how they are put."""

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


class AskedCalls(NamedTuple):
    """A question about the calls of one thing."""

    name: str
    incoming: bool
    """Whether it asks who calls it, and not what it calls."""


def asked_calls(query: str) -> AskedCalls | None:
    """Whose calls a question asks for, if it asks for calls at all; names keep their upper and lower case."""
    text = query.strip().rstrip("?.! ")
    for incoming, forms in ((True, _INCOMING), (False, _OUTGOING)):
        for form in forms:
            if match := re.fullmatch(form, text, re.IGNORECASE):
                return AskedCalls(match["name"], incoming)
    return None
