"""Pairs and texts are harvested from packages with permissive licences."""

import json
import zipfile
from dataclasses import asdict
from pathlib import Path

from models.harvest import PackageRecord, PackageText, harvest
from models.pairs import Pair

SOURCE = '''"""{module}"""

def close(self):
    """Close every open connection."""
    for connection in self.connections:
        connection.close()
    return self
'''
CODE = "def close(self):\n    for connection in self.connections:\n        connection.close()\n    return self"
README = "Keeps connections open. " * 20
MODULE = " ".join(["word"] * 20)


def wheel(folder: Path, name: str, licence: str) -> Path:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\nLicense: {licence}\n\n{README}"
        )
        archive.writestr(f"{name}/core.py", SOURCE.format(module=MODULE))
        archive.writestr(f"{name}/copied.py", SOURCE.format(module="Short."))
    return path


def test_only_permissive_packages_that_are_not_held_out_are_harvested_and_all_are_recorded(tmp_path: Path):
    broken = tmp_path / "broken-1.0.whl"
    broken.write_bytes(b"no archive")
    files = [broken, wheel(tmp_path, "flask", "MIT"), wheel(tmp_path, "free", "MIT"), wheel(tmp_path, "gnu", "GPL-3.0")]
    pairs, texts, record = (tmp_path / name for name in ("pairs", "texts", "record"))

    harvest(files, pairs, texts, record)

    summary = "Close every open connection."
    assert [json.loads(line) for line in pairs.read_text().splitlines()] == [
        asdict(Pair("free", "py", "function", "close", summary, summary, CODE))
    ]
    assert [PackageText(**json.loads(line)) for line in texts.read_text().splitlines()] == [
        PackageText("free", True, README),
        PackageText("free", False, MODULE),
    ]
    first, *others = [PackageRecord(**json.loads(line)) for line in record.read_text().splitlines()]
    assert first.outcome.startswith("unreadable: BadZipFile")
    assert others == [
        PackageRecord("flask", "1.0", "MIT", "held out", 0),
        PackageRecord("free", "1.0", "MIT", "harvested", 1),
        PackageRecord("gnu", "1.0", "GPL-3.0", "licence", 0),
    ]
