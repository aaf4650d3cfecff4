"""Packages are downloaded in batches."""

import sys
from pathlib import Path

import pytest

from models import downloads

# A fake registry client: it creates one file per package and fails when one package is unknown.
CLIENT = """
import pathlib, sys
with open("calls.txt", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + chr(10))
if "unknown" in sys.argv:
    sys.exit(1)
for name in sys.argv[1:]:
    pathlib.Path(name + ".whl").touch()
"""


def test_an_unknown_package_does_not_fail_its_batch_and_the_next_run_retries_only_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(downloads.COMMANDS, "pypi", (sys.executable, "-c", CLIENT))

    for _ in range(2):
        downloads.fetch({"pypi": ["a", "unknown", "b"]}, tmp_path)

    assert [path.name for path in downloads.list_archives(tmp_path)] == ["a.whl", "b.whl"]
    assert (tmp_path / "calls.txt").read_text().splitlines() == [
        "a unknown b",
        "a",
        "unknown",
        "b",
        "unknown",
        "unknown",
    ]


def test_every_list_pins_each_package_once_except_for_debian_without_versions():
    for source, specs in downloads.packages_to_harvest().items():
        assert len(specs) == len(set(specs))
        mark = {"pypi": "==", "npm": "@", "debian": ""}[source]
        assert [spec for spec in specs if mark not in spec[1:]] == []
