"""Regular expressions that are compiled on first use: hooks are short-lived and use few of them."""

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub")


class _LazyPattern:
    """Compiles the pattern at the first access to one of its methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = (pattern, flags)

    def __getattr__(self, name: str) -> Any:  # called only for attributes that are not set yet
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._arguments)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return a stand-in for `re.compile(pattern, flags)` with its search and replace methods."""
    return cast(re.Pattern[str], _LazyPattern(pattern, flags))
