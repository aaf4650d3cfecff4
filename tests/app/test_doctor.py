"""The doctor passes for a working server and names the step that fails. The README test reads its output."""

import json
import subprocess
from pathlib import Path

import pytest

from scrubjay.app import doctor
from scrubjay.core.errors import Unavailable
from scrubjay.native import library
from tests.surfaces.callers import PROGRAM, environment


def test_125_127_the_doctor_reports_every_step_as_json_and_leaves_no_files(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [*PROGRAM, "doctor", "--json"],
        env={**environment(tmp_path / "home"), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    steps = json.loads(done.stdout)["steps"]
    assert [step["step"] for step in steps] == [
        "store of this home",
        "start",
        "health",
        "remember",
        "recall",
        "recall in another process, over MCP",
        "kill -9 and start again",
        "recall again",
        "check the store",
        "C extension",
    ]
    assert steps[-1]["result"] == "used to index code"
    assert all(step["result"] and step["seconds"] >= 0 for step in steps)
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_127_the_doctor_fails_when_recall_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "QUESTION", "an altogether different matter: tectonic plates")
    with pytest.raises(Unavailable, match="did not find the stored memory"):
        doctor.examine(lambda step, results, seconds: None)


def test_127_the_doctor_reports_a_missing_c_extension_and_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results: dict[str, str] = {}
    monkeypatch.setattr(library, "library", lambda: None)
    doctor.examine(lambda step, result, seconds: results.update({step: result}))
    assert results["C extension"].startswith("not compiled")
