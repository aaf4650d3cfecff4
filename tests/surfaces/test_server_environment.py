"""The keys of the server are in no environment that another program could read, and the server can still use them."""

import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.features.workspace.web.local_site import site
from tests.surfaces.callers import PROGRAM, environment

MASTER = "master-key-of-the-server"
SECRETS = {
    "SCRUBJAY_API_KEY": MASTER,
    "OPENAI_API_KEY": "sk-of-the-provider-1",
    "EXA_API_KEY": "key-of-the-search-1",
    "COMPANY_MODEL_CREDENTIALS": "value-of-the-model-1",
    "GITHUB_TOKEN": "token-of-the-forge-1",
}
linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows environments in /proc")


@contextmanager
def serving(home: Path, **settings: str) -> Generator[tuple[int, httpx2.Client]]:
    """Run a server in an environment with secrets; yield its pid and a client with the key of the settings."""
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"],
        env={**environment(home), **SECRETS, **settings},
        cwd=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        url = next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        headers = {"Authorization": f"Bearer {MASTER}"}
        with httpx2.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
            yield process.pid, client
    finally:
        process.terminate()
        process.communicate(timeout=30)


def call(client: httpx2.Client, tool: str, **arguments: Any) -> Any:
    return client.post(f"/v1/tools/{tool}", json=arguments).raise_for_status().json()


def family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        children += map(int, (task / "children").read_text().split())
    return [pid, *(member for child in children for member in family(child))]


def shown_environments(pid: int) -> dict[int, bytes]:
    return {member: Path(f"/proc/{member}/environ").read_bytes() for member in family(pid)}


@linux
def test_17_neither_the_server_nor_a_child_shows_a_key_in_its_environment(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("begun\n")
    model = {"SCRUBJAY_LLM_API_KEY_ENV": "COMPANY_MODEL_CREDENTIALS", "SCRUBJAY_LLM_BASE_URL": "http://127.0.0.1:1/v1"}
    section = {"SCRUBJAY_WEB_SEARCH_KEY": "key-of-the-search-2", "scrubjay_llm": '{"api_key": "sk-of-the-section-1"}'}
    by_value = {
        "DATABASE_URL": "postgres://ada:tulip42x@db/app",
        "OPENAI_KEY": "sk-proj-zzzzzzzzzz1234567890abcd",
        "NOTIFY_URL": "https://hooks.slack.com/services/T00000000/B00000000/a1B2c3D4e5F6g7H8i9J0k1L2",
    }
    # Clients of services read it when they connect.
    proxy = {"HTTPS_PROXY": "http://ada:tulip43x@127.0.0.1:1"}
    section |= by_value
    with serving(tmp_path, SCRUBJAY_LLM_MODEL="some", **model, **section, **proxy) as (pid, client):
        assert client.post("/v1/tools/recall", json={"query": "x"}, headers={"Authorization": "x"}).status_code == 401
        call(client, "terminal", operation="start_process", command="tail -f log.txt", timeout=5000)
        shown = shown_environments(pid)
        assert len(shown) >= 2
        assert b"SCRUBJAY_HOME=" in shown[pid]  # the rest stays
        assert b"HTTPS_PROXY=" in shown[pid]
        for name, value in {**SECRETS, **section}.items():
            assert not any(value.encode() in text for text in shown.values()), name
            assert not any(f"{name}=".encode() in text for text in shown.values()), name
        assert not any(value in call(client, "terminal", command="env")["output"] for value in SECRETS.values())


def test_17_a_key_of_the_environment_is_still_used(tmp_path: Path) -> None:
    with site() as served, serving(tmp_path, SCRUBJAY_WEB_SEARCH_URL=served.url) as (_, client):
        call(client, "search", query="elixir")
        assert served.requests[0].headers["x-api-key"] == SECRETS["EXA_API_KEY"]


def test_17_a_variable_that_the_owner_passes_on_is_still_passed_on(tmp_path: Path) -> None:
    with serving(tmp_path, SCRUBJAY_TERMINAL_VARIABLES='["GITHUB_TOKEN"]') as (_, client):
        output = call(client, "terminal", command="env")["output"]
        assert f"GITHUB_TOKEN={SECRETS['GITHUB_TOKEN']}\n" in output
        assert MASTER not in output


@linux
@pytest.mark.parametrize("command", ["ps axe", "ps -axe", "ps -auxe", "ps auxeww", "ps -ef e", "ps -o pid,environ"])
def test_17_a_key_with_only_terminal_cannot_read_the_key_of_the_server(tmp_path: Path, command: str) -> None:
    created = subprocess.run(
        [*PROGRAM, "keys", "create", "--name", "only", "--scopes", "terminal", "--json"],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    key = re.findall(r"sjk_[0-9a-f]{64}", created.stdout)[0]
    with serving(tmp_path) as (_, client):
        client.headers["Authorization"] = f"Bearer {key}"
        result = call(client, "terminal", command=command)
        assert (result["status"], result["output"][:15]) == (1, "Security error:")
        assert client.post("/v1/tools/recall", json={"query": "x"}).status_code == 403


def test_17_secrets_in_command_lines_are_masked_in_every_listing(tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuv123456"
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", f"--api-key={secret}", "marked"])
    try:
        with serving(tmp_path) as (_, client):
            for command in ("ps auxww", "ps -ef", "ps -eo pid,args", f"ps -p {sleeper.pid} -o args", "pgrep -a python"):
                output = call(client, "terminal", command=command)["output"]
                assert "marked" in output, command
                assert secret[:14] not in output, command
            for session in ("ps auxww", "pgrep -a python"):
                refused = client.post("/v1/tools/terminal", json={"operation": "start_process", "command": session})
                assert refused.status_code == 403
            assert secret[:14] not in str(call(client, "terminal", operation="list_processes"))
    finally:
        sleeper.kill()
        sleeper.wait()
