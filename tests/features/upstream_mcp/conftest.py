"""A home whose skills are real programs, and what tests ask of it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

CHILD = str(Path(__file__).with_name("child.py"))
RUDE = str(Path(__file__).with_name("rude.py"))
# Skills get a clean environment, so the place of this Python must be named.
PATH = f"{Path(sys.executable).parent}:/usr/bin:/bin"


def program(*args: str, **env: str) -> dict[str, Any]:
    """A skill that is the child of the tests, or another Python program."""
    return {"command": "python3", "args": list(args) or [CHILD], "env": {"PATH": PATH, **env}}


def write_skills(home: Path, **skills: Any) -> Path:
    file = home / "skills.json"
    file.write_text(json.dumps(skills))
    return file


def is_alive(pid: int) -> bool:
    try:  # one that nobody has waited for is dead all the same
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert os.access(tmp_path, os.W_OK)
    return tmp_path
