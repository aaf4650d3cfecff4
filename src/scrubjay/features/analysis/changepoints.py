"""Where a series becomes another one: its level, its slope or its spread.

A segment without a change is a level or a line with noise. One change more, at the best place for it, is believed when
it explains more than noise would at the best of all places: by Schwarz's criterion with two parameters for the place
and one for the size (Zhang and Siegmund). The narrowest stretch that shows a change is taken first, so that a change
is not blurred by the next one; then each place is looked for again between its neighbours.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import standardised
from scrubjay.features.analysis.models import Changepoint, ChangeType

Values = NDArray[np.float64]

# Fewer points than this tell of no change; and a change has at least so many points on both sides.
LEAST_POINTS, LEAST_SIDE = 10, 3
# A spread is known from more points than a level.
LEAST_SPREAD_SIDE = 8
# What a change costs, in logarithms of the number of points: its place two, its size one.
_COST = 3.0
# Stretches down to this width are looked at by themselves.
NARROWEST = 20
# Farther out than so many robust standard deviations, a point says nothing about the spread.
_FAR = 3.5
# Of standardised values: less than this is rounding.
_ROUNDING = 1e-20


@dataclass(frozen=True, slots=True)
class _Change:
    at: int
    gain: float
    """By how much Schwarz's criterion prefers the change."""
    kind: ChangeType

    @property
    def confidence(self) -> float:
        """The weight of the change against none, by Schwarz's criterion."""
        return 1.0 / (1.0 + exp(-min(self.gain, 700.0) / 2))


def changes(name: str, values: Values, doubt: float) -> list[Changepoint]:
    """The changes of a series that are doubted less than this."""
    scaled = standardised(values)
    if scaled is None or len(values) < LEAST_POINTS:
        return []
    needed, cost = 2 * log((1 - doubt) / doubt), _COST * log(len(scaled))
    places = _refined(scaled, _split(scaled, needed, cost), needed, cost)
    rest = _residuals(scaled, [one.at for one in places])
    spreads = [] if rest is None else _spread_changes(rest, needed, cost)
    return [
        Changepoint(variable=name, index=one.at, confidence=one.confidence, change_type=one.kind)
        for one in sorted([*places, *spreads], key=lambda one: one.at)
    ]


def _split(values: Values, needed: float, cost: float) -> list[_Change]:
    """Changes, each by the narrowest stretch that shows it; then those that only a whole gap between two shows."""
    found: list[_Change] = []
    for stretches in _widths(len(values)):
        shown = [
            (one, start, end)
            for start, end in stretches
            if not _within(found, start, end)
            and (one := _one_change(values, start, end, cost)) is not None
            and one.gain >= needed
        ]
        for one, start, end in sorted(shown, key=lambda item: -item[0].gain):
            if not _within(found, start, end):
                insort(found, one, key=_place)
    gaps = _gaps(found, len(values))
    while gaps:
        start, end = gaps.pop()
        if (one := _one_change(values, start, end, cost)) is not None and one.gain >= needed:
            insort(found, one, key=_place)
            gaps += [(start, one.at), (one.at, end)]
    return found


def _place(change: _Change) -> int:
    return change.at


def _within(found: list[_Change], start: int, end: int) -> bool:
    """Whether one of these, in order, is between both places."""
    place = bisect_right(found, start, key=_place)
    return place < len(found) and found[place].at < end


def _gaps(found: list[_Change], length: int) -> list[tuple[int, int]]:
    places = [0, *(one.at for one in found), length]
    return list(pairwise(places))


