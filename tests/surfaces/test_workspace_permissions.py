"""Permissions and clean-up of files, commands and the web. Numbers are rows of the feature table."""

import os
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings, load_settings
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, Misconfigured, Unavailable
from scrubjay.tooling.context import CallContext
from tests.features.workspace.web.local_site import site
from tests.liveness import is_alive
from tests.surfaces.callers import PROGRAM, environment


@contextmanager
def serving(home: Path) -> Generator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [*PROGRAM, "serve", "--port", "0"], env=environment(home), cwd=home, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        line = next(line for line in process.stdout if "http://127.0.0.1:" in line)
        yield process, line[line.index("http://127") :].split()[0].rstrip(".,")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_29_terminal_sessions_end_with_the_server(tmp_path: Path, end: signal.Signals) -> None:
    with serving(tmp_path) as (process, url):
        (tmp_path / "log.txt").write_text("begun\n")
        pids: list[int] = []
        # `cat` ends when its input is closed; `tail -f` would run forever.
        for command in ("cat", "tail -f log.txt"):
            arguments = {"operation": "start_process", "command": command, "timeout": 10}
            answer = httpx2.post(f"{url}/v1/tools/terminal", json=arguments, trust_env=False, timeout=30).json()
            pids.append(answer["pid"])
        assert all(map(is_alive, pids))
        os.kill(process.pid, end)
        process.wait(30)
        deadline = time.monotonic() + 10
        while any(map(is_alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.02)  # only a parent is notified of the end of a process
        assert not any(map(is_alive, pids))


async def test_15_a_key_allows_only_its_scopes(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "notes.txt").write_text("one")
    settings = Settings.model_validate({"home": tmp_path / "home", "files": {"root": tmp_path / "root"}})

    def with_scopes(*scopes: str) -> CallContext:
        return CallContext(surface="rest", caller=Caller("key", frozenset(scopes), key_id="key_1"))

    async with running(settings) as application:

        async def call(tool: str, context: CallContext, **arguments: Any) -> Any:
            return await application.dispatcher.call(tool, arguments, context)

        assert (await call("file", with_scopes("files:read"), operation="read", path="notes.txt")).content == "one"
        assert (await call("file", with_scopes("*:read"), operation="ls")).names == ["notes.txt"]
        assert (await call("terminal", with_scopes("terminal:read"), operation="list_sessions")).sessions == []
        for context, tool, arguments in (
            (with_scopes("files:read"), "file", {"operation": "write", "path": "notes.txt", "content": "two"}),
            (with_scopes("*:read"), "file", {"operation": "move", "path": "notes.txt", "destination": "x"}),
            (with_scopes("files:read"), "file", {"path": "notes.txt"}),
            (with_scopes("files:read"), "file", {"operation": ["read"], "path": "notes.txt"}),
            (with_scopes("memory", "code"), "file", {"operation": "read", "path": "notes.txt"}),
            (with_scopes("files", "web"), "terminal", {"command": "ls"}),
            (with_scopes("terminal:read"), "terminal", {"command": "ls"}),
            (with_scopes("terminal:read"), "terminal", {"operation": "execute", "command": "ls"}),
            (with_scopes("*:read"), "terminal", {"operation": "kill", "pid": 1}),
            (with_scopes("memory"), "fetch", {"url": "https://example.com"}),
            (with_scopes("web:read"), "fetch", {"url": "https://example.com"}),
            (with_scopes("files"), "search", {"query": "x"}),
        ):
            with pytest.raises(Forbidden, match="may not access"):
                await call(tool, context, **arguments)
        assert (tmp_path / "root" / "notes.txt").read_text() == "one"


async def test_29_a_terminal_session_is_visible_only_to_its_key(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path / "home", "files": {"root": tmp_path}})
    first, second = (
        CallContext(surface="rest", caller=Caller(name, frozenset({"terminal"}), key_id=name)) for name in ("a", "b")
    )
    async with running(settings) as application:
        call = application.dispatcher.call
        started: Any = await call("terminal", {"operation": "start_process", "command": "cat", "timeout": 0}, first)
        listed: Any = await call("terminal", {"operation": "list_sessions"}, second)
        assert listed.sessions == []
        with pytest.raises(Exception, match="there is no session"):
            await call("terminal", {"operation": "read_output", "pid": started.pid}, second)
    assert not is_alive(started.pid)


