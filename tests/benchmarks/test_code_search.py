"""Engines run in child processes on copies of a checkout, and missing or failing engines are reported."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import code_search, engine_process
from benchmarks.code_engine import Hit
from benchmarks.engine_process import pick_evenly
from benchmarks.peers.ripgrep import Ripgrep
from benchmarks.process_meter import ProcessMeter

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


def test_ours_is_measured_and_missing_or_failing_peers_are_reported(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (code_search, engine_process):
        monkeypatch.setattr(module, "REPETITIONS", 1)
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
        "ripgrep exited during search of harbour; see its stderr above; its averages are omitted",
    ]
    assert {path.name: path.read_text() for path in checkout.glob("*.py")} == SOURCES


def test_an_unknown_peer_is_refused() -> None:
    with pytest.raises(SystemExit, match="unknown peers: grep; choose from semble, codegraph, ripgrep"):
        code_search.measure(argparse.Namespace(peers="grep,ripgrep"))


async def test_ripgrep_ranks_files_by_matched_words_and_definitions_before_uses(tmp_path: Path) -> None:
    program = tmp_path / "rg"

    def prints(*lines: str) -> None:
        (tmp_path / "output").write_text("\n".join(lines))
        program.write_text("#!/bin/sh\ncat output\n")
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


def test_the_meter_counts_memory_and_cpu_of_running_and_ended_descendants() -> None:
    busy = "import time\nwhile time.process_time() < 0.2: pass"
    holding = "import sys\nheld = b'x' * 60_000_000\nsys.stdin.read()"
    parent = (
        f"import subprocess, sys\nfor code in ({busy!r}, {holding!r}): subprocess.run([sys.executable, '-c', code])"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE) as process:
        meter = ProcessMeter(process.pid)
        until = time.monotonic() + 60
        while meter.largest < 60:
            assert time.monotonic() < until, "the descendant was not measured"
        meter.sample()
        meter.close()
        assert meter.together > meter.largest
        assert meter.cpu() >= 0.2


def test_names_are_picked_at_even_distances() -> None:
    names = [f"{number}.py" for number in range(100)]
    assert pick_evenly(names, 5) == ["10.py", "30.py", "50.py", "70.py", "90.py"]
    assert pick_evenly(names[:2], 5) == names[:2]
    assert pick_evenly([], 5) == []
