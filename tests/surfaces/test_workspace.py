"""Files, commands and the web, on every surface. Numbers are rows of the feature table."""

from pathlib import Path

import anyio
import pytest

from tests.surfaces.callers import Caller, CallFailed, Json, sample_cases
from tests.surfaces.conftest import OpenSurface

# The working directory of the surfaces, and so the root of their files, is their home.


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> str:
    """A folder under the root that only this test uses."""
    place = home / "work" / tmp_path.name
    place.mkdir(parents=True)
    return str(place.relative_to(home))


async def test_27_every_file_operation_works(call: Caller, folder: str, home: Path) -> None:
    path = f"{folder}/notes.txt"

    async def file(operation: str, **arguments: object) -> Json:
        return await call("file", operation=operation, **arguments)

    assert await file("write", path=path, content="one\ntwo\n") == {"operation": "write", "path": path, "ok": True}
    await file("write", path=path, content="three\n", mode="append")
    assert (await file("read", path=path))["content"] == "one\ntwo\nthree\n"
    assert (await file("read_lines", path=path, start_line=2))["lines"] == ["two", "three"]
    await file("insert_after", path=path, content="top")
    await file("insert_before", path=path, line_number=2, content="second")
    await file("replace_lines", path=path, start_line=3, content="ONE")
    await file("delete_lines", path=path, start_line=4, end_line=5)
    assert (home / path).read_text() == "top\nsecond\nONE\n"
    assert (await file("replace_string", path=path, old_str="ONE", new_str="first"))["line"] == 3
    assert (await file("search", path=folder, pattern="^s"))["matches"] == [
        {"file": path, "line": 2, "content": "second"}
    ]
    await file("create_directory", path=f"{folder}/a/b")
    await file("move", path=path, destination=f"{folder}/a/b/moved.txt")
    assert (await file("ls", path=f"{folder}/a/b"))["names"] == ["moved.txt"]
    (entry,) = (await file("list_directory", path=folder, depth=3))["entries"]
    assert entry["children"][0]["children"] == [
        {"name": "moved.txt", "type": "file", "path": f"{folder}/a/b/moved.txt"}
    ]
    info = (await file("get_info", path=f"{folder}/a/b/moved.txt"))["info"]
    assert (info["line_count"], info["is_file"]) == (3, True)
    read = (await file("read_multiple", paths=[f"{folder}/a/b/moved.txt", "nothing"]))["files"]
    assert [one["content"] for one in read] == ["top\nsecond\nfirst\n", None]


BAD: list[tuple[Json, str]] = [
    ({"operation": "read", "path": "../../etc/passwd"}, "forbidden"),
    ({"operation": "read", "path": "nothing/at/all"}, "not_found"),
    ({"operation": "read", "path": "scrubjay.db"}, "forbidden"),
    ({"operation": "write", "path": ".env", "content": "SCRUBJAY_TERMINAL_UNRESTRICTED=true"}, "forbidden"),
    ({"operation": "write", "path": "skills.json", "content": "{}"}, "forbidden"),
    ({"operation": "read", "path": "."}, "invalid_request"),
    ({"operation": "search", "path": "."}, "invalid_request"),
    ({"operation": "remove", "path": "."}, "invalid_request"),
    ({"operation": "read_lines", "path": "x", "start_line": 0}, "invalid_request"),
    ({"operation": "read_lines", "path": "x", "end_line": 0}, "invalid_request"),
    ({"operation": "delete_lines", "path": "x", "end_line": -1}, "invalid_request"),
    ({"operation": "insert_before", "path": "x", "line_number": 0}, "invalid_request"),
    ({"operation": "move", "path": "x"}, "invalid_request"),
    ({"operation": "list_directory", "path": ".", "depth": 1000}, "invalid_request"),
    ({"operation": "read_multiple", "paths": []}, "invalid_request"),
]


async def test_18_19_27_file_refusals_have_the_same_code_on_every_surface(call: Caller) -> None:
    for arguments, code in sample_cases(call, BAD):
        with pytest.raises(CallFailed) as failed:
            await call("file", **arguments)
        assert (failed.value.code, arguments) == (code, arguments)


async def test_28_an_allowed_command_runs_and_another_is_refused(call: Caller, folder: str, home: Path) -> None:
    (home / folder / "notes.txt").write_text("hello\n")
    ran = await call("terminal", command=f"cat {folder}/notes.txt")
    assert ran == {"operation": "execute", "status": 0, "output": "hello\n"}
    refused = await call("terminal", command=f"rm {folder}/notes.txt")
    assert refused == {"operation": "execute", "status": 1, "output": "Security error: Command 'rm' is blocked"}
    with pytest.raises(CallFailed) as failed:
        await call("terminal", command="rm x", restricted=False)
    assert failed.value.code == "forbidden"
    kept_out = await call("terminal", command="cat scrubjay.db")
    assert "belongs to this server's store" in kept_out["output"]
    with pytest.raises(CallFailed) as failed:
        await call("terminal", operation="execute")
    assert failed.value.code == "invalid_request"


@pytest.mark.parametrize("surface", ["python", "mcp-stdio", "mcp-http", "rest"])
async def test_29_a_terminal_session_continues_between_calls(open_surface: OpenSurface, surface: str) -> None:
    call = await open_surface(surface)
    started = await call("terminal", operation="start_process", command="cat", timeout=1)
    pid = started["pid"]
    assert (await call("terminal", operation="interact", pid=pid, input="hello"))["output"] == "hello\n"
    assert pid in [one["pid"] for one in (await call("terminal", operation="list_sessions"))["sessions"]]
    assert pid in [one["pid"] for one in (await call("terminal", operation="list_processes"))["processes"]]
    assert (await call("terminal", operation="read_output", pid=pid, timeout=1))["output"] == ""
    killed = await call("terminal", operation="force_kill", pid=pid)
    assert killed == {"operation": "force_kill", "pid": pid, "status": "force_terminated"}
    with pytest.raises(CallFailed) as failed:
        await call("terminal", operation="kill", pid=1)
    assert (failed.value.code, failed.value.details["reason"]) == ("not_found", "process_not_found")


async def test_29_a_terminal_session_started_by_the_cli_ends_with_it(open_surface: OpenSurface) -> None:
    call = await open_surface("cli")
    started = await call("terminal", operation="start_process", command="cat", timeout=1)
    assert not await anyio.Path(f"/proc/{started['pid']}").exists()


async def test_30_private_addresses_are_not_fetched(call: Caller) -> None:
    for url in sample_cases(
        call, ["http://127.0.0.1:4000/", "http://[::1]/", "http://169.254.169.254/latest/meta-data"]
    ):
        with pytest.raises(CallFailed) as failed:
            await call("fetch", url=url)
        assert (failed.value.code, failed.value.details["reason"]) == ("forbidden", "not_public")
    with pytest.raises(CallFailed) as failed:
        await call("http_request", url="file:///etc/passwd")
    assert failed.value.code == "invalid_request"


async def test_31_html_is_converted_to_readable_text(call: Caller) -> None:
    parsed = await call("web_parse", html="<nav>menu</nav><h1>Hi</h1><a href='/x'>y</a>", url="https://e.com")
    assert parsed == {"markdown": "# Hi\n\n[y](https://e.com/x)"}


async def test_32_a_search_without_a_key_is_unavailable(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXA_API_KEY", raising=False)
    with pytest.raises(CallFailed) as failed:
        await call("search", query="elixir")
    assert (failed.value.code, failed.value.message) == ("unavailable", "EXA_API_KEY not configured")
