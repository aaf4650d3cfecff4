"""`ARCHITECTURE.md` names files that exist, and every feature."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "src" / "scrubjay"
PAGE = (PROJECT / "ARCHITECTURE.md").read_text("utf-8")


def test_every_path_of_the_page_exists() -> None:
    code = set(re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", PAGE)) - {"src/scrubjay"}
    links = set(re.findall(r"\]\(([\w./-]+)\)", PAGE))
    assert len(code) > 30
    assert [path for path in sorted(code) if not (PACKAGE / path).exists()] == []
    assert [path for path in sorted(links) if not (PROJECT / path).exists()] == []


def test_every_feature_is_in_the_table() -> None:
    features = {module.parent.name for module in (PACKAGE / "features").glob("*/__init__.py")}
    assert {name for name in features if f"| `features/{name}`" not in PAGE} == set()
