"""The built wheel is publishable, contains only the package, and works where there is no compiler."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from scrubjay.native.library import FINGERPRINT_NAME, LIBRARY_NAME

PROJECT = Path(__file__).parents[2]
LIBRARY_FILES = {f"scrubjay/native/lib/{name}" for name in (LIBRARY_NAME, FINGERPRINT_NAME)}


def build_wheel(folder: Path, environment: Mapping[str, str]) -> Path:
    """Build a wheel of this checkout without downloading anything."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run(
        [*command, "--wheel-dir", str(folder), str(PROJECT)],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        timeout=300,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def pure_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("pure"), {"SCRUBJAY_BUILD_NATIVE": ""})


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_default_wheel_is_pure_python(pure_wheel: Path) -> None:
    assert pure_wheel.name.endswith("-py3-none-any.whl")


def test_the_default_wheel_contains_no_binary_no_c_and_no_tests(pure_wheel: Path) -> None:
    names = names_in(pure_wheel)
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"scrubjay"}
    assert [name for name in names if name.endswith((".c", ".h", ".so", ".pyc")) or "/tests/" in name] == []
    assert not names & LIBRARY_FILES


def test_a_wheel_with_the_library_has_a_tag_that_pypi_accepts(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, {"SCRUBJAY_BUILD_NATIVE": "1"})
    tag = wheel.stem.split("-py3-none-")[1]
    assert tag.startswith(("manylinux_", "musllinux_", "macosx_"))
    assert names_in(wheel) >= LIBRARY_FILES
    assert [name for name in names_in(wheel) if name.endswith((".c", ".h"))] == []


def test_the_installed_wheel_passes_the_doctor_without_compiler_and_make(pure_wheel: Path, tmp_path: Path) -> None:
    """The dependencies come from this environment, so that nothing is downloaded."""
    clean = tmp_path / "venv"
    venv.create(clean, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(clean)}))
    with zipfile.ZipFile(pure_wheel) as archive:
        archive.extractall(site)
    dependencies = [path for path in map(Path, sys.path) if path.name == "site-packages"]
    (site / "dependencies.pth").write_text("".join(f"{path}\n" for path in dependencies))
    home = tmp_path / "home"
    environment = {"HOME": str(home), "SCRUBJAY_HOME": str(home / "store"), "PATH": str(clean / "bin")}
    python = str(clean / "bin" / "python")
    probe = "import scrubjay, scrubjay.native.library as n; print(scrubjay.__file__, n.library(), n.checkout_sources())"
    done = subprocess.run(
        [python, "-c", probe], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(site / "scrubjay" / "__init__.py"), "None", "None"]
    done = subprocess.run(
        [python, "-m", "scrubjay.app", "doctor", "--json"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    steps = {step["step"]: step["result"] for step in json.loads(done.stdout)["steps"]}
    assert steps["C extension"].startswith("not compiled")
