"""The deployment files and the plugin for Claude Code are consistent with the code."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from scrubjay.app.settings import Settings, variable_names
from scrubjay.features.hooks.models import HookEvent

PROJECT = Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"
PLUGIN = PROJECT / "integrations" / "claude-code"
TEXTS = {file.name: file.read_text("utf-8") for file in DEPLOY.iterdir() if file.is_file()}
# Read by `hatch_build.py`, not by the server.
BUILD_VARIABLES = {"SCRUBJAY_BUILD_NATIVE"}
KNOWN = set(variable_names(Settings)) | BUILD_VARIABLES


def test_128_every_setting_in_the_files_exists() -> None:
    files = [*TEXTS.values(), *(file.read_text("utf-8") for file in PLUGIN.rglob("*") if file.is_file())]
    documented = {name for text in files for name in re.findall(r"SCRUBJAY_[A-Z_]+", text)}
    assert {"SCRUBJAY_HOME", "SCRUBJAY_API_KEY", "SCRUBJAY_PROJECT"} <= documented
    assert documented <= KNOWN


def test_128_no_file_contains_a_secret() -> None:
    for name, text in TEXTS.items():
        for value in re.findall(r"(?:API_KEY|PASSWORD|TOKEN)\s*[=:]\s*(\S+)", text):
            assert value.startswith(("$", '"$', "...", "<")), f"{name}: {value}"


def container_steps() -> list[list[str]]:
    lines = TEXTS["Containerfile"].replace("\\\n", " ").splitlines()
    return [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]


def test_128_the_container_is_built_from_pinned_packages_and_has_all_extras() -> None:
    steps = container_steps()
    bases = dict(rest.split("=", 1) for step, rest in steps if step == "ARG")
    assert [rest for step, rest in steps if step == "FROM"] == ["${BUILD} AS build", "${RUNTIME}"]
    assert all(re.fullmatch(r"docker\.io/library/python:3\.11-(slim-)?bookworm", base) for base in bases.values())
    runs = [rest for step, rest in steps if step == "RUN"]
    for install in (part for run in runs for part in run.split("&&") if "pip install" in part):
        assert "--require-hashes" in install or "--no-deps --no-build-isolation" in install
    assert "install --no-install-recommends --yes git" in runs[-1]


def test_128_the_build_context_contains_only_what_the_container_copies() -> None:
    rules = [rule for rule in (PROJECT / ".dockerignore").read_text("utf-8").splitlines() if not rule.startswith("#")]
    copied = {
        source.rstrip("/")
        for step, rest in container_steps()
        if step == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    }
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == copied


def test_128_the_container_runs_without_root_and_copies_existing_files() -> None:
    steps = container_steps()
    for step, rest in steps:
        if step == "COPY" and "--from" not in rest:
            *sources, _ = rest.split()
            assert all((PROJECT / source).exists() for source in sources), rest
    last = {step[0]: step[1] for step in steps}
    assert last["USER"] == "10001:10001"
    assert last["VOLUME"] == "/data"
    assert "/health" in last["HEALTHCHECK"]
    assert json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"]) == ["scrubjay", "serve"]
    assert "SCRUBJAY_API_KEY" not in " ".join(rest for step, rest in steps if step == "ENV")


def test_128_the_compose_service_requires_a_key_and_is_published_on_loopback() -> None:
    service = yaml.safe_load(TEXTS["compose.yaml"])["services"]["scrubjay"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["pids_limit"] <= 1024
    assert service["environment"]["SCRUBJAY_API_KEY"].startswith("${SCRUBJAY_API_KEY:?")
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["volumes"] == ["scrubjay-data:/data"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_128_the_unit_listens_on_loopback_and_is_hardened() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read_string(TEXTS["scrubjay.service"])
    service = unit["Service"]
    assert shlex.split(service["ExecStart"])[-1] == "serve"
    hardened = ("NoNewPrivileges", "PrivateTmp", "DynamicUser", "PrivateDevices", "RestrictNamespaces")
    assert all(service[name] == "yes" for name in hardened)
    assert service["ProtectSystem"] == "strict"
    assert "Environment=SCRUBJAY_HOST=127.0.0.1\n" in TEXTS["scrubjay.service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_128_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "scrubjay.service"
    program = shutil.which("true") or "/bin/true"
    unit.write_text(TEXTS["scrubjay.service"].replace("/opt/scrubjay/bin/scrubjay", program))
    process = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no caddy here")
def test_128_caddy_accepts_its_file() -> None:
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    subprocess.run(command, capture_output=True, timeout=60, check=True)


def test_128_caddy_proxies_to_loopback_without_buffering() -> None:
    assert re.search(r"reverse_proxy 127\.0\.0\.1:4000 \{", TEXTS["Caddyfile"])
    assert "flush_interval -1" in TEXTS["Caddyfile"]
    assert TEXTS["Caddyfile"].count("{") == TEXTS["Caddyfile"].count("}")


def test_128_the_plugin_names_existing_hooks() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert manifest["name"] == "scrubjay"
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    commands = [one["command"] for groups in hooks.values() for group in groups for one in group["hooks"]]
    assert {command.removeprefix("scrubjay hook ") for command in commands} == set(HookEvent)
    (server,) = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))["mcpServers"].values()
    assert (server["command"], server["args"]) == ("scrubjay", ["mcp"])


@pytest.mark.skipif(shutil.which("claude") is None, reason="there is no Claude Code here")
def test_128_claude_code_accepts_the_plugin(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    process = subprocess.run(
        ["claude", "plugin", "validate", str(PLUGIN)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (process.returncode, "Validation passed" in process.stdout) == (0, True), process.stdout + process.stderr
