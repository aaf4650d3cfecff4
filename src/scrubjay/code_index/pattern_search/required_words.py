"""Find the identifiers that a text must contain to match a regular expression."""

import re
import warnings
from collections.abc import Iterable, Sequence
from itertools import product
from re import _constants as signs  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from typing import Any, cast

# With more alternatives than this, the search for their words costs more than it saves.
MAX_ALTERNATIVES = 16
MAX_SET_LETTERS = 4
# Markers in an alternative: any text; a non-word character or word boundary; possibly such a boundary.
_ANYTHING, _EDGE, _MAYBE_EDGE = "\0", "\1", "\2"
_MAYBE_BEFORE_EDGE = re.compile("\2+(?=[^\\w\0\2])|(?<=[^\\w\0\2])\2+")
_WHOLE = re.compile("(?<![\\w\0])\\w+(?![\\w\0])")
_signs = cast(Any, signs)


def required_words(pattern: str, flags: int) -> list[list[str]]:
    """Return alternatives, each with the whole identifiers that a match needs; empty if one alternative needs none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = cast(Any, parser).parse(pattern, flags)
    if parsed.state.flags & re.IGNORECASE:
        return []  # the index splits identifiers at capitals
    alternatives = [_words(_ANYTHING + alternative + _ANYTHING) for alternative in _alternatives(parsed)]
    return alternatives if all(alternatives) else []


def _words(alternative: str) -> list[str]:
    resolved = _MAYBE_BEFORE_EDGE.sub(_EDGE, alternative).replace(_MAYBE_EDGE, _ANYTHING)
    return list(dict.fromkeys(_WHOLE.findall(resolved)))


def _alternatives(items: Iterable[tuple[Any, Any]]) -> list[str]:
    """Return the texts that may match, with markers."""
    alternatives = [""]
    for sign, value in items:
        following = _alternatives_of(sign, value)
        if len(alternatives) * len(following) > MAX_ALTERNATIVES:
            following = [_ANYTHING]
        alternatives = [first + second for first, second in product(alternatives, following)]
    return alternatives


def _alternatives_of(sign: Any, value: Any) -> list[str]:
    match sign:
        case _signs.LITERAL:
            return [chr(value) if value > 2 else _EDGE]
        case _signs.IN:
            return _set_alternatives(value)
        case _signs.SUBPATTERN:
            _, added, _, inner = value
            return [_ANYTHING] if added & re.IGNORECASE else _alternatives(inner)
        case _signs.ATOMIC_GROUP:
            return _alternatives(value)
        case _signs.BRANCH:
            found = [alternative for inner in value[1] for alternative in _alternatives(inner)]
            return found if len(found) <= MAX_ALTERNATIVES else [_ANYTHING]
        case _signs.MAX_REPEAT | _signs.MIN_REPEAT | _signs.POSSESSIVE_REPEAT:
            return _repeat(*value)
        case _signs.AT:
            is_inside = value in (_signs.AT_NON_BOUNDARY, _signs.AT_UNI_NON_BOUNDARY)
            return [_ANYTHING if is_inside else _EDGE]
        case _signs.ASSERT | _signs.ASSERT_NOT:
            return [""]
        case _:
            return [_ANYTHING]


def _repeat(min_count: int, max_count: int, inner: Sequence[tuple[Any, Any]]) -> list[str]:
    alternatives = _alternatives(inner)
    if all(alternative and not alternative.strip(_EDGE) for alternative in alternatives):
        return [_EDGE if min_count else _MAYBE_EDGE]
    if min_count == max_count == 1:
        return alternatives
    return [_ANYTHING + alternative + _ANYTHING for alternative in alternatives] if min_count else [_ANYTHING]


def _set_alternatives(members: Sequence[tuple[Any, Any]]) -> list[str]:
    if all(
        (sign == _signs.LITERAL and not (chr(value).isalnum() or value == ord("_")))
        or (sign == _signs.CATEGORY and value in (_signs.CATEGORY_SPACE, _signs.CATEGORY_NOT_WORD))
        for sign, value in members
    ):
        return [_EDGE]
    if len(members) <= MAX_SET_LETTERS and all(sign == _signs.LITERAL for sign, _ in members):
        return [chr(value) if value > 2 else _EDGE for _, value in members]
    return [_ANYTHING]
