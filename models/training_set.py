"""Select training pairs from the harvest, without copies of evaluation code."""

import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from models.pairs import Pair, without_name
from models.prose import GroupedPair

_MAX_PER_PACKAGE = {"py": 1_500, "js": 1_500, "ts": 1_500, "dts": 150, "go": 700, "rs": 1_000}
_MAX_PER_SUMMARY = 3
_MAX_DOCUMENTATION_PAIRS = 100_000
_CODE_CHARACTERS = 1_600
_DOCUMENTATION_CHARACTERS = 900


def choose(pairs: Sequence[Pair], measured: Sequence[Pair]) -> list[Pair]:
    """Return the training pairs: limited per package and per summary, without duplicates and copies of `measured`."""
    order = random.Random(0)
    shuffled = list(pairs)
    order.shuffle(shuffled)
    questions = {pair.summary.lower() for pair in measured if len(pair.summary.split()) >= 5}
    copies = NearCopies(measured)
    seen = {_normalized_prefix(pair.code) for pair in measured}
    per_package: Counter[tuple[str, str]] = Counter()
    per_summary: Counter[str] = Counter()
    selected: list[Pair] = []
    for pair in shuffled:
        source, summary, prefix = (pair.package, pair.language), pair.summary.lower(), _normalized_prefix(pair.code)
        full = per_package[source] >= _MAX_PER_PACKAGE[pair.language] or per_summary[summary] >= _MAX_PER_SUMMARY
        every_second = pair.kind == "type" and zlib.crc32(pair.name.encode()) % 2
        if full or every_second or summary in questions or prefix in seen or copies.contains(pair.code):
            continue
        seen.add(prefix)
        per_package[source] += 1
        per_summary[summary] += 1
        selected.append(pair)
    return selected


class NearCopies:
    """Detects code that shares half of its distinctive lines, and at least three, with some evaluation code."""

    def __init__(self, measured: Iterable[Pair]) -> None:
        self._lines: list[int] = []
        owners: dict[str, list[int]] = defaultdict(list)
        for number, pair in enumerate(measured):
            lines = _distinctive_lines(pair.code)
            self._lines.append(len(lines))
            for line in lines:
                owners[line].append(number)
        # A line that many functions share is no evidence of copying.
        self._owners = {line: numbers for line, numbers in owners.items() if len(numbers) <= 30}

    def contains(self, code: str) -> bool:
        lines = _distinctive_lines(code)
        shared = Counter(number for line in lines for number in self._owners.get(line, ()))
        return any(
            count >= 3 and count >= 0.5 * min(self._lines[number], len(lines))
            for number, count in shared.most_common(1)
        )


def code_pairs(pairs: Sequence[Pair]) -> list[GroupedPair]:
    """Return summary and code. Half of the summaries lose a leading Go name, because search queries lack it."""
    return [
        (
            pair.package,
            without_name(pair) if zlib.crc32(pair.summary.encode()) % 2 else pair.summary,
            pair.code[:_CODE_CHARACTERS],
        )
        for pair in pairs
    ]


def documentation_pairs(pairs: Sequence[Pair]) -> list[GroupedPair]:
    """Return summary and remaining documentation, for pairs with at least ten remaining words."""
    found: list[GroupedPair] = []
    for pair in pairs:
        documentation = " ".join(pair.documentation.split())
        rest = documentation.partition(pair.summary)[2] or documentation
        if len(rest.split()) >= 10:
            found.append((pair.package, pair.summary, rest.strip()[:_DOCUMENTATION_CHARACTERS]))
    random.Random(0).shuffle(found)
    return found[:_MAX_DOCUMENTATION_PAIRS]


def _normalized_prefix(code: str) -> str:
    return re.sub(r"\s+", "", code)[:300]


def _distinctive_lines(code: str) -> set[str]:
    return {line for line in (re.sub(r"\s+", "", line) for line in code.split("\n")) if len(line) > 14}
