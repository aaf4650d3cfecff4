"""Rows of figures, for people and for the file of a commit."""

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
class Row:
    """One figure beside the figures of others in the same run."""

    name: str
    ours: float | None
    """None where it could not be measured; a bar then is missed."""
    beside: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    """The others' figures by their names; None where one offers nothing of the kind or did not finish."""
    at_most: float | None = None
    at_least: float | None = None
    ratio_at_most: float | None = None
    """What our figure divided by the first of the others may be at most."""

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


def show(rows: Sequence[Row], notes: Sequence[str] = ()) -> None:
    others = list(dict.fromkeys(name for row in rows for name in row.beside))
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}} {'ours':>11} {''.join(f'{name:>12}' for name in others)} {'bar':>10}")
    for row in rows:
        verdict = ("ok" if row.reached else "MISSED") if row.bar else ""
        beside = "".join(f"{_figure(row.beside.get(name)):>12}" for name in others)
        print(f"{row.name:{width}} {_figure(row.ours):>11} {beside} {row.bar:>10} {verdict}".rstrip())
    for note in notes:
        print(f"- {note}")


def keep(benchmark: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Path:
    """Write the figures under the commit they were measured at."""
    path = RESULTS / f"{commit()}-{benchmark}.json"
    RESULTS.mkdir(exist_ok=True)
    document = {
        "commit": commit(),
        "benchmark": benchmark,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "rows": [{**asdict(row), "ratio": row.ratio, "reached": row.reached} for row in rows],
        "notes": list(notes),
    }
    path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return path


def commit() -> str:
    described = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(described, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3f}"
