"""Fixtures: a store in a folder, and child processes that work on it."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore

ROOT = Path(__file__).parents[3]

Child = subprocess.Popen[str]
Start = Callable[..., Child]


def names_in(folder: Path) -> list[str]:
    """Return the names of the files in a folder; empty if it does not exist."""
    return sorted(path.name for path in folder.glob("*"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def empty_home(home: Path) -> Path:
    home.mkdir()
    return home


@pytest.fixture
async def store(home: Path) -> AsyncGenerator[SqliteStore]:
    store = await SqliteStore.open(home)
    yield store
    await store.close()


@pytest.fixture
def start() -> Generator[Start]:
    """Starts child processes in the roles of `children`; all end with the test."""
    children: list[Child] = []

    def start(role: str, folder: Path) -> Child:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.db.sqlite.children", role, str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
