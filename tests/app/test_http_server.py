"""The server's door: loopback without a key, a key for everybody else."""

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
def test_013_the_command_refuses_too_and_says_what_to_do(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [*PROGRAM, "serve", *arguments, "--port", "0"],
        env={**environment(tmp_path), "SCRUBJAY_ENVIRONMENT": "development" if arguments else "production"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 12
    assert "hint: make a key with `scrubjay keys create`, or set SCRUBJAY_API_KEY" in done.stderr
    assert not (tmp_path / "scrubjay.db").exists()


def test_013_with_a_key_every_protocol_asks_for_it(tmp_path: Path) -> None:
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


def test_a_page_that_rebinds_its_name_is_refused(url: str) -> None:
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        for path in ("/v1/tools/recall", "/mcp"):
            for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                assert http.post(path, json={}, headers=headers).status_code == 403


def test_a_taken_port_is_told_with_what_to_do(url: str, tmp_path: Path) -> None:
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


def test_what_to_paste_never_shows_the_key() -> None:
    assert client_configuration("http://127.0.0.1:4000", with_key=True) == {
        "mcpServers": {
            "scrubjay": {
                "type": "http",
                "url": "http://127.0.0.1:4000/mcp",
                "headers": {"Authorization": "Bearer ${SCRUBJAY_API_KEY}"},
            }
        }
    }
