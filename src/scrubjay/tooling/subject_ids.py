"""The ids that a call names: what it is about, without a word of what it says."""

import re
from collections.abc import Mapping
from typing import Any, cast

MOST_IDS = 20
_ID = re.compile(r"[a-z]{2,12}_[0-9a-z]{26}", re.ASCII)


def ids_in(arguments: Mapping[str, Any]) -> list[str]:
    """Our own ids among the values and in lists of them; nothing else is taken for one, and no text is looked in."""
    found: dict[str, None] = {}
    for value in arguments.values():
        for one in cast(list[Any], value) if isinstance(value, list) else (value,):
            if isinstance(one, str) and _ID.fullmatch(one):
                found[one] = None
            if len(found) == MOST_IDS:
                return list(found)
    return list(found)
