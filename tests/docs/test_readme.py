"""The README's commands run, and print the answers that the README states."""

import html
import json
import os
import re
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from scrubjay import __version__
from tests.docs.tour import PROJECT, README, make_repository, shell_command, tour_commands, tour_environment
from tests.surfaces.callers import PROGRAM, environment


@dataclass(frozen=True)
class Served:
    """A running server: the folder of its store, and the lines printed at startup."""

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


@pytest.fixture(scope="module")
def tour(served: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the output of each command of the tour, in the order of the README."""
    user_home = tmp_path_factory.mktemp("user")
    repository = make_repository(user_home)
    outputs: dict[str, str] = {}
    for command in tour_commands():
        process = subprocess.run(
            shell_command(command.replace("localhost:4000", served.address)),
            env=tour_environment(served.home, user_home),
            cwd=repository,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (command, process.returncode) == (command, 0), process.stderr
        outputs[command] = process.stdout
    outputs["~/.claude.json"] = (user_home / ".claude.json").read_text("utf-8")
    return outputs


def printed_by(tour: dict[str, str], start: str) -> str:
    (output,) = [printed for command, printed in tour.items() if command.startswith(start)]
    return output


def test_the_tour_connects_an_agent(tour: dict[str, str]) -> None:
    assert "It works: the configured server lists" in printed_by(tour, "scrubjay install claude-code")
    assert "scrubjay" in json.loads(tour["~/.claude.json"])["mcpServers"]


def test_the_tour_recalls_the_current_decision_and_not_the_superseded_one(tour: dict[str, str]) -> None:
    recalled = printed_by(tour, 'scrubjay memory recall "which database do we use?"')
    assert "We moved to SQLite: one file, no service to run." in recalled
    assert "PostgreSQL" not in recalled


def test_the_tour_shows_the_history_oldest_first(tour: dict[str, str]) -> None:
    older, newer = (
        line for line in printed_by(tour, "scrubjay memory memory-history").splitlines() if " decision " in line
    )
    assert "We chose PostgreSQL because the team knows it." in older
    assert "We moved to SQLite: one file, no service to run." in newer


def test_the_tour_gets_no_answer_to_an_unknown_question(tour: dict[str, str]) -> None:
    assert printed_by(tour, 'scrubjay memory recall "who is our tax advisor?"').startswith("no memories")


def test_the_tour_finds_the_one_caller_with_its_line(tour: dict[str, str]) -> None:
    _, caller, *rest = printed_by(tour, "scrubjay code find-callers open_session").splitlines()
    assert caller.split() == ["auth.py", "4", "auth.py", "1", "call", "local", "1.000", "Auth.login"]
    assert rest[0] == ""


def test_the_tour_marks_the_memory_about_changed_code_stale(tour: dict[str, str]) -> None:
    recalled = printed_by(tour, 'scrubjay memory recall "login of old clients"')
    first = recalled.splitlines()[1]
    assert "login must stay synchronous: the old clients block on it." in first
    assert "reason changed, symbol Auth.login, path auth.py" in first
    assert "-def login(self, user):" in first
    assert "+async def login(self, user):" in first


def test_the_tour_gets_the_same_answer_over_rest(tour: dict[str, str]) -> None:
    answer = json.loads(printed_by(tour, "curl"))
    assert [memory["content"] for memory in answer["memories"]] == ["We moved to SQLite: one file, no service to run."]


def test_the_tour_checks_the_machine(tour: dict[str, str]) -> None:
    printed = printed_by(tour, "scrubjay doctor")
    steps = re.findall(r"^ok  ([^:]+): .+ \(\d+\.\d s\)$", printed, re.MULTILINE)
    assert (steps[0], steps[-1]) == ("store of this home", "C extension")
    assert "Everything works." in printed


def test_the_picture_shows_commands_and_answers_of_the_tour() -> None:
    picture = html.unescape((PROJECT / "docs" / "images" / "tour.svg").read_text("utf-8")).replace("\xa0", " ")
    for expected in ("which database do we use?", "We moved to SQLite", "no memories", "+async def login"):
        assert expected in picture
    assert re.findall(r"https?://[^\s\"<)]+", picture) == ["http://www.w3.org/2000/svg"]


def test_the_readme_is_short_up_to_its_last_section() -> None:
    assert len(README.split("\n## More\n")[0].split()) <= 600


def test_the_server_prints_the_lines_of_the_readme(served: Served) -> None:
    block = next(
        text for text in re.findall(r"^```[a-z]*\n(.*?)^```$", README, re.DOTALL | re.MULTILINE) if "listens on" in text
    )
    shown = [line for line in block.splitlines() if not line.startswith("Installing")]
    printed = "\n".join(served.printed).replace(str(served.home), "/home/you/.scrubjay")
    assert re.sub(r":\d{4,5}\b", ":4000", printed) == "\n".join(shown)
    assert f"Scrubjay {__version__} listens" in block


def test_every_link_of_the_documents_exists() -> None:
    for document in [*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"), PROJECT / "benchmarks" / "README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_documented_make_target_exists() -> None:
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    documents = README + (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
    targets = set(re.findall(r"(?:^|`)make ([a-z]+)", documents, re.MULTILINE))
    assert targets >= {"serve", "test", "doctor"}
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = PROJECT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text("utf-8")
    assert "make test" in README
