"""The commands that run and maintain a server."""

import json
import subprocess
from pathlib import Path

import pytest

from scrubjay import __version__
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG
from tests.surfaces.callers import PROGRAM, environment
from tests.surfaces.commands import run_command


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words],
        env=environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


async def call(home: Path, *words: str) -> bytes:
    """Return what a tool's command prints."""
    result = await run_command([*words], b"", environment(home), home)
    assert result.returncode == 0
    return result.stdout


def test_125_the_version_is_printed(tmp_path: Path) -> None:
    assert run(tmp_path, "--version").stdout == f"scrubjay, version {__version__}\n"


def test_125_help_lists_every_command_and_every_tool(tmp_path: Path) -> None:
    output = run(tmp_path, "--help").stdout
    for word in ("serve", "mcp", "doctor", "store", "remember", "rebuild-derived"):
        assert word in output


async def test_125_a_store_can_be_checked_backed_up_and_compacted(tmp_path: Path) -> None:
    await call(tmp_path, "memory", "remember", "The boiler is in the cellar.")
    checked = run(tmp_path, "store", "check", "--json")
    assert json.loads(checked.stdout)["problems"] == []
    copy = tmp_path / "copy" / "scrubjay.db"
    copy.parent.mkdir()
    backup = json.loads(run(tmp_path, "store", "backup", str(copy), "--json").stdout)
    assert backup["location"] == str(copy)
    assert backup["bytes"] == copy.stat().st_size
    again = run(tmp_path, "store", "backup", str(copy))
    assert again.returncode != 0
    assert "error:" in again.stderr
    assert run(tmp_path, "store", "vacuum").returncode == 0
    recalled = await call(copy.parent, "memory", "recall", "where is the boiler?", "--json")
    assert json.loads(recalled)["memories"][0]["content"] == "The boiler is in the cellar."


async def test_125_damage_is_detected_and_reported(tmp_path: Path) -> None:
    await call(tmp_path, "memory", "remember", "Something worth keeping.")
    (tmp_path / "scrubjay.db").write_bytes(b"not a database, by a long way" * 500)
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"scrubjay.db{suffix}").unlink(missing_ok=True)
    checked = run(tmp_path, "store", "check", "--json")
    assert checked.returncode == 11
    assert json.loads(checked.stdout)["error"]["code"] == "store_unusable"


@pytest.mark.parametrize("command", ["mcp", "serve"])
def test_041_an_unknown_toolset_is_refused_at_startup(tmp_path: Path, command: str) -> None:
    refused = run(tmp_path, command, "--tools", "memmory")
    assert refused.returncode == 2
    assert "did you mean memory" in refused.stderr
    assert refused.stdout == ""


def test_126_an_unknown_setting_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "scrubjay.toml").write_text("prot = 1\n")
    refused = run(tmp_path, "server", "health-check")
    assert refused.returncode == 12
    assert "did you mean port" in refused.stderr


async def test_041_the_most_used_tool_is_listed_first_by_the_next_process(tmp_path: Path) -> None:
    for _ in range(2):
        await call(tmp_path, "projects", "list-projects")
    async with running(Settings(home=tmp_path)) as application:
        names = [tool.name for tool in await application.listing.tools()]
    assert names[0] == "list_projects"
    assert names[1:] == [tool.name for tool in TOOL_CATALOG if tool.core and tool.name != "list_projects"]
