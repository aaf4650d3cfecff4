"""Validation of skill configurations: every reason for refusal, and allowed configurations."""

from pathlib import Path
from typing import Any

import pytest

from scrubjay.features.upstream_mcp.catalog import RefusedSkill, ValidSkill, read_skill
from scrubjay.features.upstream_mcp.configuration import COMMANDS, OTHER_COMMANDS, CommandSkill, HttpSkill, SkillPolicy
from scrubjay.features.upstream_mcp.schemas import ToolListing
from scrubjay.features.upstream_mcp.validation import RefusalReason

LONG = "x" * 1025


def command(name: str = "npx", args: Any = (), **env: Any) -> dict[str, Any]:
    return {"command": name, "args": args if isinstance(args, str) else [*args], "env": env}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"args": []}, RefusalReason.MISSING_FIELD),
        (command(" "), RefusalReason.EMPTY_FIELD),
        ([], RefusalReason.INVALID_TYPE),
        ({"command": 3}, RefusalReason.INVALID_TYPE),
        (command(args="-y"), RefusalReason.INVALID_TYPE),
        (command(args=["a", 1]), RefusalReason.INVALID_TYPE),
        (command(args=[True]), RefusalReason.INVALID_TYPE),
        (command(A=1), RefusalReason.INVALID_TYPE),
        (command(A="a\nb"), RefusalReason.INVALID_TYPE),
        (command("bash"), RefusalReason.COMMAND_NOT_ALLOWED),
        (command("/usr/bin/node"), RefusalReason.COMMAND_NOT_ALLOWED),
        (command("npx", ("a",) * 21), RefusalReason.TOO_MANY_ARGS),
        (command("docker", ("a",) * 31), RefusalReason.TOO_MANY_ARGS),
        (command("node", ("a",) * 11), RefusalReason.TOO_MANY_ARGS),
        (command("python", ("a",) * 11), RefusalReason.TOO_MANY_ARGS),
        *((command(args=(f"a{sign}b",)), RefusalReason.DANGEROUS_ARGS) for sign in ";&|`$(){}!<>\\"),
        (command(args=("../up",)), RefusalReason.DANGEROUS_ARGS),
        (command(args=("/etc/passwd",)), RefusalReason.DANGEROUS_ARGS),
        (command(args=("a\nb",)), RefusalReason.DANGEROUS_ARGS),
        *(
            (command(args=(arg, "x")), RefusalReason.DANGEROUS_ARGS)
            for arg in ("-c", "-c=x", "-yc", "--call=x", "--cal=x")
        ),
        (command("python3", ("-c", "import os")), RefusalReason.DANGEROUS_ARGS),
        (command("python3", ("-Ic", "import os")), RefusalReason.DANGEROUS_ARGS),
        (command("node", ("--eval=1",)), RefusalReason.DANGEROUS_ARGS),
        (command("node", ("-pe", "1")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "-v", "/var/run/docker.sock:/s")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--privileged")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--network=host")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--network", "host")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--net=host")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--pid=host")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--ipc", "host")), RefusalReason.DANGEROUS_ARGS),
        (command("docker", ("run", "--cap-add", "ALL")), RefusalReason.DANGEROUS_ARGS),
        (command("node", ("--import", "data:text/javascript,x")), RefusalReason.DANGEROUS_ARGS),
        (command("node", ("--import=data:text/javascript,x",)), RefusalReason.DANGEROUS_ARGS),
        *(
            (command("docker", ("run", *args)), RefusalReason.DANGEROUS_ARGS)
            for folder in ("/", "//", "/.", "/run", "/var/run/", "/etc", "/proc")
            for args in (
                ("-v", f"{folder}:/all"),
                (f"-v{folder}:/all",),
                (f"-v={folder}:/all:ro",),
                ("-itv", f"{folder}:/all"),
                (f"--volume={folder}:/all",),
                ("--volume", f"{folder}:/all"),
                (f"--mount=type=bind,src={folder},dst=/all",),
                ("--mount", f"source={folder},type=bind,target=/all"),
            )
        ),
        (command("docker", ("run", "--mount", "type=bind,source=/,target=/x")), RefusalReason.DANGEROUS_ARGS),
        (command(args=(LONG,)), RefusalReason.ARG_TOO_LONG),
        (command(**{f"A{n}": "" for n in range(31)}), RefusalReason.TOO_MANY_ENV_VARS),
        (command(lower="x"), RefusalReason.INVALID_ENV_VAR_NAMES),
        (command(**{"A=B": "x"}), RefusalReason.INVALID_ENV_VAR_NAMES),
        (command(A=LONG), RefusalReason.ENV_VALUE_TOO_LONG),
        (command(A="${AWS_SECRET_ACCESS_KEY}"), RefusalReason.INVALID_INTERPOLATION),
        ({"command": "npx", "shell": True}, RefusalReason.EXTRA_FIELDS),
        ({"command": "npx", "url": "http://localhost/mcp"}, RefusalReason.EXTRA_FIELDS),
        ({"config": {"command": "npx"}, "more": 1}, RefusalReason.EXTRA_FIELDS),
        ({"config": {"command": "npx"}, "tools": {}}, RefusalReason.INVALID_TYPE),
        ({"config": {"command": "npx"}, "tools": [{"description": "no name"}]}, RefusalReason.INVALID_TYPE),
        ({"url": ""}, RefusalReason.EMPTY_FIELD),
        ({"url": 1}, RefusalReason.INVALID_TYPE),
        ({"url": "ftp://x/mcp"}, RefusalReason.INVALID_URL),
        ({"url": "http://[::1"}, RefusalReason.INVALID_URL),
        ({"url": "http://u:p@x/mcp"}, RefusalReason.INVALID_URL),
        ({"url": "http://x", "headers": {"A b": "c"}}, RefusalReason.INVALID_HEADERS),
        ({"url": "http://x", "headers": {"A": "é"}}, RefusalReason.INVALID_HEADERS),
        ({"url": "http://x", "headers": {f"A{n}": "" for n in range(31)}}, RefusalReason.TOO_MANY_HEADERS),
        ({"url": "http://x", "headers": {"A": "${NOPE}"}}, RefusalReason.INVALID_INTERPOLATION),
    ],
)
def test_017_a_skill_that_is_not_allowed_is_refused_with_its_reason(raw: Any, reason: RefusalReason) -> None:
    found = read_skill("kid", raw, SkillPolicy())
    assert isinstance(found, RefusedSkill), found
    assert found.reason is reason


