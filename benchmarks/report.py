"""Rows of figures, for people and for the file of a commit."""

import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure beside the yardstick of the same run."""

    name: str
    ours: float
    bare: float | None
    bar: float | None = None
    """What our figure may be at most."""
    ratio_bar: float | None = None
    """What our figure divided by the yardstick's may be at most."""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.bare if self.bare else None

    @property
    def reached(self) -> bool:
        if self.ratio_bar is not None:
            return self.ratio is not None and self.ratio <= self.ratio_bar
        return self.bar is None or self.ours <= self.bar


def show(rows: Sequence[Row]) -> None:
    print(f"{'':52} {'ours':>9} {'bare':>9} {'ratio':>7} {'bar':>9}")
    for row in rows:
        bare = f"{row.bare:9.3f}" if row.bare is not None else f"{'':9}"
        ratio = f"{row.ratio:7.2f}" if row.ratio is not None else f"{'':7}"
        bar = f"{row.ratio_bar:.2f} x" if row.ratio_bar is not None else f"{row.bar:.1f}" if row.bar else ""
        print(f"{row.name:52} {row.ours:9.3f} {bare} {ratio} {bar:>9} {'ok' if row.reached else 'MISSED'}")


def keep(rows: Sequence[Row]) -> Path:
    """Write the figures under the commit they were measured at."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
    ).stdout.strip()
    path = RESULTS / f"{commit}.json"
    RESULTS.mkdir(exist_ok=True)
    document = {
        "commit": commit,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "rows": [{**asdict(row), "ratio": row.ratio, "reached": row.reached} for row in rows],
    }
    path.write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    return path
