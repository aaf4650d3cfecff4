"""Access to the HTTP server: no key on loopback, a key everywhere else."""

import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from scrubjay.app.http_server import client_configuration, needs_key
from scrubjay.app.settings import Settings
from tests.surfaces.callers import PROGRAM, environment, server

KEY = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server without a key."""
    with server(tmp_path_factory.mktemp("home")) as url:
        yield url


def settings(**chosen: object) -> Settings:
    return Settings.model_validate({"home": "/tmp/unused", **chosen})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_013_listening_beyond_loopback_needs_a_key(host: str) -> None:
    assert needs_key(settings(host=host))
    assert needs_key(settings(environment="production"))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.10"])
def test_013_loopback_needs_no_key(host: str) -> None:
    assert not needs_key(settings(host=host))


@pytest.mark.parametrize("arguments", [["--host", "0.0.0.0"], []])
def test_013_the_command_refuses_to_start_without_a_key_and_gives_a_hint(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [*PROGRAM, "serve", *arguments, "--port", "0"],
        env={**environment(tmp_path), "SCRUBJAY_ENVIRONMENT": "development" if arguments else "production"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 12
    assert "hint: create a key with `scrubjay keys create`, or set SCRUBJAY_API_KEY" in done.stderr
    assert not (tmp_path / "scrubjay.db").exists()


def start_beyond_loopback(home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Start a server whose address is not of this machine, so that it ends even if nothing is refused."""
    return subprocess.run(
        [*PROGRAM, "serve", "--host", "192.0.2.7", "--port", "0"],
        env={**environment(home), "SCRUBJAY_API_KEY": KEY, **settings},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_command_refuses_to_listen_beyond_loopback_without_code_roots(tmp_path: Path) -> None:
    done = start_beyond_loopback(tmp_path)
    assert done.returncode == 12
    assert "SCRUBJAY_CODE_ROOTS does not say which folders may be indexed" in done.stderr
    assert "or offer no tools for code with SCRUBJAY_CODE_ENABLED=false" in done.stderr
    for name, value in (("ROOTS", f'["{tmp_path}"]'), ("ENABLED", "false")):
        done = start_beyond_loopback(tmp_path, **{f"SCRUBJAY_CODE_{name}": value})
        assert "cannot listen on 192.0.2.7" in done.stderr, done.stderr


def test_code_can_be_switched_off(tmp_path: Path) -> None:
    with (
        server(tmp_path, SCRUBJAY_CODE_ENABLED="false") as url,
        httpx2.Client(base_url=url, timeout=30, trust_env=False) as http,
    ):
        refused = http.post("/v1/tools/ensure_repo_index", json={"path": str(tmp_path)})
        assert refused.status_code == 503
        assert "SCRUBJAY_CODE_ENABLED=true" in refused.text
        assert http.get("/v1/resources", params={"uri": "repo://status"}).status_code == 404


def test_013_with_a_key_every_protocol_requires_it(tmp_path: Path) -> None:
    with (
        server(tmp_path, SCRUBJAY_API_KEY=KEY) as url,
        httpx2.Client(base_url=url, timeout=30, trust_env=False) as http,
    ):
        assert http.get("/health").status_code == 200
        for method, path in (("POST", "/v1/tools/recall"), ("GET", "/v1/tools"), ("POST", "/mcp"), ("GET", "/mcp")):
            for headers in ({}, {"Authorization": "Bearer wrong-key-wrong-key"}, {"Authorization": KEY}):
                refused = http.request(method, path, headers=headers, json={})
                assert refused.status_code == 401
                assert refused.headers["WWW-Authenticate"] == "Bearer"
                assert KEY not in refused.text
        answer = http.post("/v1/tools/recall", json={"query": "anything"}, headers={"Authorization": f"Bearer {KEY}"})
        assert answer.json()["memories"] == []


def test_a_key_does_not_read_the_store_or_secrets_through_the_code_tools(tmp_path: Path) -> None:
    """As in the attack: index a folder, then search it."""
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / "backups", work):
        folder.mkdir(parents=True)
    (home / "backups" / "weekly.py").write_text("merger = 'the merger with Initech closes'")
    (work / "to-home").symlink_to(home)
    (work / "a.py").write_text("def one(): pass")
    headers = {"Authorization": f"Bearer {KEY}"}
    with (
        server(home, SCRUBJAY_API_KEY=KEY, SCRUBJAY_FILES_ROOT=str(work)) as url,
        httpx2.Client(base_url=url, timeout=30, trust_env=False, headers=headers) as http,
    ):
        for place in (home, work / "to-home", "~/.ssh", "/etc/ssl", "/proc/self", tmp_path, "/"):
            refused = http.post("/v1/tools/ensure_repo_index", json={"path": str(place)})
            assert refused.status_code == 403, place
        allowed = http.post("/v1/tools/ensure_repo_index", json={"path": str(work)})
        assert allowed.status_code == 200


def test_dns_rebinding_is_refused(url: str) -> None:
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        for path in ("/v1/tools/recall", "/mcp"):
            for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                assert http.post(path, json={}, headers=headers).status_code == 403


def test_a_signal_that_arrives_twice_ends_the_server_in_order(tmp_path: Path) -> None:
    command = [*PROGRAM, "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert any("Press Ctrl-C" in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


def test_a_port_in_use_is_reported_with_a_hint(url: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "serve", "--port", url.rsplit(":", 1)[1]],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 10
    assert "hint: another program uses the port" in done.stderr


def test_the_client_configuration_does_not_contain_the_key() -> None:
    assert client_configuration("http://127.0.0.1:4000", with_key=True) == {
        "mcpServers": {
            "scrubjay": {
                "type": "http",
                "url": "http://127.0.0.1:4000/mcp",
                "headers": {"Authorization": "Bearer ${SCRUBJAY_API_KEY}"},
            }
        }
    }