@pytest.mark.parametrize("name", ["", "1st", "a b", "a:b", "../a", "a" * 33])
def test_017_a_name_that_cannot_be_a_prefix_is_refused(name: str) -> None:
    found = read_skill(name, command(), SkillPolicy())
    assert isinstance(found, RefusedSkill)
    assert found.reason is RefusalReason.INVALID_NAME


def test_017_a_refusal_does_not_contain_values() -> None:
    found = read_skill("kid", command(KEY="hush" + LONG), SkillPolicy())
    assert isinstance(found, RefusedSkill)
    assert "hush" not in found.message


@pytest.mark.parametrize(
    "raw",
    [
        command("npx", ("-y", "@scope/server@1.2.3", "--root", "/home/you")),
        command("docker", ("run", "-i", "--rm", "--network", "mine", "-v", "/data:/data", "host")),
        command("node", ("server.js", "--port=3")),
        command("python3", ("-m", "server")),
        command("python3", ("-mcompiled.server", "-u")),
        command("npx", ("-y", "server", "--config", "x", "--color")),
        command("docker", ("run", "-v", "/run/user/data:/run", "--mount", "type=bind,src=/etc-of-mine,dst=/etc")),
        command("python", [1, 2.5]),
    ],
)
def test_017_a_typical_skill_is_allowed(raw: dict[str, Any]) -> None:
    found = read_skill("kid", raw, SkillPolicy())
    assert isinstance(found, ValidSkill), found
    assert found.config == CommandSkill(
        raw["command"], tuple(map(str, raw["args"])), {}, COMMANDS[raw["command"]].call_seconds
    )


