"""Every reason for which a skill is not started, and what is allowed."""

from typing import Any

import pytest

from scrubjay.features.upstream_mcp.catalog import RefusedSkill, ValidSkill, read_skill
from scrubjay.features.upstream_mcp.configuration import COMMANDS, OTHER_COMMANDS, CommandSkill, HttpSkill, Policy
from scrubjay.features.upstream_mcp.schemas import ToldTools
from scrubjay.features.upstream_mcp.validation import Reason

LONG = "x" * 1025


def command(name: str = "npx", args: Any = (), **env: Any) -> dict[str, Any]:
    return {"command": name, "args": args if isinstance(args, str) else [*args], "env": env}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"args": []}, Reason.MISSING_FIELD),
        (command(" "), Reason.EMPTY_FIELD),
        ([], Reason.INVALID_TYPE),
        ({"command": 3}, Reason.INVALID_TYPE),
        (command(args="-y"), Reason.INVALID_TYPE),
        (command(args=["a", 1]), Reason.INVALID_TYPE),
        (command(args=[True]), Reason.INVALID_TYPE),
        (command(A=1), Reason.INVALID_TYPE),
        (command(A="a\nb"), Reason.INVALID_TYPE),
        (command("bash"), Reason.COMMAND_NOT_ALLOWED),
        (command("/usr/bin/node"), Reason.COMMAND_NOT_ALLOWED),
        (command("npx", ("a",) * 21), Reason.TOO_MANY_ARGS),
        (command("docker", ("a",) * 31), Reason.TOO_MANY_ARGS),
        (command("node", ("a",) * 11), Reason.TOO_MANY_ARGS),
        (command("python", ("a",) * 11), Reason.TOO_MANY_ARGS),
        *((command(args=(f"a{sign}b",)), Reason.DANGEROUS_ARGS) for sign in ";&|`$(){}!<>\\"),
        (command(args=("../up",)), Reason.DANGEROUS_ARGS),
        (command(args=("/etc/passwd",)), Reason.DANGEROUS_ARGS),
        (command(args=("a\nb",)), Reason.DANGEROUS_ARGS),
        *((command(args=(arg, "x")), Reason.DANGEROUS_ARGS) for arg in ("-c", "-c=x", "-yc", "--call=x", "--cal=x")),
        (command("python3", ("-c", "import os")), Reason.DANGEROUS_ARGS),
        (command("python3", ("-Ic", "import os")), Reason.DANGEROUS_ARGS),
        (command("node", ("--eval=1",)), Reason.DANGEROUS_ARGS),
        (command("node", ("-pe", "1")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "-v", "/var/run/docker.sock:/s")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--privileged")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--network=host")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--network", "host")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--net=host")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--pid=host")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--ipc", "host")), Reason.DANGEROUS_ARGS),
        (command("docker", ("run", "--cap-add", "ALL")), Reason.DANGEROUS_ARGS),
        (command("node", ("--import", "data:text/javascript,x")), Reason.DANGEROUS_ARGS),
        (command("node", ("--import=data:text/javascript,x",)), Reason.DANGEROUS_ARGS),
        *(
            (command("docker", ("run", *args)), Reason.DANGEROUS_ARGS)
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
        (command("docker", ("run", "--mount", "type=bind,source=/,target=/x")), Reason.DANGEROUS_ARGS),
        (command(args=(LONG,)), Reason.ARG_TOO_LONG),
        (command(**{f"A{n}": "" for n in range(31)}), Reason.TOO_MANY_ENV_VARS),
        (command(lower="x"), Reason.INVALID_ENV_VAR_NAMES),
        (command(**{"A=B": "x"}), Reason.INVALID_ENV_VAR_NAMES),
        (command(A=LONG), Reason.ENV_VALUE_TOO_LONG),
        (command(A="${AWS_SECRET_ACCESS_KEY}"), Reason.INVALID_INTERPOLATION),
        ({"command": "npx", "shell": True}, Reason.EXTRA_FIELDS),
        ({"command": "npx", "url": "http://localhost/mcp"}, Reason.EXTRA_FIELDS),
        ({"config": {"command": "npx"}, "more": 1}, Reason.EXTRA_FIELDS),
        ({"config": {"command": "npx"}, "tools": {}}, Reason.INVALID_TYPE),
        ({"config": {"command": "npx"}, "tools": [{"description": "no name"}]}, Reason.INVALID_TYPE),
        ({"url": ""}, Reason.EMPTY_FIELD),
        ({"url": 1}, Reason.INVALID_TYPE),
        ({"url": "ftp://x/mcp"}, Reason.INVALID_URL),
        ({"url": "http://[::1"}, Reason.INVALID_URL),
        ({"url": "http://u:p@x/mcp"}, Reason.INVALID_URL),
        ({"url": "http://x", "headers": {"A b": "c"}}, Reason.INVALID_HEADERS),
        ({"url": "http://x", "headers": {"A": "é"}}, Reason.INVALID_HEADERS),
        ({"url": "http://x", "headers": {f"A{n}": "" for n in range(31)}}, Reason.TOO_MANY_HEADERS),
        ({"url": "http://x", "headers": {"A": "${NOPE}"}}, Reason.INVALID_INTERPOLATION),
    ],
)
def test_017_a_skill_that_is_not_allowed_is_refused_with_its_reason(raw: Any, reason: Reason) -> None:
    found = read_skill("kid", raw, Policy())
    assert isinstance(found, RefusedSkill), found
    assert found.reason is reason


