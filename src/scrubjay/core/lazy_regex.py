"""Regular expressions that are compiled when they are first used: a hook lives for a moment, and needs few of them."""

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub")


class _Late:
    """Becomes like the compiled one as soon as a method of it is asked for."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:  # only what is not set yet comes here
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def late(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """What `re.compile` gives, as far as searching and replacing go."""
    return cast(re.Pattern[str], _Late(pattern, flags))
