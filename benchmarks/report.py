"""Benchmark results as a table on stdout and as a JSON file per commit."""

import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One figure of ours, the same figure of others from the same run, and its limits."""

    name: str
    ours: float | None
    """None when it could not be measured; then every limit is missed."""
    beside: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    """Figures of the others by name; None when one lacks the feature or did not finish."""
    at_most: float | None = None
    at_least: float | None = None
    ratio_at_most: float | None = None
    """Maximum of our figure divided by the first of the others."""

    @property
    def ratio(self) -> float | None:
        first = next(iter(self.beside.values()), None)
        return self.ours / first if first and self.ours is not None else None

    @property
    def reached(self) -> bool:
        return (
            (self.at_most is None or (self.ours is not None and self.ours <= self.at_most))
            and (self.at_least is None or (self.ours is not None and self.ours >= self.at_least))
            and (self.ratio_at_most is None or (self.ratio is not None and self.ratio <= self.ratio_at_most))
        )

    @property
    def bar(self) -> str:
        bars = [
            f"<= {self.at_most:g}" if self.at_most is not None else "",
            f">= {self.at_least:g}" if self.at_least is not None else "",
            f"<= {self.ratio_at_most:g} x" if self.ratio_at_most is not None else "",
        ]
        return " ".join(filter(None, bars))


def print_report(rows: Sequence[ReportRow], notes: Sequence[str] = ()) -> None:
    others = list(dict.fromkeys(name for row in rows for name in row.beside))
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}} {'ours':>11} {''.join(f'{name:>12}' for name in others)} {'bar':>10}")
    for row in rows:
        verdict = ("ok" if row.reached else "MISSED") if row.bar else ""
        beside = "".join(f"{_format_value(row.beside.get(name)):>12}" for name in others)
        print(f"{row.name:{width}} {_format_value(row.ours):>11} {beside} {row.bar:>10} {verdict}".rstrip())
    for note in notes:
        print(f"- {note}")


def save_report(benchmark: str, rows: Sequence[ReportRow], notes: Sequence[str] = ()) -> Path:
    """Write the results to `results/COMMIT-BENCHMARK.json` and return the path."""
    path = RESULTS / f"{describe_commit()}-{benchmark}.json"
    RESULTS.mkdir(exist_ok=True)
    document = {
        "commit": describe_commit(),
        "benchmark": benchmark,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "rows": [{**asdict(row), "ratio": row.ratio, "reached": row.reached} for row in rows],
        "notes": list(notes),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return path


def describe_commit() -> str:
    described = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(described, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()


def _format_value(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3f}"
