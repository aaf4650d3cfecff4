import sys
from pathlib import Path

import pytest

from models import downloads

# A client that makes one file a package, and fails as a whole when it does not know one.
CLIENT = """
import pathlib, sys
with open("calls.txt", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + chr(10))
if "unknown" in sys.argv:
    sys.exit(1)
for name in sys.argv[1:]:
    pathlib.Path(name + ".whl").touch()
"""


def test_an_unknown_package_does_not_cost_its_batch_and_a_second_run_asks_only_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(downloads.COMMANDS, "pypi", (sys.executable, "-c", CLIENT))

    for _ in range(2):
        downloads.fetch({"pypi": ["a", "unknown", "b"]}, tmp_path)

    assert [path.name for path in downloads.archives(tmp_path)] == ["a.whl", "b.whl"]
    assert (tmp_path / "calls.txt").read_text().splitlines() == [
        "a unknown b",
        "a",
        "unknown",
        "b",
        "unknown",
        "unknown",
    ]


def test_every_list_pins_each_package_once_and_debian_serves_one_version():
    for source, specs in downloads.listed().items():
        assert len(specs) == len(set(specs))
        mark = {"pypi": "==", "npm": "@", "debian": ""}[source]
        assert [spec for spec in specs if mark not in spec[1:]] == []
