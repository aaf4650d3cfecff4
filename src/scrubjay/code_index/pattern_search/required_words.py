"""Which words a text must have in order to match a regular expression, as far as the expression tells."""

import re
import warnings
from collections.abc import Iterable, Sequence
from itertools import product
from re import _constants as signs  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from typing import Any, cast

# More ways than this to write what matches say too little each.
MOST_WAYS = 16
FEW_LETTERS = 4
# Stand among letters for: anything at all; something that is no part of a word, or the edge of one; nothing or such.
_ANYTHING, _EDGE, _MAYBE_EDGE = "\0", "\1", "\2"
_MAYBE_BEFORE_EDGE = re.compile("\2+(?=[^\\w\0\2])|(?<=[^\\w\0\2])\2+")
_WHOLE = re.compile("(?<![\\w\0])\\w+(?![\\w\0])")
_signs = cast(Any, signs)


def required_words(pattern: str, flags: int) -> list[list[str]]:
    """Ways to match, of each the whole identifiers that it has to have; none when some way has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = cast(Any, parser).parse(pattern, flags)
    if parsed.state.flags & re.IGNORECASE:
        return []  # identifiers are cut into words by their capitals
    ways = [_words(_ANYTHING + way + _ANYTHING) for way in _ways(parsed)]
    return ways if all(ways) else []


def _words(way: str) -> list[str]:
    settled = _MAYBE_BEFORE_EDGE.sub(_EDGE, way).replace(_MAYBE_EDGE, _ANYTHING)
    return list(dict.fromkeys(_WHOLE.findall(settled)))


def _ways(items: Iterable[tuple[Any, Any]]) -> list[str]:
    """What may be written, letter by letter."""
    ways = [""]
    for sign, value in items:
        following = _ways_of(sign, value)
        if len(ways) * len(following) > MOST_WAYS:
            following = [_ANYTHING]
        ways = [first + second for first, second in product(ways, following)]
    return ways


def _ways_of(sign: Any, value: Any) -> list[str]:
    match sign:
        case _signs.LITERAL:
            return [chr(value) if value > 2 else _EDGE]
        case _signs.IN:
            return _of_set(value)
        case _signs.SUBPATTERN:
            _, added, _, inner = value
            return [_ANYTHING] if added & re.IGNORECASE else _ways(inner)
        case _signs.ATOMIC_GROUP:
            return _ways(value)
        case _signs.BRANCH:
            found = [way for inner in value[1] for way in _ways(inner)]
            return found if len(found) <= MOST_WAYS else [_ANYTHING]
        case _signs.MAX_REPEAT | _signs.MIN_REPEAT | _signs.POSSESSIVE_REPEAT:
            return _repeated(*value)
        case _signs.AT:
            is_inside = value in (_signs.AT_NON_BOUNDARY, _signs.AT_UNI_NON_BOUNDARY)
            return [_ANYTHING if is_inside else _EDGE]
        case _signs.ASSERT | _signs.ASSERT_NOT:
            return [""]
        case _:
            return [_ANYTHING]


def _repeated(least: int, most: int, inner: Sequence[tuple[Any, Any]]) -> list[str]:
    ways = _ways(inner)
    if all(way and not way.strip(_EDGE) for way in ways):
        return [_EDGE if least else _MAYBE_EDGE]
    if least == most == 1:
        return ways
    return [_ANYTHING + way + _ANYTHING for way in ways] if least else [_ANYTHING]


def _of_set(members: Sequence[tuple[Any, Any]]) -> list[str]:
    if all(
        (sign == _signs.LITERAL and not (chr(value).isalnum() or value == ord("_")))
        or (sign == _signs.CATEGORY and value in (_signs.CATEGORY_SPACE, _signs.CATEGORY_NOT_WORD))
        for sign, value in members
    ):
        return [_EDGE]
    if len(members) <= FEW_LETTERS and all(sign == _signs.LITERAL for sign, _ in members):
        return [chr(value) if value > 2 else _EDGE for _, value in members]
    return [_ANYTHING]
