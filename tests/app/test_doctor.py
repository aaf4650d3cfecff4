"""The doctor finds a working server working, and says which step fails when one does."""

import subprocess
from pathlib import Path

import pytest

from recollect.app import doctor
from recollect.domain.errors import Unavailable
from tests.surfaces.callers import PROGRAM, environment

pytestmark = pytest.mark.xdist_group("serving")


def test_127_the_doctor_goes_through_every_step_and_leaves_nothing_behind(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [*PROGRAM, "doctor"],
        env={**environment(tmp_path / "home"), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    steps = [line.split("  ", 1)[1].split(":")[0] for line in done.stdout.splitlines()[:-1]]
    assert steps == [
        "start",
        "health",
        "remember",
        "recall",
        "recall in another process, over MCP",
        "kill -9 and start again",
        "recall again",
        "check the store",
    ]
    assert done.stdout.endswith("Everything works.\n")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_127_the_doctor_does_not_call_an_empty_answer_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "QUESTION", "an altogether different matter: tectonic plates")
    with pytest.raises(Unavailable, match="what was remembered is not found"):
        doctor.examine(lambda step, seen, seconds: None)
