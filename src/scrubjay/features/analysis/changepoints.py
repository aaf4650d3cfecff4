"""Changepoint detection: changes of the level, slope or variance of a series.

A segment without a change is a constant or a line plus noise. A change at its best position is accepted when Schwarz's
criterion (BIC) prefers it, counting two parameters for the position and one for the size (Zhang and Siegmund, 2007).
The narrowest window that shows a change comes first, so that neighbouring changes do not blur it; then each position
is estimated again between its neighbours.
"""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from scrubjay.features.analysis.correlation import standardize
from scrubjay.features.analysis.models import Changepoint, ChangeType

Values = NDArray[np.float64]

# Shorter series yield no change; a change has at least MIN_SIDE_POINTS points on both sides.
MIN_POINTS, MIN_SIDE_POINTS = 10, 3
# A variance needs more points than a level.
MIN_SPREAD_SIDE_POINTS = 8
# Penalty of a change as a multiple of log(points): two for its position, one for its size.
_COST = 3.0
# Narrowest window that is searched separately, in points.
MIN_WINDOW = 20
# Residuals are clipped at this many robust standard deviations before variances are compared.
_CLIP_DEVIATIONS = 3.5
# Mean squares of standardized values below this are rounding error.
_ROUNDING = 1e-20


@dataclass(frozen=True, slots=True)
class _Change:
    at: int
    gain: float
    """Difference of Schwarz's criterion between no change and this change."""
    kind: ChangeType

    @property
    def confidence(self) -> float:
        """Probability of the change against no change, by Schwarz's criterion."""
        return 1.0 / (1.0 + exp(-min(self.gain, 700.0) / 2))


def find_changepoints(name: str, values: Values, doubt: float) -> list[Changepoint]:
    """Return the changes of a series with at least the confidence 1 - `doubt`."""
    scaled = standardize(values)
    if scaled is None or len(values) < MIN_POINTS:
        return []
    needed, cost = 2 * log((1 - doubt) / doubt), _COST * log(len(scaled))
    places = _refine(scaled, _split(scaled, needed, cost), needed, cost)
    rest = _residuals(scaled, [one.at for one in places])
    spreads = [] if rest is None else _spread_changes(rest, needed, cost)
    return [
        Changepoint(variable=name, index=one.at, confidence=one.confidence, change_type=one.kind)
        for one in sorted([*places, *spreads], key=lambda one: one.at)
    ]


def _split(values: Values, needed: float, cost: float) -> list[_Change]:
    """Return changes found in the narrowest windows, then those found in the gaps between them."""
    found: list[_Change] = []
    for stretches in _windows(len(values)):
        shown = [
            (one, start, end)
            for start, end in stretches
            if not _has_change_between(found, start, end)
            and (one := _one_change(values, start, end, cost)) is not None
            and one.gain >= needed
        ]
        for one, start, end in sorted(shown, key=lambda item: -item[0].gain):
            if not _has_change_between(found, start, end):
                insort(found, one, key=_position)
    gaps = _gaps(found, len(values))
    while gaps:
        start, end = gaps.pop()
        if (one := _one_change(values, start, end, cost)) is not None and one.gain >= needed:
            insort(found, one, key=_position)
            gaps += [(start, one.at), (one.at, end)]
    return found


def _position(change: _Change) -> int:
    return change.at


def _has_change_between(found: list[_Change], start: int, end: int) -> bool:
    """Return True when one of these sorted changes lies between two positions."""
    place = bisect_right(found, start, key=_position)
    return place < len(found) and found[place].at < end


def _gaps(found: list[_Change], length: int) -> list[tuple[int, int]]:
    places = [0, *(one.at for one in found), length]
    return list(pairwise(places))


def _windows(length: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the windows of each width, half overlapping, from the narrowest width to the whole series."""
    width, widths = length, [length]
    while (width := ceil(width / 2)) >= MIN_WINDOW:
        widths.append(width)
    for width in reversed(widths):
        step = max(1, width // 2)
        yield [(start, start + width) for start in (*range(0, length - width, step), length - width)]


def _refine(values: Values, changes: list[_Change], needed: float, cost: float) -> list[_Change]:
    """Move each change to its best position between its neighbours; drop it when it is no longer significant.

    Two changes close to each other are merged when one explains both.
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
        if changes[index + 1].at - changes[index].at < MIN_POINTS:
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
    """Return the best change of level or slope between two positions, even when its gain is negative."""
    part = values[start:end]
    n = len(part)
    if n < 2 * MIN_SIDE_POINTS + 1:
        return None
    time = np.arange(n) - (n - 1) / 2
    level = part - part.mean()
    time_square = float(np.dot(time, time))
    line = level - time * float(np.dot(time, level) / time_square)
    rounding = _ROUNDING * n
    of_level, of_line = (max(float(np.dot(rest, rest)), rounding) for rest in (level, line))
    step = log(n)
    none = min(n * log(of_level) + step, n * log(of_line) + 2 * step)

    k = np.arange(MIN_SIDE_POINTS, n - MIN_SIDE_POINTS + 1)
    after = n - k
    # A step of the level: the sum of squares it explains, after projecting out the constant or line.
    level_sums = np.cumsum(level[::-1])[::-1][k]
    square = after * k / n
    stepped = level_sums**2 / square
    line_sums = np.cumsum(line[::-1])[::-1][k]
    with_time = after * (k + n - 1) / 2 - after * (n - 1) / 2
    line_square = square - with_time**2 / time_square
    line_stepped = line_sums**2 / np.maximum(line_square, rounding)
    # A bend of the line: a ramp that starts at the position.
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
    """Return the residuals from each segment's constant or line; None when they are only rounding error."""
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
    # A single outlier is an anomaly, not a change of variance.
    size = float(np.median(np.abs(rest))) * 1.4826
    return np.clip(rest, -_CLIP_DEVIATIONS * size, _CLIP_DEVIATIONS * size) if size > 0 else rest


def _spread_changes(rest: Values, needed: float, cost: float) -> list[_Change]:
    """Return changes of the variance, by binary segmentation."""
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
    """Return the best change of variance between two positions, with a correction for heavy-tailed noise."""
    part = rest[start:end]
    n = len(part)
    if n < 2 * MIN_SPREAD_SIDE_POINTS:
        return None
    k = np.arange(MIN_SPREAD_SIDE_POINTS, n - MIN_SPREAD_SIDE_POINTS + 1)
    sums = np.cumsum(part * part)
    whole = float(sums[-1])
    before = np.maximum(sums[k - 1], _ROUNDING * n)
    after = np.maximum(whole - sums[k - 1], _ROUNDING * n)
    gains = n * log(max(whole, _ROUNDING * n) / n) - k * np.log(before / k) - (n - k) * np.log(after / (n - k))
    best = int(np.argmax(gains))
    at = int(k[best])
    equal = np.concatenate([part[:at] / np.sqrt(before[best] / at), part[at:] / np.sqrt(after[best] / (n - at))])
    # Squares of heavy-tailed noise vary more than those of normal noise, in proportion to the kurtosis.
    tails = max(1.0, (float(np.mean(equal**4)) - 1) / 2)
    return _Change(start + at, float(gains[best]) / tails - cost, "VarianceChange")