def _widths(length: int) -> Iterator[list[tuple[int, int]]]:
    """Stretches that overlap by halves, from the narrowest to the whole."""
    width, widths = length, [length]
    while (width := ceil(width / 2)) >= NARROWEST:
        widths.append(width)
    for width in reversed(widths):
        step = max(1, width // 2)
        yield [(start, start + width) for start in (*range(0, length - width, step), length - width)]


def _refined(values: Values, changes: list[_Change], needed: float, cost: float) -> list[_Change]:
    """Each change where it is best between its neighbours; what is not seen there any more is none.

    Two that are near each other may be one: they are when there is nothing more to see on both sides of it.
    """
    index = 0
    while index < len(changes):
        before = changes[index - 1].at if index else 0
        after = changes[index + 1].at if index + 1 < len(changes) else len(values)
        better = _one_change(values, before, after, cost)
        if better is None or better.gain < needed:
            changes = changes[:index] + changes[index + 1 :]
            index = max(0, index - 1)
        else:
            changes = [*changes[:index], better, *changes[index + 1 :]]
            index += 1
    for index in range(len(changes) - 2, -1, -1):
        if changes[index + 1].at - changes[index].at < LEAST_POINTS:
            before = changes[index - 1].at if index else 0
            after = changes[index + 2].at if index + 2 < len(changes) else len(values)
            one = _one_change(values, before, after, cost)
            if (
                one is not None
                and one.gain >= needed
                and not any(
                    (more := _one_change(values, *side, cost)) is not None and more.gain >= needed
                    for side in ((before, one.at), (one.at, after))
                )
            ):
                changes = [*changes[:index], one, *changes[index + 2 :]]
    return changes


def _one_change(values: Values, start: int, end: int, cost: float) -> _Change | None:
    """The best change of level or slope between two places, whether or not it is worth its cost."""
    part = values[start:end]
    n = len(part)
    if n < 2 * LEAST_SIDE + 1:
        return None
    time = np.arange(n) - (n - 1) / 2
    level = part - part.mean()
    time_square = float(np.dot(time, time))
    line = level - time * float(np.dot(time, level) / time_square)
    rounding = _ROUNDING * n
    of_level, of_line = (max(float(np.dot(rest, rest)), rounding) for rest in (level, line))
    step = log(n)
    none = min(n * log(of_level) + step, n * log(of_line) + 2 * step)

    k = np.arange(LEAST_SIDE, n - LEAST_SIDE + 1)
    after = n - k
    # A step of the level: what it explains of each residual, once the line or level is taken off the step as well.
    level_sums = np.cumsum(level[::-1])[::-1][k]
    square = after * k / n
    stepped = level_sums**2 / square
    line_sums = np.cumsum(line[::-1])[::-1][k]
    with_time = after * (k + n - 1) / 2 - after * (n - 1) / 2
    line_square = square - with_time**2 / time_square
    line_stepped = line_sums**2 / np.maximum(line_square, rounding)
    # A bend: from its place on, one more for each point.
    moments = np.cumsum((line * np.arange(n))[::-1])[::-1][k]
    bend_sums = moments - (k - 1) * line_sums
    total = after * (after + 1) / 2
    squares = after * (after + 1) * (2 * after + 1) / 6
    by_time = squares + total * (k - 1 - (n - 1) / 2)
    bend_square = squares - total**2 / n - by_time**2 / time_square
    bent = bend_sums**2 / np.maximum(bend_square, rounding)

    candidates: tuple[tuple[Values, float, int, ChangeType], ...] = (
        (stepped, of_level, 1, "MeanShift"),
        (line_stepped, of_line, 2, "MeanShift"),
        (bent, of_line, 2, "TrendChange"),
    )
    models: list[tuple[float, int, ChangeType]] = []
    for explained, of, parameters, kind in candidates:
        best = int(np.argmax(explained))
        rest = max(of - float(explained[best]), rounding)
        models.append((n * log(rest) + parameters * step + cost, int(k[best]), kind))
    score, at, kind = min(models)
    return _Change(start + at, none - score, kind)


def _residuals(values: Values, places: list[int]) -> Values | None:
    """What is left when each segment's level or line is taken off; None when nothing is."""
    rest = np.empty_like(values)
    for start, end in zip([0, *places], [*places, len(values)], strict=True):
        part = values[start:end]
        n = len(part)
        time = np.arange(n) - (n - 1) / 2
        level = part - part.mean()
        line = level - time * float(np.dot(time, level) / max(np.dot(time, time), 1.0))
        gained = n * log(max(np.dot(level, level), _ROUNDING * n) / max(np.dot(line, line), _ROUNDING * n))
        rest[start:end] = line if gained > log(n) else level
    if float(np.mean(rest * rest)) <= _ROUNDING:
        return None
    # One point that is far out is an anomaly and not another spread.
    size = float(np.median(np.abs(rest))) * 1.4826
    return np.clip(rest, -_FAR * size, _FAR * size) if size > 0 else rest


def _spread_changes(rest: Values, needed: float, cost: float) -> list[_Change]:
    """Changes of the spread, each looked for on both sides of those that are there already."""
    found: list[_Change] = []
    waiting = [(0, len(rest))]
    while waiting:
        start, end = waiting.pop()
        change = _spread_change(rest, start, end, cost)
        if change is not None and change.gain >= needed:
            found.append(change)
            waiting += [(start, change.at), (change.at, end)]
    return found


def _spread_change(rest: Values, start: int, end: int, cost: float) -> _Change | None:
    """The best change of the variance of normal noise between two places, with heavier tails allowed for."""
    part = rest[start:end]
    n = len(part)
    if n < 2 * LEAST_SPREAD_SIDE:
        return None
    k = np.arange(LEAST_SPREAD_SIDE, n - LEAST_SPREAD_SIDE + 1)
    sums = np.cumsum(part * part)
    whole = float(sums[-1])
    before = np.maximum(sums[k - 1], _ROUNDING * n)
    after = np.maximum(whole - sums[k - 1], _ROUNDING * n)
    gains = n * log(max(whole, _ROUNDING * n) / n) - k * np.log(before / k) - (n - k) * np.log(after / (n - k))
    best = int(np.argmax(gains))
    at = int(k[best])
    equal = np.concatenate([part[:at] / np.sqrt(before[best] / at), part[at:] / np.sqrt(after[best] / (n - at))])
    # Squares of heavy-tailed noise vary more than those of normal noise, by their kurtosis.
    tails = max(1.0, (float(np.mean(equal**4)) - 1) / 2)
    return _Change(start + at, float(gains[best]) / tails - cost, "VarianceChange")
