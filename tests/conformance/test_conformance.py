"""The official MCP conformance suite, against a server built with our own MCP server."""

import json
import re
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.conformance.conftest import Node
from tests.conformance.packages import HERE, MODULES

SUITE = MODULES / "@modelcontextprotocol/conformance"
EXPECTED = HERE / "expected_failures.yaml"
# The suite itself reports this scenario as untestable.
UNTESTED = {"tasks-status-notifications"}


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    command = [sys.executable, "-m", "tests.conformance.fixture_server"]
    process = subprocess.Popen(command, cwd=HERE.parents[1], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_every_requirement_is_met(node: Node, url: str, revision: str, tmp_path: Path) -> None:
    arguments = ["server", "--url", url, "--requirements", revision, "--expected-failures", str(EXPECTED)]
    ran = node([str(SUITE / "dist/index.js"), *arguments, "--output-dir", str(tmp_path / "results")], tmp_path)
    assert ran.returncode == 0, ran.stdout

    unmet: dict[str, set[str]] = {}
    for scenario, status in outcomes(tmp_path / "results"):
        unmet.setdefault(scenario, set()).update({status} - {"SUCCESS", "INFO"})
    assert set(unmet) == server_scenarios(revision)
    failing = {scenario for scenario, statuses in unmet.items() if statuses}
    assert failing - UNTESTED == scenarios_in(EXPECTED) & set(unmet)


def test_only_the_tasks_extension_may_fail() -> None:
    assert all(name.startswith("tasks-") for name in scenarios_in(EXPECTED))


def outcomes(results: Path) -> Iterator[tuple[str, str]]:
    """Yield the scenario and status of each check."""
    for checks in results.glob("server-*/checks.json"):
        scenario = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", checks.parent.name)
        assert scenario
        for check in json.loads(checks.read_text()):
            yield scenario[1], check["status"]


def server_scenarios(revision: str) -> set[str]:
    """Return all scenarios that the suite runs for this revision, scored or not."""
    requirements = (SUITE / f"requirements/{revision}.yaml").read_text()
    scored = re.search(r"^server:\n((?:  - .+\n)+)", requirements, re.MULTILINE)
    assert scored
    others = re.findall(r"- scenario: (\S+)\n    leg: server", requirements)
    return {*re.findall(r"  - (\S+)", scored[1]), *others}


def scenarios_in(listing: Path) -> set[str]:
    return set(re.findall(r"^  - (\S+)$", listing.read_text(), re.MULTILINE))
