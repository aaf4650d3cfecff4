"""Installing into agents' configurations: real processes with a home of their own."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.install import jsonc
from scrubjay.core.errors import ErrorCode
from scrubjay.servers.cli.errors import EXIT_CODES
from tests.surfaces.callers import server

SECRET = "a-very-secret-key-0123456789"


class Machine:
    """A person's home and a project, and the command in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "person", folder / "project"
        for made in (self.home, self.project):
            made.mkdir()

    def run(self, *arguments: str, code: int = 0, **variables: str) -> str:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
        done = subprocess.run(
            [sys.executable, "-m", "scrubjay.app", *arguments],
            cwd=self.project,
            env={**kept, "HOME": str(self.home), **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    def files(self) -> dict[str, str]:
        roots = (self.home, self.project)
        found = [file for root in roots for file in root.rglob("*") if file.is_file() and ".scrubjay" not in file.parts]
        return {str(file.relative_to(self.home.parent)): file.read_text("utf-8") for file in found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


PLACES = {
    ("claude-code", "user"): "person/.claude.json",
    ("claude-code", "project"): "project/.mcp.json",
    ("codex", "user"): "person/.codex/config.toml",
    ("codex", "project"): "project/.codex/config.toml",
    ("gemini", "user"): "person/.gemini/settings.json",
    ("gemini", "project"): "project/.gemini/settings.json",
    ("vscode", "user"): "person/.config/Code/User/mcp.json",
    ("vscode", "project"): "project/.vscode/mcp.json",
    ("cursor", "user"): "person/.cursor/mcp.json",
    ("cursor", "project"): "project/.cursor/mcp.json",
}


def server_in(text: str, agent: str) -> dict[str, Any]:
    found = tomllib.loads(text) if agent == "codex" else jsonc.parse(text)
    return found[{"codex": "mcp_servers", "vscode": "servers"}.get(agent, "mcpServers")]["scrubjay"]


@pytest.mark.parametrize(("agent", "scope"), PLACES)
def test_128_installed_twice_is_installed_once_and_uninstalled_is_gone(
    machine: Machine, agent: str, scope: str
) -> None:
    options = (agent, "--scope", scope)
    assert "dry run" in machine.run("install", *options, "--dry-run")
    assert machine.files() == {}
    machine.run("install", *options, "--no-verify")
    (place, text), *others = machine.files().items()
    assert (place, others) == (PLACES[agent, scope], [])
    assert server_in(text, agent)["command"] == sys.executable
    assert "Nothing to change" in machine.run("install", *options, "--no-verify")
    assert machine.files() == {place: text}
    machine.run("uninstall", *options)
    assert [name for name in machine.files() if not name.endswith("scrubjay-backup")] == []


def test_128_what_was_configured_is_started_and_asked(machine: Machine) -> None:
    told = json.loads(machine.run("install", "claude-code", "--hooks", "--json"))
    assert "recall" in told["tools"]
    assert sorted(Path(one["file"]).name for one in told["files"]) == [".claude.json", "settings.json"]


def test_128_all_else_in_a_file_stays_with_a_copy_beside_it(machine: Machine) -> None:
    text = '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"}, // keep\n  },\n}\n'
    file = machine.home / ".claude.json"
    real = machine.home / "real.json"
    real.write_text(text)
    real.chmod(0o640)
    file.symlink_to(real)
    machine.run("install", "claude-code", "--no-verify")
    assert file.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert jsonc.parse(real.read_text())["mcpServers"]["other"] == {"command": "x"}
    assert all(remark in real.read_text() for remark in ("// mine", "// keep"))
    (backup,) = machine.home.glob("real.json.*.scrubjay-backup")
    assert backup.read_text() == text
    machine.run("uninstall", "claude-code")
    assert real.read_text() == text


def test_128_comments_of_toml_stay(machine: Machine) -> None:
    text = '# mine\nmodel = "x" # this one\n\n[mcp_servers.other]\ncommand = "y"\n\n# below\n[last]\na = 1\n'
    file = machine.home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(text)
    machine.run("install", "codex", "--no-verify")
    assert file.read_text().startswith(text)
    machine.run("uninstall", "codex")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("claude-code", ".claude.json", '{"mcpServers": '),
        ("claude-code", ".claude.json", '{"mcpServers": []}'),
        ("claude-code", ".claude.json", "[]"),
        ("codex", ".codex/config.toml", "= broken"),
        ("codex", ".codex/config.toml", 'mcp_servers = { other = { command = "x" } }\n'),
    ],
)
def test_128_a_file_that_cannot_be_understood_is_not_touched(
    machine: Machine, agent: str, name: str, text: str
) -> None:
    file = machine.home / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    kept = {name: variable for name, variable in os.environ.items() if name in ("PATH", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "-m", "scrubjay.app", "install", agent, "--no-verify"],
        env={**kept, "HOME": str(machine.home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "was not changed" in done.stderr
    assert file.read_text() == text
    assert [*file.parent.glob("*backup*")] == []


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("claude-code", ".claude.json", '{"mcpServers":{},"a":[1,2]}'),
        ("claude-code", ".claude.json", "{ }\n\n"),
        ("claude-code", ".claude.json", ""),
        ("claude-code", ".claude.json", '{\r\n  "a": 1\r\n}\r\n'),
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": []}}'),
        ("gemini", ".gemini/settings.json", '{"mcpServers": { "x": {"command": "y"} , } } // end'),
        ("vscode", ".config/Code/User/mcp.json", '\ufeff{\n\t"inputs": [ ],\n\t"servers": {\n\t}\n}'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {\n\n"x": 1\n\n}}'),
        ("codex", ".codex/config.toml", 'model = "x"'),
        ("codex", ".codex/config.toml", 'model = "x"\n\n\n'),
        ("codex", ".codex/config.toml", '[a]\r\nb = """\r\n[mcp_servers.scrubjay]\r\n"""\r\n'),
    ],
)
def test_128_every_byte_is_as_it_was_after_installing_twice_and_uninstalling(
    machine: Machine, agent: str, name: str, text: str
) -> None:
    file = machine.home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    hooks = ["--hooks"] if agent == "claude-code" else []
    machine.run("install", agent, "--no-verify", *hooks)
    assert b"scrubjay" in file.read_bytes()
    if "\r\n" in text:
        assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")
    machine.run("install", agent, "--no-verify", "--http", "http://127.0.0.1:1/mcp", *hooks)
    machine.run("uninstall", agent)
    assert file.read_bytes() == text.encode()


def test_128_what_an_agent_writes_behind_ours_stays(machine: Machine) -> None:
    file = machine.home / ".codex" / "config.toml"
    machine.run("install", "codex", "--no-verify")
    behind = '\n[projects."/home/me/[slug]"]\ntrust_level = "trusted"\n'
    file.write_text(file.read_text() + behind)
    machine.run("uninstall", "codex")
    assert file.read_text() == behind.removeprefix("\n")


def test_128_what_others_wrote_into_our_entry_stays_when_it_is_installed_anew(machine: Machine) -> None:
    gemini = machine.home / ".gemini" / "settings.json"
    machine.run("install", "gemini", "--no-verify")
    machine.run("install", "codex", "--no-verify")
    entry = json.loads(gemini.read_text())
    more = {"trust": True, "command": "/old/scrubjay", "env": {"SCRUBJAY_TOOLS": "all", "SCRUBJAY_HOME": "/old"}}
    entry["mcpServers"]["scrubjay"] |= more
    gemini.write_text(json.dumps(entry))
    machine.run("install", "gemini", "--no-verify")
    renewed = server_in(gemini.read_text(), "gemini")
    assert (renewed["command"], renewed["trust"]) == (sys.executable, True)
    assert renewed["env"] == {"SCRUBJAY_TOOLS": "all"}
    machine.run("install", "gemini", "--no-verify", "--http", "http://127.0.0.1:1/mcp")
    assert server_in(gemini.read_text(), "gemini") == {
        "type": "http",
        "url": "http://127.0.0.1:1/mcp",
        "trust": True,
    }
    codex = machine.home / ".codex" / "config.toml"
    text = codex.read_text().replace(sys.executable, "/old/scrubjay")
    codex.write_text(
        f"{text}startup_timeout_sec = 20.5\nsince = 2026-11-17\n"
        '[mcp_servers.scrubjay.tools."a.b"]\napproval_mode = "approve"\n'
    )
    machine.run("install", "codex", "--no-verify")
    renewed = server_in(codex.read_text(), "codex")
    assert renewed["command"] == sys.executable
    assert (renewed["startup_timeout_sec"], str(renewed["since"])) == (20.5, "2026-11-17")
    assert renewed["tools"] == {"a.b": {"approval_mode": "approve"}}
    assert "Nothing to change" in machine.run("install", "codex", "--no-verify")


def test_128_hooks_that_share_a_group_with_ours_stay(machine: Machine) -> None:
    machine.run("install", "claude-code", "--hooks", "--no-verify")
    file = machine.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    theirs = {"type": "command", "command": "notify me"}
    settings["hooks"]["Stop"][0]["hooks"].append(theirs)
    file.write_text(json.dumps(settings, indent=2))
    machine.run("install", "claude-code", "--hooks", "--no-verify")
    hooks = json.loads(file.read_text())["hooks"]["Stop"]
    assert [len(group["hooks"]) for group in hooks] == [1, 1]
    machine.run("uninstall", "claude-code")
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_128_hooks_come_beside_those_of_others_and_go_alone(machine: Machine) -> None:
    others = {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
    file = machine.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"model": "x", "hooks": {"PreToolUse": [others]}}, indent=2) + "\n")
    before = file.read_text()
    machine.run("install", "claude-code", "--hooks", "--no-verify")
    hooks = json.loads(file.read_text())["hooks"]
    assert hooks["PreToolUse"][0] == others
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}
    command = hooks["PreToolUse"][1]["hooks"][0]["command"]
    done = subprocess.run(command, shell=True, input="{}", capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(done.stdout) == {}
    machine.run("uninstall", "claude-code")
    assert json.loads(file.read_text()) == json.loads(before)


def test_128_variables_say_where_configurations_are(machine: Machine, tmp_path: Path) -> None:
    machine.run("install", "claude-code", "--hooks", "--no-verify", CLAUDE_CONFIG_DIR=str(tmp_path / "c"))
    machine.run("install", "codex", "--no-verify", CODEX_HOME=str(tmp_path / "x"))
    machine.run("install", "vscode", "--no-verify", XDG_CONFIG_HOME=str(tmp_path / "g"))
    for made in ("c/.claude.json", "c/settings.json", "x/config.toml", "g/Code/User/mcp.json"):
        assert (tmp_path / made).is_file()


def test_128_a_key_is_named_and_never_written(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with server(tmp_path / "store", SCRUBJAY_API_KEY=SECRET) as url:
        for agent in ("claude-code", "codex", "gemini", "vscode", "cursor"):
            options = [agent, "--http", f"{url}/mcp", "--key-env", "SCRUBJAY_API_KEY"]
            if agent == "claude-code":  # the others are asked by the same client
                told = machine.run("install", *options, "--hooks", SCRUBJAY_API_KEY=SECRET)
                assert "It works" in told
            else:
                told = machine.run("install", *options, "--no-verify", SCRUBJAY_API_KEY=SECRET)
            assert SECRET not in told
    files = machine.files().values()
    assert len(files) == 6
    assert not any(SECRET in text for text in files)
    assert all("SCRUBJAY_API_KEY" in text for text in files)


def test_128_a_server_that_does_not_answer_is_told(machine: Machine) -> None:
    told = machine.run("install", "cursor", "--http", "http://127.0.0.1:9/mcp", code=EXIT_CODES[ErrorCode.UNAVAILABLE])
    assert "does not answer" in told
    assert '+      "url": "http://127.0.0.1:9/mcp"' in told
    told = machine.run(
        "install", "cursor", "--json", "--http", "http://127.0.0.1:9/", code=EXIT_CODES[ErrorCode.UNAVAILABLE]
    )
    problem = json.loads(told.splitlines()[0])["error"]
    assert (problem["details"]["changed"], len(problem["details"]["backups"])) == (True, 1)