def test_017_the_owner_can_allow_more_commands() -> None:
    policy = SkillPolicy({**COMMANDS, "uvx": OTHER_COMMANDS}, frozenset({"MINE"}))
    found = read_skill("kid", command("uvx", ("x",), A="${MINE}!"), policy)
    assert isinstance(found, ValidSkill)
    assert isinstance(found.config, CommandSkill)
    assert found.config.environment({"MINE": "1", "OTHER": "2", "PATH": ":.:/bin:bin", "HOME": "/me"}) == {
        "PATH": "/bin",
        "HOME": "/me",
        "LANG": "C.UTF-8",
        "A": "1!",
    }


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        *(("python", variable) for variable in ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES")),
        *(("python3", variable) for variable in ("PYTHONSTARTUP", "PYTHONHOME", "NODE_PATH", "BASH_ENV", "ENV")),
        *(
            ("npx", variable)
            for variable in ("NODE_OPTIONS", "NPM_CONFIG_SCRIPT_SHELL", "PYTHONPATH", "GIT_SSH_COMMAND")
        ),
        *(("docker", variable) for variable in ("DOCKER_CONFIG", "PYTHONPATH", "LD_PRELOAD")),
        # OpenSSL loads libraries that its configuration names; Python and node use it.
        *(("python", variable) for variable in ("OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES")),
    ],
)
def test_017_a_variable_that_runs_other_code_is_refused(name: str, variable: str) -> None:
    found = read_skill("kid", command(name, (), **{variable: "/tmp/x"}), SkillPolicy())
    assert isinstance(found, RefusedSkill)
    assert found.reason is RefusalReason.INVALID_ENV_VAR_NAMES


def test_017_module_folders_of_an_interpreter_and_other_variables_are_allowed() -> None:
    for name, variable in (("python3", "PYTHONPATH"), ("node", "NODE_PATH"), ("npx", "GITHUB_TOKEN"), ("node", "PATH")):
        assert isinstance(read_skill("kid", command(name, (), **{variable: "/a"}), SkillPolicy()), ValidSkill)


def test_017_a_configured_path_cannot_replace_a_program(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder, name in ((ours, "npx"), (theirs, "npx"), (theirs, "docker")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    variables = {"PATH": f"{ours}:relative"}
    skill = CommandSkill("npx", (), {"PATH": f"{theirs}:{ours}:also-relative"}, 60)
    assert skill.program(variables) == str(ours / "npx")
    assert skill.environment(variables)["PATH"] == f"{ours}:{theirs}"
    with pytest.raises(FileNotFoundError, match="docker cannot be started"):
        CommandSkill("docker", (), {"PATH": str(theirs)}, 60).program(variables)


def test_038_an_http_skill_gets_its_headers() -> None:
    found = read_skill(
        "kid", {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}, SkillPolicy()
    )
    assert isinstance(found, ValidSkill)
    assert isinstance(found.config, HttpSkill)
    assert found.config.sent_headers({"GITHUB_TOKEN": "t"}) == {"Authorization": "Bearer t"}


def test_038_a_manifest_declares_the_tools_of_a_skill_that_never_ran() -> None:
    tools = [{"name": "add", "description": "Add.", "inputSchema": {"type": "object"}}, {"name": "not a name"}]
    found = read_skill("kid", {"config": command(), "tools": tools}, SkillPolicy())
    assert isinstance(found, ValidSkill)
    assert [tool.name for tool in (found.listing or ToolListing(())).tools] == ["kid_add"]
