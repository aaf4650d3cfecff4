"""A real server and the real commands on a store whose file was damaged."""

import json
import random
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.app.test_commands import run
from tests.surfaces.callers import server

MEMORIES = 40
QUESTIONS = ("which drawer has the scissors?", "drawer number 7", "where are the keys?", "blue drawer", "scissors")


def text_of(number: int) -> str:
    return f"The drawer with number {number} is blue and has the scissors and the keys of room {number}."


def call(url: str, tool: str, **arguments: Any) -> httpx2.Response:
    return httpx2.post(f"{url}/v1/tools/{tool}", json=arguments, timeout=30, trust_env=False)


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the database of a store that a real server wrote."""
    home = tmp_path_factory.mktemp("intact")
    with server(home) as url:
        for number in range(MEMORIES):
            answer = call(url, "remember", content=text_of(number), key=f"key-{number}", metadata={"only": "in rows"})
            assert answer.status_code == 200
    assert run(home, "store", "check").returncode == 0
    return (home / "scrubjay.db").read_bytes()


def flip(data: bytes, seed: int, flips: int) -> bytes:
    """Flip bits in the pages that have rows of memories."""
    choose, damaged = random.Random(seed), bytearray(data)
    pages = [page for page in range(0, len(data), 4096) if b'"only":"in rows"' in data[page : page + 4096]]
    for _ in range(flips):
        damaged[choose.choice(pages) + choose.randrange(4096)] ^= 1 << choose.randrange(8)
    return bytes(damaged)


@pytest.mark.parametrize("seed", range(8))
def test_a_server_on_a_damaged_store_returns_only_true_memories_and_no_bug(
    tmp_path: Path, intact: bytes, seed: int
) -> None:
    (tmp_path / "scrubjay.db").write_bytes(flip(intact, seed, 5 * (seed + 1)))
    texts = {text_of(number) for number in range(MEMORIES)}
    incomplete = False
    with server(tmp_path) as url:
        answers = [call(url, "recall", query=question, limit=50) for question in QUESTIONS]
        answers.append(call(url, "list_memories", limit=200))
        answers += [call(url, "forget", key=f"key-{number}") for number in range(3)]
        answers.append(call(url, "remember", content="written to a damaged store"))
        for answer in answers:
            body = answer.json()
            assert answer.status_code != 500, body
            assert "this is a bug" not in answer.text
            assert {one["content"] for one in body.get("memories", [])} <= texts
            incomplete |= answer.status_code == 503 or bool(body.get("degraded"))
    assert incomplete
    check = run(tmp_path, "store", "check")
    assert (check.returncode, "Traceback" in check.stderr) == (1, False)


def test_damage_is_checked_repaired_and_recalled_by_the_commands(tmp_path: Path, intact: bytes) -> None:
    wrong = text_of(7).replace("drawer", "erawer")
    assert intact.count(text_of(7).encode()) == 1
    (tmp_path / "scrubjay.db").write_bytes(intact.replace(text_of(7).encode(), wrong.encode()))
    check = run(tmp_path, "store", "check", "--json")
    assert check.returncode == 1
    (problem,) = json.loads(check.stdout)["problems"]
    assert problem.startswith("memory mem_")
    assert problem.endswith("its checksum does not match its values")
    with server(tmp_path) as url:
        answer = call(url, "recall", query="drawer number 7", limit=50).json()
        assert answer["degraded"] == "1 damaged memory is left out: run `scrubjay store check`"
        assert len(answer["memories"]) == MEMORIES - 1
        listed = call(url, "list_memories", limit=200).json()
        assert (listed["total"], len(listed["memories"])) == (MEMORIES, MEMORIES - 1)
        assert listed["degraded"] == answer["degraded"]
        refused = run(tmp_path, "store", "repair")
        assert refused.returncode != 0
        assert "stop all Scrubjay servers" in refused.stderr
    dry = json.loads(run(tmp_path, "store", "repair", "--dry-run", "--json").stdout)
    assert (dry["lost"], dry["replaced"]) == ([problem], None)
    assert run(tmp_path, "store", "check").returncode == 1
    done = run(tmp_path, "store", "repair")
    assert (done.returncode, f"Not recovered: {problem}" in done.stdout) == (0, True)
    assert run(tmp_path, "store", "check").returncode == 0
    with server(tmp_path) as url:
        answer = call(url, "recall", query="drawer number 8", limit=50).json()
        assert (answer["degraded"], len(answer["memories"])) == (None, MEMORIES - 1)


def test_a_store_whose_schema_is_damaged_is_refused_without_a_traceback(tmp_path: Path, intact: bytes) -> None:
    damaged = intact.replace(b"CREATE TABLE memory (", b"CREATE TABLF memory (", 1)
    assert damaged != intact
    (tmp_path / "scrubjay.db").write_bytes(damaged)
    check = run(tmp_path, "store", "check")
    assert (check.returncode, "Traceback" in check.stderr) == (11, False)
    assert "malformed" in check.stderr
    dry = run(tmp_path, "store", "repair", "--dry-run")
    assert (dry.returncode, "Traceback" in dry.stderr) == (11, False)
    assert "the definition of the table memory cannot be read" in dry.stderr
    assert (tmp_path / "scrubjay.db").read_bytes()[100:] == damaged[100:]
