"""The metrics, variables and commands in docs/operations.md exist."""

import json
import os
import re
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings, variable_names
from scrubjay.compat.mimo.settings import MIMO_FLAGS
from scrubjay.features.monitoring.operations_tools import AuditEntry
from tests.surfaces.commands import run_command

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")


async def test_025_every_documented_metric_exists_and_every_own_metric_is_documented(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:
        text, _ = await application.observability.metrics.text("")
    existing = {name for name in re.findall(r"# TYPE (\S+)", text.decode()) if not name.endswith("_created")}
    documented = set(re.findall(r"`((?:scrubjay|process)_\w+)`", PAGE))
    assert documented <= existing
    assert {name for name in existing if name.startswith("scrubjay_")} <= documented


def test_024_every_documented_variable_exists() -> None:
    known = {*variable_names(Settings), *MIMO_FLAGS.values()}
    documented = set(re.findall(r"\b((?:SCRUBJAY_)?[A-Z]+_[A-Z_]+)\b", PAGE))
    assert documented <= known
    assert len(documented) == 19


def test_021_the_audit_line_on_the_page_is_a_valid_entry() -> None:
    shown = re.search(r"```json\n(.*?)\n```", PAGE)
    assert shown
    entry = AuditEntry.model_validate(json.loads(shown[1]), extra="forbid")
    assert (entry.tool, entry.decision) == ("recall", "allowed")


async def test_021_the_commands_on_the_page_run(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    commands = re.findall(r"```sh\nscrubjay (.*?)\n```", PAGE)
    assert len(commands) == 2
    for command in commands:
        result = await run_command(command.split(), b"", {**environment, "SCRUBJAY_HOME": str(tmp_path)}, tmp_path)
        assert result.returncode == 0, result.stdout
