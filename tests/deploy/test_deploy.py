"""Files to run Recollect with, and the plugin for Claude Code, say only what is true."""

import configparser
import json
import re
import shlex
from pathlib import Path

import yaml

from recollect.app.settings import Settings, variable_names
from recollect.domain.hooks import HookEvent

PROJECT = Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"
PLUGIN = PROJECT / "integrations" / "claude-code"
TEXTS = {file.name: file.read_text("utf-8") for file in DEPLOY.iterdir() if file.is_file()}
KNOWN = set(variable_names(Settings))


def test_128_every_setting_that_is_named_exists() -> None:
    files = [*TEXTS.values(), *(file.read_text("utf-8") for file in PLUGIN.rglob("*") if file.is_file())]
    named = {name for text in files for name in re.findall(r"RECOLLECT_[A-Z_]+", text)}
    assert {"RECOLLECT_HOME", "RECOLLECT_API_KEY", "RECOLLECT_PROJECT"} <= named
    assert named <= KNOWN


def test_128_no_file_has_a_secret() -> None:
    for name, text in TEXTS.items():
        for value in re.findall(r"(?:API_KEY|PASSWORD|TOKEN)\s*[=:]\s*(\S+)", text):
            assert value.startswith(("$", '"$', "...", "<")), f"{name}: {value}"


def test_128_the_container_runs_without_root_and_copies_what_there_is() -> None:
    lines = TEXTS["Containerfile"].replace("\\\n", " ").splitlines()
    steps = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    for step, rest in steps:
        if step == "COPY" and "--from" not in rest:
            *sources, _ = rest.split()
            assert all((PROJECT / source).exists() for source in sources), rest
    last = {step[0]: step[1] for step in steps}
    assert last["USER"] == "10001:10001"
    assert last["VOLUME"] == "/data"
    assert "/health" in last["HEALTHCHECK"]
    assert json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"]) == ["recollect", "serve"]
    assert "RECOLLECT_API_KEY" not in " ".join(rest for step, rest in steps if step == "ENV")


def test_128_the_composed_service_needs_a_key_and_is_reached_from_this_machine() -> None:
    service = yaml.safe_load(TEXTS["compose.yaml"])["services"]["recollect"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["environment"]["RECOLLECT_API_KEY"].startswith("${RECOLLECT_API_KEY:?")
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert service["volumes"] == ["recollect-data:/data"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


def test_128_the_unit_listens_on_loopback_and_is_hardened() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue]
    unit.read_string(TEXTS["recollect.service"])
    service = unit["Service"]
    assert shlex.split(service["ExecStart"])[-1] == "serve"
    hardened = ("NoNewPrivileges", "PrivateTmp", "DynamicUser", "PrivateDevices", "RestrictNamespaces")
    assert all(service[name] == "yes" for name in hardened)
    assert service["ProtectSystem"] == "strict"
    assert "Environment=RECOLLECT_HOST=127.0.0.1\n" in TEXTS["recollect.service"]


def test_128_caddy_passes_on_to_loopback_without_waiting() -> None:
    assert re.search(r"reverse_proxy 127\.0\.0\.1:4000 \{", TEXTS["Caddyfile"])
    assert "flush_interval -1" in TEXTS["Caddyfile"]
    assert TEXTS["Caddyfile"].count("{") == TEXTS["Caddyfile"].count("}")


def test_128_the_plugin_names_hooks_that_there_are() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert manifest["name"] == "recollect"
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    commands = [one["command"] for groups in hooks.values() for group in groups for one in group["hooks"]]
    assert {command.removeprefix("recollect hook ") for command in commands} == set(HookEvent)
    (server,) = json.loads((PLUGIN / ".mcp.json").read_text("utf-8"))["mcpServers"].values()
    assert (server["command"], server["args"]) == ("recollect", ["mcp"])
