"""Programs that a key started end with the key, and nothing outlives the server."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest

from tests.liveness import is_alive
from tests.surfaces.callers import PROGRAM, environment

# Ignores SIGTERM and has a child in a session of its own that ignores it too.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) == 1:
    child = subprocess.Popen([sys.executable, sys.argv[0], "child"], start_new_session=True)
    print(os.getpid(), child.pid, flush=True)
time.sleep(1000)
"""


def wait_until_ended(pids: list[int], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)  # only a parent is notified of the end of a process
    assert not any(map(is_alive, pids))


def keys(home: Path, *words: str) -> str:
    return subprocess.run(
        [*PROGRAM, "keys", *words], env=environment(home), cwd=home, capture_output=True, text=True, check=True
    ).stdout


def new_key(home: Path, name: str, *options: str) -> str:
    created = keys(home, "create", "--name", name, "--scopes", "terminal", *options)
    return re.findall(r"sjk_[0-9a-f]{64}", created)[0]


@contextmanager
def serving(home: Path, **settings: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"],
        env={**environment(home), **settings},
        cwd=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield (
            process,
            next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line))),
        )
    finally:
        process.kill()
        process.communicate(timeout=30)


def call(url: str, key: str, **arguments: Any) -> Any:
    return call_tool(url, "terminal", key, **arguments)


def call_tool(url: str, tool: str, key: str, **arguments: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx2.post(f"{url}/v1/tools/{tool}", json=arguments, headers=headers, trust_env=False, timeout=60)
    return answer.raise_for_status().json()


def start_endless_search(home: Path, server: int, url: str, key: str) -> list[int]:
    """Start a search whose regular expression takes very long; return the pids of its processes."""
    (home / "long.txt").write_text("a" * 60 + "!\n")
    request = {"operation": "search", "path": "long.txt", "pattern": "(a+)+$"}

    def search() -> None:
        with suppress(httpx2.HTTPError):
            call_tool(url, "file", key, **request)

    Thread(target=search, daemon=True).start()
    deadline = time.monotonic() + 30
    while not any(map(has_cpu_limit, found := descendants(server))):
        assert time.monotonic() < deadline
        time.sleep(0.02)  # only the server is notified of the start of a process
    return found


def has_cpu_limit(pid: int) -> bool:
    """Return whether a process has received its request: then it limits its processor time."""
    try:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    except OSError:  # it has ended
        return False
    return any(line.startswith("Max cpu time") and line.split()[3] != "unlimited" for line in lines)


def descendants(pid: int) -> list[int]:
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [*children, *(inner for child in children for inner in descendants(child))]


def start_stubborn(home: Path, url: str, key: str) -> list[int]:
    """Start a program that ignores SIGTERM; return its pid and that of its child."""
    (home / "stubborn.py").write_text(STUBBORN)
    command = f"{sys.executable} stubborn.py"
    started = call(url, key, operation="start_process", command=command, restricted=False, timeout=20_000)
    pids = [int(word) for word in started["initial_output"].split()]
    assert len(pids) == 2
    assert all(map(is_alive, pids))
    return pids


@pytest.mark.parametrize("end", ["revoke", "expire", "rotate"])
def test_29_a_session_ends_with_the_key_that_started_it(tmp_path: Path, end: str) -> None:
    (tmp_path / "log.txt").write_text("begun\n")
    other = new_key(tmp_path, "other")
    settings = {"SCRUBJAY_TERMINAL_UNRESTRICTED": "true", "SCRUBJAY_TERMINAL_MAX_SESSIONS": "3"}
    with serving(tmp_path, **settings) as (_, url):
        key = new_key(tmp_path, "mine", *(["--expires", "8s"] if end == "expire" else []))
        kept = call(url, other, operation="start_process", command="tail -f log.txt", timeout=10_000)["pid"]
        pids = [call(url, key, operation="start_process", command="tail -f log.txt", timeout=10_000)["pid"]]
        pids += start_stubborn(tmp_path, url, key)
        if end != "expire":
            keys(tmp_path, end, "mine")
        wait_until_ended(pids, 40.0)
        assert is_alive(kept)
        # Their places are free again.
        for _ in range(2):
            call(url, other, operation="start_process", command="tail -f log.txt", timeout=0)


def test_29_a_running_command_ends_with_its_key(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("begun\n")
    key = new_key(tmp_path, "mine")
    with serving(tmp_path) as (server, url):
        headers = {"Authorization": f"Bearer {key}"}
        command = {"command": "tail -f log.txt", "timeout": 600_000}
        client = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import sys, json, httpx2; httpx2.post(sys.argv[1], json=json.loads(sys.argv[2]),"
                "headers=json.loads(sys.argv[3]), trust_env=False, timeout=600)",
                f"{url}/v1/tools/terminal",
                json.dumps(command),
                json.dumps(headers),
            ]
        )
        try:
            deadline = time.monotonic() + 30
            while not (found := tails_of(server.pid)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert found
            keys(tmp_path, "revoke", "mine")
            wait_until_ended(found)
        finally:
            client.kill()
            client.wait()


def tails_of(pid: int) -> list[int]:
    """Return the descendants of a process that run `tail`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            try:
                if Path(f"/proc/{child}/cmdline").read_bytes().startswith((b"tail\0", b"/usr/bin/tail\0")):
                    found.append(child)
                found += tails_of(child)
            except OSError:
                continue
    return found


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_29_a_program_that_ignores_sigterm_does_not_outlive_the_server(tmp_path: Path, end: signal.Signals) -> None:
    with serving(tmp_path, SCRUBJAY_TERMINAL_UNRESTRICTED="true", SCRUBJAY_API_KEY="master-key-1") as (process, url):
        pids = start_stubborn(tmp_path, url, "master-key-1")
        if end == signal.SIGKILL:
            pids += start_endless_search(tmp_path, process.pid, url, "master-key-1")
        os.kill(process.pid, end)
        process.wait(30)
        wait_until_ended(pids, 5.0)
