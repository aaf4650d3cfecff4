"""Questions about repositories with the files that answer them, and what an answer is worth."""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.code_engine import WANTED, Hit

SYMBOLS = "symbols"
SETS = ("nl", "commits", SYMBOLS)
NEAR_LINES = 2

Query = dict[str, Any]
Questions = Mapping[tuple[str, str], Mapping[str, Sequence[Query]]]
"""By repository and indexed folder: the questions of each set."""


def questions(data: Path, sets: Sequence[str], only: Collection[str] = ()) -> Questions:
    found: dict[tuple[str, str], dict[str, list[Query]]] = defaultdict(lambda: defaultdict(list))
    for name in sets:
        for line in (data / "open" / f"{name}.jsonl").read_text("utf-8").splitlines():
            query: Query = json.loads(line)
            if not only or query["repo"] in only:
                # Only the folder that a question in words is about is indexed for it.
                found[query["repo"], query["root"] if name == "nl" else ""][name].append(query)
    return {place: found[place] for place in sorted(found)}


def score(name: str, query: Query, folder: str, found: Sequence[Hit]) -> float:
    """NDCG at 10 of the files; of a name, whether the first is where it is defined."""
    shown = [Hit(f"{folder}/{path}" if folder else path, first, last) for path, first, last in found]
    if name == SYMBOLS:
        if not shown:
            return 0.0
        path, first, last = shown[0]
        return float(path == query["path"] and first - NEAR_LINES <= query["line"] <= last + NEAR_LINES)
    files = list(dict.fromkeys(hit.path for hit in shown))[:WANTED]
    right = list(dict.fromkeys(one["path"] for one in (*query["relevant"], *query["secondary"])))
    gained = sum(1 / math.log2(files.index(path) + 2) for path in right if path in files)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(len(right), WANTED)))
