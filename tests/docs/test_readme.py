"""What the README shows is what happens."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from scrubjay import __version__
from tests.surfaces.callers import PROGRAM, environment

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")


def examples() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


@dataclass(frozen=True)
class Served:
    """A running server: where its store is, and the lines that it printed at its start."""

    home: Path
    printed: Sequence[str]

    @property
    def address(self) -> str:
        return re.findall(r"http://(127\.0\.0\.1:\d+)", self.printed[0])[0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"], env=environment(home), cwd=home, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        printed: list[str] = []
        for line in process.stdout:
            printed.append(line.rstrip("\n"))
            if line.startswith("Press Ctrl-C"):
                break
        yield Served(home, printed)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_every_example_of_the_readme_runs(served: Served, tmp_path: Path) -> None:
    outputs: list[str] = []
    for example in examples():
        script = (
            example.replace("localhost:4000", served.address)
            .replace(".venv/bin/scrubjay", f"{sys.executable} -m scrubjay.app")
            .replace("~/scrubjay-backup.db", str(tmp_path / "backup.db"))
        )
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={**environment(served.home), "HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (example, done.returncode, done.stderr) == (example, 0, "")
        outputs.append(done.stdout)
    remembered, recalled, installed, changed, looked_after = outputs
    assert '"outcome":"stored"' in remembered
    assert "We chose PostgreSQL because the team knows it." in recalled
    assert "It works: the configured server lists" in installed
    assert "scrubjay" in json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]
    assert "We moved to SQLite." in changed
    steps = re.findall(r"^ok  ([^:]+): .+ \(\d+\.\d s\)$", looked_after, re.MULTILINE)
    assert (steps[0], steps[-1]) == ("start", "compiled part")
    assert "Everything works." in looked_after
    assert "The store is whole." in looked_after
    assert (tmp_path / "backup.db").stat().st_size > 0


def test_what_the_server_prints_is_what_the_readme_says(served: Served) -> None:
    block = next(text for text in re.findall(r"```\n(.*?)```", README, re.DOTALL) if "listens on" in text)
    shown = [line for line in block.splitlines() if not line.startswith("Installing")]
    told = "\n".join(served.printed).replace(str(served.home), "/home/you/.scrubjay")
    assert re.sub(r":\d{4,5}\b", ":4000", told) == "\n".join(shown)
    assert f"Scrubjay {__version__} listens" in block


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for document in [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "benchmarks" / "README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_make_target_that_is_told_exists() -> None:
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    documents = README + (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
    told = set(re.findall(r"(?:^|`)make ([a-z]+)", documents, re.MULTILINE))
    assert told >= {"serve", "test", "doctor"}
    for target in told:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = PROJECT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text("utf-8")
    assert "make test" in README