@pytest.mark.parametrize("name", ["", "1st", "a b", "a:b", "../a", "a" * 33])
def test_017_a_name_that_could_not_be_a_prefix_is_refused(name: str) -> None:
    found = read_skill(name, command(), Policy())
    assert isinstance(found, RefusedSkill)
    assert found.reason is Reason.INVALID_NAME


def test_017_a_refusal_does_not_tell_the_values() -> None:
    found = read_skill("kid", command(KEY="hush" + LONG), Policy())
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
def test_017_a_usual_skill_is_allowed(raw: dict[str, Any]) -> None:
    found = read_skill("kid", raw, Policy())
    assert isinstance(found, ValidSkill), found
    assert found.config == CommandSkill(
        raw["command"], tuple(map(str, raw["args"])), {}, COMMANDS[raw["command"]].call_seconds
    )


def test_017_the_owner_may_allow_more() -> None:
    policy = Policy({**COMMANDS, "uvx": OTHER_COMMANDS}, frozenset({"MINE"}))
    found = read_skill("kid", command("uvx", ("x",), A="${MINE}!"), policy)
    assert isinstance(found, ValidSkill)
    assert isinstance(found.config, CommandSkill)
    assert found.config.environment({"MINE": "1", "OTHER": "2", "PATH": ":.:/bin:bin", "HOME": "/me"}) == {
        "PATH": "/bin",
        "HOME": "/me",
        "LANG": "C.UTF-8",
        "A": "1!",
    }


def test_038_a_server_behind_an_address_gets_its_headers() -> None:
    found = read_skill(
        "kid", {"url": "https://x/mcp", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}, Policy()
    )
    assert isinstance(found, ValidSkill)
    assert isinstance(found.config, HttpSkill)
    assert found.config.sent_headers({"GITHUB_TOKEN": "t"}) == {"Authorization": "Bearer t"}


def test_038_a_manifest_tells_the_tools_of_a_skill_that_never_ran() -> None:
    tools = [{"name": "add", "description": "Add.", "inputSchema": {"type": "object"}}, {"name": "not a name"}]
    found = read_skill("kid", {"config": command(), "tools": tools}, Policy())
    assert isinstance(found, ValidSkill)
    assert [tool.name for tool in (found.told or ToldTools(())).tools] == ["kid_add"]
