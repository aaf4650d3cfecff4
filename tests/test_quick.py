"""`make quick` runs the tests of what changed."""

from pathlib import Path

import pytest

from tests.quick import select_tests


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/scrubjay/core/errors.py", ["tests/core/test_errors.py"]),
        ("src/scrubjay/core/other.py", ["tests/core"]),
        ("src/scrubjay/features/unknown/service.py", ["tests/features"]),
        ("tests/core/test_errors.py", ["tests/core/test_errors.py"]),
        ("tests/core/helper.py", ["tests/core"]),
        ("tests/conftest.py", []),
        ("docs/working-memory.md", ["tests/docs/test_working_memory.py"]),
        ("README.md", ["tests/docs/test_readme.py"]),
        ("pyproject.toml", []),
    ],
)
def test_a_changed_file_selects_its_tests(path: str, expected: list[str], tmp_path: Path) -> None:
    for present in ("core/test_errors.py", "features/x.py", "docs/test_working_memory.py", "docs/test_readme.py"):
        (tmp_path / "tests" / present).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / present).touch()
    assert select_tests([path], tmp_path) == expected


def test_a_folder_includes_its_files(tmp_path: Path) -> None:
    (tmp_path / "tests" / "core").mkdir(parents=True)
    (tmp_path / "tests" / "core" / "test_errors.py").touch()
    changed = ["src/scrubjay/core/errors.py", "src/scrubjay/core/ids.py"]
    assert select_tests(changed, tmp_path) == ["tests/core"]
