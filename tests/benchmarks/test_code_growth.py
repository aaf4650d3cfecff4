"""A repository that cannot be indexed is reported as a missed limit and does not end the run."""

import argparse
import subprocess
from pathlib import Path

from benchmarks import code_growth


def test_a_repository_that_cannot_be_indexed_misses_its_limit(tmp_path: Path) -> None:
    checkout = tmp_path / "harbour"
    checkout.mkdir()
    (checkout / "lamp.py").write_text("def kindle(oil):\n    return oil\n")
    subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    options = argparse.Namespace(repositories=tmp_path, only="harbour", worker_bytes="none at all")

    rows, notes = code_growth.measure(options)

    assert [(row.name, row.ours, row.reached) for row in rows] == [("harbour: cold index, s", None, False)]
    assert notes[:2] == [
        "scrubjay exited during search of harbour; see its stderr above",
        "SCRUBJAY_CODE_WORKER_BYTES=none at all",
    ]
