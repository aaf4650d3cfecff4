"""Questions about repositories, and the scoring of answers."""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.code_engine import RESULT_LIMIT, Hit

SYMBOLS = "symbols"
SETS = ("nl", "commits", SYMBOLS)
NEAR_LINES = 2

Query = dict[str, Any]
Questions = Mapping[tuple[str, str], Mapping[str, Sequence[Query]]]
"""The questions of each set, by (repository, indexed folder)."""


def read_questions(data: Path, sets: Sequence[str], only: Collection[str] = ()) -> Questions:
    found: dict[tuple[str, str], dict[str, list[Query]]] = defaultdict(lambda: defaultdict(list))
    for name in sets:
        for line in (data / "open" / f"{name}.jsonl").read_text("utf-8").splitlines():
            query: Query = json.loads(line)
            if not only or query["repo"] in only:
                # For questions in words, only the folder that they are about is indexed.
                found[query["repo"], query["root"] if name == "nl" else ""][name].append(query)
    return {target: found[target] for target in sorted(found)}


def score(name: str, query: Query, folder: str, found: Sequence[Hit]) -> float:
    """Return NDCG@10 of the files, or for a symbol 1 when the first hit is its definition and else 0."""
    shown = [Hit(f"{folder}/{path}" if folder else path, first, last) for path, first, last in found]
    if name == SYMBOLS:
        if not shown:
            return 0.0
        path, first, last = shown[0]
        return float(path == query["path"] and first - NEAR_LINES <= query["line"] <= last + NEAR_LINES)
    files = list(dict.fromkeys(hit.path for hit in shown))[:RESULT_LIMIT]
    right = list(dict.fromkeys(one["path"] for one in (*query["relevant"], *query["secondary"])))
    gained = sum(1 / math.log2(files.index(path) + 2) for path in right if path in files)
    return gained / sum(1 / math.log2(rank + 2) for rank in range(min(len(right), RESULT_LIMIT)))
