"""What is trained on: pairs chosen from the harvest, without copies of what is measured, as bags of tokens."""

import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from models.described import Pair, without_name
from models.prose import GroupedPair

_MOST_OF_A_PACKAGE = {"py": 1_500, "js": 1_500, "ts": 1_500, "dts": 150, "go": 700, "rs": 1_000}
_MOST_OF_A_SUMMARY = 3
_MOST_DOCUMENTATION = 100_000
_CODE_CHARACTERS = 1_600
_DOCUMENTATION_CHARACTERS = 900


def chosen(pairs: Sequence[Pair], measured: Sequence[Pair]) -> list[Pair]:
    """The pairs to learn from: bounded a package and a summary, no copy, no near copy of what is measured."""
    order = random.Random(0)
    shuffled = list(pairs)
    order.shuffle(shuffled)
    questions = {pair.summary.lower() for pair in measured if len(pair.summary.split()) >= 5}
    copies = NearCopies(measured)
    seen = {_essence(pair.code) for pair in measured}
    of_package: Counter[tuple[str, str]] = Counter()
    of_summary: Counter[str] = Counter()
    kept: list[Pair] = []
    for pair in shuffled:
        place, summary, essence = (pair.package, pair.language), pair.summary.lower(), _essence(pair.code)
        full = of_package[place] >= _MOST_OF_A_PACKAGE[pair.language] or of_summary[summary] >= _MOST_OF_A_SUMMARY
        every_second = pair.kind == "type" and zlib.crc32(pair.name.encode()) % 2
        if full or every_second or summary in questions or essence in seen or copies.holds(pair.code):
            continue
        seen.add(essence)
        of_package[place] += 1
        of_summary[summary] += 1
        kept.append(pair)
    return kept


class NearCopies:
    """Recognises code that shares half of its telling lines, at least three, with some measured code."""

    def __init__(self, measured: Iterable[Pair]) -> None:
        self._lines: list[int] = []
        owners: dict[str, list[int]] = defaultdict(list)
        for number, pair in enumerate(measured):
            lines = _telling_lines(pair.code)
            self._lines.append(len(lines))
            for line in lines:
                owners[line].append(number)
        # A line that many functions share tells nothing.
        self._owners = {line: numbers for line, numbers in owners.items() if len(numbers) <= 30}

    def holds(self, code: str) -> bool:
        lines = _telling_lines(code)
        shared = Counter(number for line in lines for number in self._owners.get(line, ()))
        return any(
            count >= 3 and count >= 0.5 * min(self._lines[number], len(lines))
            for number, count in shared.most_common(1)
        )


def code_pairs(pairs: Sequence[Pair]) -> list[GroupedPair]:
    """Summary and code; Go's leading name is left out of every second summary, as who asks will not know it."""
    return [
        (
            pair.package,
            without_name(pair) if zlib.crc32(pair.summary.encode()) % 2 else pair.summary,
            pair.code[:_CODE_CHARACTERS],
        )
        for pair in pairs
    ]


def documentation_pairs(pairs: Sequence[Pair]) -> list[GroupedPair]:
    """Summary and the rest of its documentation, where there is a rest."""
    found: list[GroupedPair] = []
    for pair in pairs:
        documentation = " ".join(pair.documentation.split())
        rest = documentation.partition(pair.summary)[2] or documentation
        if len(rest.split()) >= 10:
            found.append((pair.package, pair.summary, rest.strip()[:_DOCUMENTATION_CHARACTERS]))
    random.Random(0).shuffle(found)
    return found[:_MOST_DOCUMENTATION]


def _essence(code: str) -> str:
    return re.sub(r"\s+", "", code)[:300]


def _telling_lines(code: str) -> set[str]:
    return {line for line in (re.sub(r"\s+", "", line) for line in code.split("\n")) if len(line) > 14}
