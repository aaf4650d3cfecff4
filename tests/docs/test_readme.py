"""What the README shows is what happens."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recollect import __version__
from tests.surfaces.callers import environment, server

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text("utf-8")

pytestmark = pytest.mark.xdist_group("readme")


def examples() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


def test_every_example_of_the_readme_runs(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    with server(home) as url:
        outputs: list[str] = []
        for example in examples():
            script = (
                example.replace("localhost:4000", url.removeprefix("http://"))
                .replace(".venv/bin/recollect", f"{sys.executable} -m recollect.app")
                .replace("~/recollect-backup.db", str(work / "backup.db"))
            )
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script],
                env={**environment(home), "HOME": str(work)},
                cwd=work,
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert (example, done.returncode, done.stderr) == (example, 0, "")
            outputs.append(done.stdout)
    remembered, recalled, changed, looked_after = outputs
    assert '"outcome":"stored"' in remembered
    assert "We chose PostgreSQL because the team knows it." in recalled
    assert "We moved to SQLite." in changed
    steps = re.findall(r"^ok  ([^:]+): .+ \(\d+\.\d s\)$", looked_after, re.MULTILINE)
    assert (steps[0], steps[-1]) == ("start", "check the store")
    assert "Everything works." in looked_after
    assert "The store is whole." in looked_after
    assert (work / "backup.db").stat().st_size > 0


def test_what_the_server_prints_is_what_the_readme_says(tmp_path: Path) -> None:
    block = next(text for text in re.findall(r"```\n(.*?)```", README, re.DOTALL) if "listens on" in text)
    shown = [line for line in block.splitlines() if not line.startswith("Installing")]
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect.app", "serve", "--port", "0"],
        env=environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    printed: list[str] = []
    for line in process.stdout:
        printed.append(line.rstrip("\n"))
        if line.startswith("Press Ctrl-C"):
            break
    process.terminate()
    process.communicate(timeout=30)
    told = "\n".join(printed).replace(str(tmp_path), "/home/you/.recollect")
    assert re.sub(r":\d{4,5}\b", ":4000", told) == "\n".join(shown)
    assert f"Recollect {__version__} listens" in block


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
