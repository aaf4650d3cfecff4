"""Ids among the arguments of a call, for the audit log."""

import re
from collections.abc import Mapping
from typing import Any, cast

MAX_IDS = 20
_ID = re.compile(r"[a-z]{2,12}_[0-9a-z]{26}", re.ASCII)


def ids_in(arguments: Mapping[str, Any]) -> list[str]:
    """Return the product's ids among the values and in lists of values; longer texts are not searched."""
    found: dict[str, None] = {}
    for value in arguments.values():
        for one in cast(list[Any], value) if isinstance(value, list) else (value,):
            if isinstance(one, str) and _ID.fullmatch(one):
                found[one] = None
            if len(found) == MAX_IDS:
                return list(found)
    return list(found)
