"""Installation into agents' configurations, by real processes with a temporary home."""

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
    """A user's home, a project, and the command run in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "person", folder / "project"
        for folder in (self.home, self.project):
            folder.mkdir()

    def run(self, *arguments: str, code: int = 0, **variables: str) -> str:
        inherited = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
        process = subprocess.run(
            [sys.executable, "-m", "scrubjay.app", *arguments],
            cwd=self.project,
            env={**inherited, "HOME": str(self.home), **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert process.returncode == code, process.stderr
        return process.stdout + process.stderr

    def files(self) -> dict[str, str]:
        roots = (self.home, self.project)
        files = [file for root in roots for file in root.rglob("*") if file.is_file() and ".scrubjay" not in file.parts]
        return {str(file.relative_to(self.home.parent)): file.read_text("utf-8") for file in files}


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
    configuration = tomllib.loads(text) if agent == "codex" else jsonc.parse(text)
    return configuration[{"codex": "mcp_servers", "vscode": "servers"}.get(agent, "mcpServers")]["scrubjay"]


@pytest.mark.parametrize(("agent", "scope"), PLACES)
def test_128_install_is_idempotent_and_uninstall_removes_everything(machine: Machine, agent: str, scope: str) -> None:
    options = (agent, "--scope", scope)
    assert "Dry run" in machine.run("install", *options, "--dry-run")
    assert machine.files() == {}
    machine.run("install", *options, "--no-verify")
    (place, text), *others = machine.files().items()
    assert (place, others) == (PLACES[agent, scope], [])
    assert server_in(text, agent)["command"] == sys.executable
    assert "Nothing to change" in machine.run("install", *options, "--no-verify")
    assert machine.files() == {place: text}
    machine.run("uninstall", *options)
    assert [name for name in machine.files() if not name.endswith("scrubjay-backup")] == []


def test_128_install_starts_the_configured_server_and_lists_its_tools(machine: Machine) -> None:
    output = json.loads(machine.run("install", "claude-code", "--hooks", "--json"))
    assert "recall" in output["tools"]
    assert sorted(Path(one["file"]).name for one in output["files"]) == [".claude.json", "settings.json"]


def test_128_other_content_is_preserved_and_a_backup_is_written(machine: Machine) -> None:
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


def test_128_toml_comments_are_preserved(machine: Machine) -> None:
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
def test_128_a_file_that_cannot_be_parsed_is_not_changed(machine: Machine, agent: str, name: str, text: str) -> None:
    file = machine.home / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    inherited = {name: variable for name, variable in os.environ.items() if name in ("PATH", "PYTHONPATH")}
    process = subprocess.run(
        [sys.executable, "-m", "scrubjay.app", "install", agent, "--no-verify"],
        env={**inherited, "HOME": str(machine.home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode != 0
    assert "was not changed" in process.stderr
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
def test_128_uninstall_restores_every_byte(machine: Machine, agent: str, name: str, text: str) -> None:
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


OWN_ENTRIES = [
    (
        "claude-code",
        ".claude.json",
        '{"mcpServers": {"scrubjay": {"command": "mine", "args": [1]} /* my own */, "b": {}}}',
    ),
    (
        "claude-code",
        ".claude.json",
        '{"mcpServers": {\n\t"scrubjay" : { "type": "http", "url": "http://a/mcp" },\n}}\n',
    ),
    ("claude-code", ".claude.json", '{"mcpServers": {"scrubjay": {"command": "scrubjay", "args": ["mcp"]}}}'),
    (
        "codex",
        ".codex/config.toml",
        "a = 1\n\n[mcp_servers.scrubjay] # mine\ncommand = 'mine'\nargs = [ \"x\" ]\n\n[b]\nc = 2\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        '[mcp_servers.scrubjay]\r\nurl = "http://a/mcp"\r\n[mcp_servers.scrubjay.tools.x]\r\na = 1\r\n',
    ),
    ("gemini", ".gemini/settings.json", '{"mcpServers": {"scrubjay": {"httpUrl":"http://a/mcp"}}}'),
    ("vscode", ".config/Code/User/mcp.json", '{"servers":{"scrubjay":{"type":"http","url":"http://a/mcp"}}}\n\n'),
    ("cursor", ".cursor/mcp.json", '{"mcpServers": {"a": 1, // one\n "scrubjay": {"command": "mine"}}}'),
]


@pytest.mark.parametrize(("agent", "name", "text"), OWN_ENTRIES)
def test_128_uninstall_restores_an_entry_of_the_owner(machine: Machine, agent: str, name: str, text: str) -> None:
    file = machine.home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    machine.run("install", agent, "--no-verify")
    assert file.read_bytes() != text.encode()
    machine.run("install", agent, "--no-verify", "--http", "http://127.0.0.1:1/mcp")
    machine.run("uninstall", agent)
    assert file.read_bytes() == text.encode()


@pytest.mark.parametrize(("agent", "name", "text"), [OWN_ENTRIES[0], OWN_ENTRIES[3]])
def test_128_an_entry_of_the_owner_is_restored_in_an_edited_file(
    machine: Machine, agent: str, name: str, text: str
) -> None:
    file = machine.home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    machine.run("install", agent, "--no-verify")
    file.write_text(f"{file.read_text()}\n")
    machine.run("uninstall", agent)
    assert server_in(file.read_text(), agent) == server_in(text, agent)


@pytest.mark.parametrize("agent", ["claude-code", "codex", "cursor"])
def test_128_our_entry_is_removed_when_the_record_was_lost(machine: Machine, agent: str) -> None:
    file = machine.home.parent / PLACES[agent, "user"]
    machine.run("install", agent, "--no-verify")
    (machine.home / ".scrubjay" / "installed.json").unlink()
    file.write_text(file.read_text().replace(sys.executable, "/old/python"))
    machine.run("install", agent, "--no-verify")
    machine.run("uninstall", agent)
    assert "scrubjay" not in file.read_text()


def test_128_text_that_the_agent_appends_after_our_entry_is_preserved(machine: Machine) -> None:
    file = machine.home / ".codex" / "config.toml"
    machine.run("install", "codex", "--no-verify")
    appended = '\n[projects."/home/me/[slug]"]\ntrust_level = "trusted"\n'
    file.write_text(file.read_text() + appended)
    machine.run("uninstall", "codex")
    assert file.read_text() == appended.removeprefix("\n")


def test_128_fields_added_to_our_entry_survive_a_second_install(machine: Machine) -> None:
    gemini = machine.home / ".gemini" / "settings.json"
    machine.run("install", "gemini", "--no-verify")
    machine.run("install", "codex", "--no-verify")
    entry = json.loads(gemini.read_text())
    added = {"trust": True, "command": "/old/scrubjay", "env": {"SCRUBJAY_TOOLS": "all", "SCRUBJAY_HOME": "/old"}}
    entry["mcpServers"]["scrubjay"] |= added
    gemini.write_text(json.dumps(entry))
    machine.run("install", "gemini", "--no-verify")
    updated = server_in(gemini.read_text(), "gemini")
    assert (updated["command"], updated["trust"]) == (sys.executable, True)
    assert updated["env"] == {"SCRUBJAY_TOOLS": "all"}
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
    updated = server_in(codex.read_text(), "codex")
    assert updated["command"] == sys.executable
    assert (updated["startup_timeout_sec"], str(updated["since"])) == (20.5, "2026-11-17")
    assert updated["tools"] == {"a.b": {"approval_mode": "approve"}}
    assert "Nothing to change" in machine.run("install", "codex", "--no-verify")


def test_128_other_hooks_in_our_group_are_preserved(machine: Machine) -> None:
    machine.run("install", "claude-code", "--hooks", "--no-verify")
    file = machine.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    other_hook = {"type": "command", "command": "notify me"}
    settings["hooks"]["Stop"][0]["hooks"].append(other_hook)
    file.write_text(json.dumps(settings, indent=2))
    machine.run("install", "claude-code", "--hooks", "--no-verify")
    hooks = json.loads(file.read_text())["hooks"]["Stop"]
    assert [len(group["hooks"]) for group in hooks] == [1, 1]
    machine.run("uninstall", "claude-code")
    assert json.loads(file.read_text()) == {"hooks": {"Stop": [{"hooks": [other_hook]}]}}


def test_128_our_hooks_are_added_beside_others_and_removed_alone(machine: Machine) -> None:
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
    process = subprocess.run(command, shell=True, input="{}", capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(process.stdout) == {}
    machine.run("uninstall", "claude-code")
    assert json.loads(file.read_text()) == json.loads(before)


def test_128_environment_variables_relocate_the_configuration_files(machine: Machine, tmp_path: Path) -> None:
    machine.run("install", "claude-code", "--hooks", "--no-verify", CLAUDE_CONFIG_DIR=str(tmp_path / "c"))
    machine.run("install", "codex", "--no-verify", CODEX_HOME=str(tmp_path / "x"))
    machine.run("install", "vscode", "--no-verify", XDG_CONFIG_HOME=str(tmp_path / "g"))
    for folder in ("c/.claude.json", "c/settings.json", "x/config.toml", "g/Code/User/mcp.json"):
        assert (tmp_path / folder).is_file()


def test_128_a_key_is_referenced_by_its_variable_and_never_written(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with server(tmp_path / "store", SCRUBJAY_API_KEY=SECRET) as url:
        for agent in ("claude-code", "codex", "gemini", "vscode", "cursor"):
            options = [agent, "--http", f"{url}/mcp", "--key-env", "SCRUBJAY_API_KEY"]
            if agent == "claude-code":  # one agent suffices: the check is the same for all
                output = machine.run("install", *options, "--hooks", SCRUBJAY_API_KEY=SECRET)
                assert "It works" in output
            else:
                output = machine.run("install", *options, "--no-verify", SCRUBJAY_API_KEY=SECRET)
            assert SECRET not in output
    files = machine.files().values()
    assert len(files) == 6
    assert not any(SECRET in text for text in files)
    assert all("SCRUBJAY_API_KEY" in text for text in files)


def test_128_a_server_that_does_not_answer_is_reported(machine: Machine) -> None:
    output = machine.run(
        "install", "cursor", "--http", "http://127.0.0.1:9/mcp", code=EXIT_CODES[ErrorCode.UNAVAILABLE]
    )
    assert "does not answer" in output
    assert '+      "url": "http://127.0.0.1:9/mcp"' in output
    output = machine.run(
        "install", "cursor", "--json", "--http", "http://127.0.0.1:9/", code=EXIT_CODES[ErrorCode.UNAVAILABLE]
    )
    problem = json.loads(output.splitlines()[0])["error"]
    assert (problem["details"]["changed"], len(problem["details"]["backups"])) == (True, 1)
