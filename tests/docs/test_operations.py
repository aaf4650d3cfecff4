"""What the page about looking after a server says is so."""

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


async def test_025_every_metric_of_the_page_exists_and_every_one_of_ours_is_on_it(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as application:
        text, _ = await application.oversight.metrics.text("")
    exist = {name for name in re.findall(r"# TYPE (\S+)", text.decode()) if not name.endswith("_created")}
    named = set(re.findall(r"`((?:scrubjay|process)_\w+)`", PAGE))
    assert named <= exist
    assert {name for name in exist if name.startswith("scrubjay_")} <= named


def test_024_every_variable_of_the_page_exists() -> None:
    known = {*variable_names(Settings), *MIMO_FLAGS.values()}
    named = set(re.findall(r"\b((?:SCRUBJAY_)?[A-Z]+_[A-Z_]+)\b", PAGE))
    assert named <= known
    assert len(named) == 15


def test_021_the_line_of_the_page_is_an_entry() -> None:
    shown = re.search(r"```json\n(.*?)\n```", PAGE)
    assert shown
    entry = AuditEntry.model_validate(json.loads(shown[1]), extra="forbid")
    assert (entry.tool, entry.decision) == ("recall", "allowed")


async def test_021_the_commands_of_the_page_run(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    commands = re.findall(r"```sh\nscrubjay (.*?)\n```", PAGE)
    assert len(commands) == 2
    for command in commands:
        done = await run_command(command.split(), b"", {**kept, "SCRUBJAY_HOME": str(tmp_path)}, tmp_path)
        assert done.returncode == 0, done.stdout
