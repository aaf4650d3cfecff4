"""Engines run in processes of their own, on copies of a checkout, and whoever cannot take part is told."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import code_search, code_trial
from benchmarks.code_engine import Hit
from benchmarks.code_meter import Meter
from benchmarks.code_trial import spread
from benchmarks.peers.ripgrep import Ripgrep

SOURCES = {
    "lamp.py": "def kindle_the_lamp(oil):\n    return oil\n",
    "ropes.py": "def coil(rope):\n    return rope\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "repositories" / "harbour"
    folder.mkdir(parents=True)
    for name, source in SOURCES.items():
        (folder / name).write_text(source)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_ours_is_measured_and_a_peer_that_is_missing_or_fails_is_told(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (code_search, code_trial):
        monkeypatch.setattr(module, "TIMES", 1)
    query = {"repo": "harbour", "root": "", "query": "kindle_the_lamp", "path": "lamp.py", "line": 1}
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "symbols.jsonl").write_text(json.dumps(query) + "\n")
    broken = tmp_path / "peers" / "node_modules" / "@vscode" / "ripgrep-linux-x64" / "bin" / "rg"
    broken.parent.mkdir(parents=True)
    broken.write_text("this cannot be run")
    options = argparse.Namespace(
        data=tmp_path,
        repositories=checkout.parent,
        sets="symbols",
        only="",
        peers="semble,ripgrep",
        peers_folder=tmp_path / "peers",
        cost="harbour",
    )

    rows, notes = code_search.measure(options)

    figures = {row.name: (row.ours, dict(row.beside)) for row in rows}
    assert figures.pop("symbols: first is right") == (1.0, {})
    assert figures.pop(f"harbour: {code_search.FRESH}") == (1, {})
    assert {name for name, (ours, beside) in figures.items() if not ours or beside} == set()
    assert len(figures) == 13
    assert notes[:3] == [
        f"semble is not installed in {tmp_path / 'peers'}: `make bench-code` installs it",
        "symbols harbour: 1.000 of 1",
        "ripgrep ended while it was asked to search harbour; its last words are above; so it has no averages",
    ]
    assert {path.name: path.read_text() for path in checkout.glob("*.py")} == SOURCES


def test_a_peer_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SystemExit, match="no such peers: grep; there are semble, codegraph, ripgrep"):
        code_search.measure(argparse.Namespace(peers="grep,ripgrep"))


async def test_with_ripgrep_the_most_words_win_and_a_definition_comes_before_a_use(tmp_path: Path) -> None:
    program = tmp_path / "rg"

    def prints(*lines: str) -> None:
        (tmp_path / "told").write_text("\n".join(lines))
        program.write_text("#!/bin/sh\ncat told\n")
        program.chmod(0o755)

    ripgrep = Ripgrep(tmp_path, tmp_path, program)
    prints(
        "./b.py\0001:lamp",
        "./b.py\0002:Lamp",
        "./b.py\0003:LAMP",
        "./a.py\0001:oil",
        "./a.py\0002:lamp",
        "./c.py\0001:oil",
    )
    assert [hit.path for hit in await ripgrep.search("where is the lamp oil?")] == ["a.py", "b.py", "c.py"]
    assert await ripgrep.search("how is it?") == []
    prints("./a.py\0007:    coil(rope)", "./b.py\0003:def coil(rope):")
    assert await ripgrep.symbol("coil") == [Hit("b.py", 3, 3), Hit("a.py", 7, 7)]


def test_memory_and_cpu_of_what_a_process_started_are_counted_also_when_it_has_ended() -> None:
    busy = "import time\nwhile time.process_time() < 0.2: pass"
    holding = "import sys\nheld = b'x' * 60_000_000\nsys.stdin.read()"
    parent = (
        f"import subprocess, sys\nfor code in ({busy!r}, {holding!r}): subprocess.run([sys.executable, '-c', code])"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE) as process:
        meter = Meter(process.pid)
        until = time.monotonic() + 60
        while meter.largest < 60:
            assert time.monotonic() < until, "what it started was not seen"
        meter.look()
        meter.close()
        assert meter.together > meter.largest
        assert meter.cpu() >= 0.2


def test_some_of_many_are_taken_from_beginning_to_end() -> None:
    names = [f"{number}.py" for number in range(100)]
    assert spread(names, 5) == ["10.py", "30.py", "50.py", "70.py", "90.py"]
    assert spread(names[:2], 5) == names[:2]
    assert spread([], 5) == []
