"""Find the definitions that a change touches: added, removed, renamed, moved, or with another signature or body."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from scrubjay.code_index.diff.files import FileChange, FileVersion
from scrubjay.code_index.models import Language, Symbol, SymbolKind, qualified_name

_WORD = re.compile(rb"\w+")
# Minimum share of equal words for two definitions to be one that was renamed.
MIN_SIMILARITY = 0.6
# Definitions with fewer words must be equal.
FEW_WORDS = 6
MAX_COMPARED = 200
_CALLABLE = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})
_TEXT = frozenset({Language.TEXT, Language.MARKDOWN, Language.JSON, Language.YAML, Language.HTML, Language.CSS})


class Touch(StrEnum):
    """Kind of change of a definition."""

    REMOVED = "removed"
    RENAMED = "renamed"
    MOVED = "moved"
    SIGNATURE = "signature"
    BODY = "body"
    ADDED = "added"
    TOP = "top"
    """Code at the top level of a file, outside of every definition."""


@dataclass(frozen=True, slots=True)
class TouchedDefinition:
    """A definition that a change touches."""

    touch: Touch
    name: str
    """Qualified name, the new one unless it was removed; empty for the top level of a file."""
    path: str
    line: int
    kind: SymbolKind | None
    old_name: str = ""
    """The previous name, if it changed."""
    old_path: str = ""
    signature: str = ""
    old_signature: str = ""
    exported: bool = True


class _Definition(NamedTuple):
    name: str
    symbol: Symbol
    side: FileVersion
    own: bytes
    """Its text without nested definitions."""
    within_callable: bool


def touched_definitions(changes: Iterable[FileChange]) -> list[TouchedDefinition]:
    """Return all definitions that these changes touch, file by file."""
    found: list[TouchedDefinition] = []
    removed: list[_Definition] = []
    added: list[_Definition] = []
    for change in changes:
        before = _definitions(change.before) if change.before else {}
        after = _definitions(change.after) if change.after else {}
        for key, now in after.items():
            if (was := before.get(key)) is None:
                added.append(now)
            elif (one := _compare(was, now)) is not None:
                found.append(one)
        removed += [was for key, was in before.items() if key not in after]
        if change.before and change.after and _top(change.before) != _top(change.after):
            old_path = change.old_path if change.old_path != change.path else ""
            found.append(TouchedDefinition(Touch.TOP, "", change.path, 1, None, old_path=old_path))
    found += _find_renamed(removed, added)
    found += [_make_removed(was) for was in removed if not was.within_callable]
    found += [_make_added(now) for now in added if not now.within_callable]
    return found


def _definitions(side: FileVersion) -> dict[tuple[str, SymbolKind, int], _Definition]:
    """Return the definitions by qualified name, kind and occurrence."""
    if side.facts.language in _TEXT:
        return {}
    symbols = side.facts.symbols
    names = [qualified_name(symbols, index) for index in range(len(symbols))]
    inner: dict[int, list[Symbol]] = {}
    callables: list[tuple[int, int]] = []
    for symbol in symbols:
        inner.setdefault(symbol.container, []).append(symbol)
        if symbol.kind in _CALLABLE:
            callables.append((symbol.span.start, symbol.span.end))
    found: dict[tuple[str, SymbolKind, int], _Definition] = {}
    counted: Counter[tuple[str, SymbolKind]] = Counter()
    for index, (symbol, name) in enumerate(zip(symbols, names, strict=True)):
        if symbol.kind is SymbolKind.SECTION:
            continue
        key = (name, symbol.kind)
        is_within = symbol.kind not in _CALLABLE and any(
            start <= symbol.span.start and symbol.span.end <= end for start, end in callables
        )
        own = _text_without(side.content, symbol.span.start, symbol.span.end, inner.get(index, ()))
        found[*key, counted[key]] = _Definition(name, symbol, side, own, is_within)
        counted[key] += 1
    return found


def _top(side: FileVersion) -> bytes:
    if side.facts.language in _TEXT:
        return b""
    outer = [symbol for symbol in side.facts.symbols if symbol.container < 0]
    return b" ".join(_text_without(side.content, 0, len(side.content), outer).split())


def _text_without(content: bytes, start: int, end: int, inner: Iterable[Symbol]) -> bytes:
    parts: list[bytes] = []
    for symbol in sorted(inner, key=lambda one: one.span.start):
        if symbol.span.start >= start and symbol.span.end <= end:
            parts.append(content[start : symbol.span.start])
            start = symbol.span.end
    return b"".join([*parts, content[start:end]])


def _compare(was: _Definition, now: _Definition) -> TouchedDefinition | None:
    if was.symbol.signature != now.symbol.signature:
        return _make_touched(Touch.SIGNATURE, was, now)
    if was.within_callable or now.within_callable or was.own.split() == now.own.split():
        return None
    return _make_touched(Touch.BODY, was, now)


def _make_touched(touch: Touch, was: _Definition, now: _Definition) -> TouchedDefinition:
    return TouchedDefinition(
        touch,
        now.name,
        now.side.file.path,
        now.symbol.line,
        now.symbol.kind,
        old_name=was.name if was.name != now.name else "",
        old_path=was.side.file.path if was.side.file.path != now.side.file.path else "",
        signature=now.symbol.signature,
        old_signature=was.symbol.signature if was.symbol.signature != now.symbol.signature else "",
        exported=was.symbol.exported or now.symbol.exported,
    )


def _make_removed(was: _Definition) -> TouchedDefinition:
    symbol = was.symbol
    path = was.side.file.path
    return TouchedDefinition(
        Touch.REMOVED,
        was.name,
        path,
        symbol.line,
        symbol.kind,
        old_signature=symbol.signature,
        exported=symbol.exported,
    )


def _make_added(now: _Definition) -> TouchedDefinition:
    symbol = now.symbol
    path = now.side.file.path
    return TouchedDefinition(
        Touch.ADDED, now.name, path, symbol.line, symbol.kind, signature=symbol.signature, exported=symbol.exported
    )


def _find_renamed(removed: list[_Definition], added: list[_Definition]) -> list[TouchedDefinition]:
    """Return definitions that were moved or renamed; removes them from both lists."""
    found: list[TouchedDefinition] = []
    if len(removed) > MAX_COMPARED or len(added) > MAX_COMPARED:
        return found
    outer: dict[tuple[str, str], str] = {}
    """Old name of each renamed or moved definition, by its new path and name."""
    words = {id(one): Counter(_WORD.findall(one.own)) for one in (*removed, *added)}
    alike = sorted(
        (
            (share, was.symbol.name == now.symbol.name, was, now)
            for was in removed
            for now in added
            if was.symbol.kind is now.symbol.kind
            and (share := _similarity(was, now, words[id(was)], words[id(now)])) >= MIN_SIMILARITY
        ),
        key=lambda one: (-one[1], -one[0], one[3].name.count("."), one[3].name),
    )
    taken: set[int] = set()
    for _, _, was, now in alike:
        if id(was) in taken or id(now) in taken:
            continue
        taken |= {id(was), id(now)}
        touch = Touch.MOVED if was.symbol.name == now.symbol.name else Touch.RENAMED
        outer[now.side.file.path, now.name] = was.name
        found.append(_make_touched(touch, was, now))
    removed[:] = [one for one in removed if id(one) not in taken]
    added[:] = [one for one in added if id(one) not in taken]
    # A definition that only moved along with its container is implied by it, unless its signature changed.
    return [one for one in found if not _moved_with_container(one, outer)]


def _moved_with_container(one: TouchedDefinition, outer: Mapping[tuple[str, str], str]) -> bool:
    around, _, _ = one.name.rpartition(".")
    return one.touch is Touch.MOVED and not one.old_signature and (one.path, around) in outer


def _similarity(was: _Definition, now: _Definition, first: Counter[bytes], second: Counter[bytes]) -> float:
    """Return how similar two definitions are, 0 to 1, without their names."""
    same_file = was.side.file.path == now.side.file.path or was.symbol.name == now.symbol.name
    if not same_file and was.symbol.name != now.symbol.name:
        return 0.0
    first, second = (
        Counter({word: count for word, count in counts.items() if word != one.symbol.name.encode()})
        for one, counts in ((was, first), (now, second))
    )
    total = first.total() + second.total()
    if was.symbol.name != now.symbol.name and total < 2 * FEW_WORDS:
        return 1.0 if first == second and total else 0.0
    return 2 * (first & second).total() / total if total else 1.0
