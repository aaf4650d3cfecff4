"""docs/screen.md states the values and limits of the code."""

import re
from pathlib import Path
from typing import get_args

from scrubjay.features.workspace.screen import accessibility, service, windows
from scrubjay.features.workspace.screen.commands import HelperStatus
from scrubjay.features.workspace.screen.tools import SonarResult

PAGE = (Path(__file__).parents[2] / "docs" / "screen.md").read_text("utf-8")


def test_35_the_page_states_every_value_and_limit() -> None:
    shown = re.findall(r"\| `(\w+)` \|$", PAGE, re.M)
    assert set(shown) == set(get_args(SonarResult.model_fields["environment"].annotation))
    assert all(f"`{source}`" in PAGE for source in HelperStatus)
    assert f"{windows.MAX_WINDOWS} windows, {accessibility.MAX_ELEMENTS} elements" in PAGE
    assert f"{service.MAX_CHARACTERS:,} characters" in PAGE
    assert f"the {service.TOP_PROCESSES} busiest processes" in PAGE
    assert (service.SECONDS, service.ELEMENT_SECONDS) == (15, 6)
