"""The doctor finds a working server working, and says which step fails when one does; the README's test reads it."""

import json
import subprocess
from pathlib import Path

import pytest

from scrubjay.app import doctor
from scrubjay.core.errors import Unavailable
from scrubjay.native import library
from tests.surfaces.callers import PROGRAM, environment


def test_125_127_the_doctor_goes_through_every_step_tells_programs_and_leaves_nothing_behind(tmp_path: Path) -> None:
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
    told = json.loads(done.stdout)["steps"]
    assert [step["step"] for step in told] == [
        "start",
        "health",
        "remember",
        "recall",
        "recall in another process, over MCP",
        "kill -9 and start again",
        "recall again",
        "check the store",
        "compiled part",
    ]
    assert told[-1]["seen"] == "used to index code"
    assert all(step["seen"] and step["seconds"] >= 0 for step in told)
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_127_the_doctor_does_not_call_an_empty_answer_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "QUESTION", "an altogether different matter: tectonic plates")
    with pytest.raises(Unavailable, match="what was remembered is not found"):
        doctor.examine(lambda step, seen, seconds: None)


def test_127_the_doctor_says_that_nothing_was_compiled_and_that_all_works_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, str] = {}
    monkeypatch.setattr(library, "library", lambda: None)
    doctor.examine(lambda step, said, seconds: seen.update({step: said}))
    assert seen["compiled part"].startswith("not there")
