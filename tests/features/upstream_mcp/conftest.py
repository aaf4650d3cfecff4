"""Fixtures: a home folder whose skills are real programs."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

CHILD = str(Path(__file__).with_name("child.py"))
RUDE = str(Path(__file__).with_name("rude.py"))
# Commands are searched in the PATH of the server, so it must begin with the folder of this Python.
PATH = f"{Path(sys.executable).parent}:/usr/bin:/bin"


def program(*args: str, **env: str) -> dict[str, Any]:
    """Return the configuration of a skill that runs child.py or another Python program."""
    return {"command": "python3", "args": list(args) or [CHILD], "env": env}


def write_skills(home: Path, **skills: Any) -> Path:
    file = home / "skills.json"
    file.write_text(json.dumps(skills))
    return file


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", PATH)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert os.access(tmp_path, os.W_OK)
    return tmp_path