@pytest.mark.parametrize(("family", "tool"), [("files", "file"), ("terminal", "terminal"), ("web", "fetch")])
async def test_each_family_can_be_disabled(tmp_path: Path, family: str, tool: str) -> None:
    settings = Settings.model_validate({"home": tmp_path, family: {"enabled": False}})
    async with running(settings) as application:
        assert tool not in application.registry
        with pytest.raises(Unavailable, match="switched off") as refused:
            await application.dispatcher.call(tool, {}, CallContext(surface="python"))
    assert refused.value.hint == f"the operator can enable it with SCRUBJAY_{family.upper()}_ENABLED=true"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "SCRUBJAY_TERMINAL_UNRESTRICTED=true"),
        (".env", "SCRUBJAY_FILES_ROOT=/"),
        (".env", 'SCRUBJAY_WEB_ALLOWED_HOSTS=["169.254.169.254"]'),
        ("scrubjay.toml", "[terminal]\nunrestricted = true"),
        ("scrubjay.toml", '[terminal]\nvariables = ["AWS_SECRET_ACCESS_KEY"]'),
        ("scrubjay.toml", '[web]\nsearch_url = "https://evil.example.com"'),
    ],
)
def test_17_files_of_the_working_directory_cannot_extend_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(Misconfigured, match="cannot be set by a file in the working directory"):
        load_settings()
    (tmp_path / name).unlink()
    monkeypatch.setenv("SCRUBJAY_TERMINAL_UNRESTRICTED", "true")
    assert load_settings().terminal.unrestricted


async def test_30_31_32_every_format_observes_its_arguments(tmp_path: Path) -> None:
    with site() as served:
        settings = Settings.model_validate(
            {
                "home": tmp_path,
                "web": {
                    "allowed_hosts": [f"127.0.0.1:{served.port}"],
                    "search_url": served.url,
                    "search_key": "the-search-key",
                },
            }
        )
        async with running(settings) as application:

            async def call(tool: str, **arguments: Any) -> Any:
                answer = await application.dispatcher.call(tool, arguments, CallContext(surface="python"))
                return answer.model_dump(mode="json")

            page = await call("fetch", url=f"{served.url}/page", format="markdown")
            assert page["content"] == f"# Welcome\n\nRead [more]({served.url}/more)."
            assert (await call("fetch", url=f"{served.url}/json", format="json"))["data"] == {"a": [1, None]}
            assert "<nav>" in (await call("fetch", url=f"{served.url}/page", format="html"))["content"]
            raw = await call("fetch", url=f"{served.url}/missing", format="raw")
            assert (raw["status"], raw["body"], raw["headers"]["content-length"]) == (404, "nothing here", "12")
            assert (await call("http_request", url=f"{served.url}/text"))["body"] == "plain text"
            for kind in ("text", "html", "json", "markdown", "raw"):
                served.requests.clear()
                headers = [{"name": "X-Mine", "value": kind}]
                await call(
                    "fetch", url=f"{served.url}/echo", format=kind, method="POST", json={"x": 1}, headers=headers
                )
                (request,) = served.requests
                assert (request.method, request.body, request.headers["X-Mine"]) == ("POST", b'{"x": 1}', kind)
                with pytest.raises(Unavailable, match="Request timed out"):
                    await call("fetch", url=f"{served.url}/hang", format=kind, timeout=200)
            assert (await call("search", query="x"))["results"][0] == {
                "title": "T",
                "url": "https://e.com",
                "text": "words",
                "score": 0.5,
            }
