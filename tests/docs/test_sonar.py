"""What the page about sonar says is so."""

import re
from pathlib import Path
from typing import get_args

from scrubjay.features.workspace.screen import accessibility, service, windows
from scrubjay.features.workspace.screen.commands import Source
from scrubjay.features.workspace.screen.tools import SonarResult

PAGE = (Path(__file__).parents[2] / "docs" / "sonar.md").read_text("utf-8")


def test_35_the_page_has_every_word_and_number() -> None:
    shown = re.findall(r"\| `(\w+)` \|$", PAGE, re.M)
    assert set(shown) == set(get_args(SonarResult.model_fields["environment"].annotation))
    assert all(f"`{source}`" in PAGE for source in Source)
    assert f"{windows.MOST_WINDOWS} windows, {accessibility.MOST_ELEMENTS} elements" in PAGE
    assert f"{service.MOST_CHARACTERS:,} characters" in PAGE
    assert f"the {service.TOP_PROCESSES} busiest processes" in PAGE
    assert (service.SECONDS, service.ELEMENT_SECONDS) == (15, 6)
