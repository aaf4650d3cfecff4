"""Verification of the WebAssembly files and of cached compiled code. Numbers are rows of the feature table."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import wasmtime

from scrubjay.features.sandbox import artifacts
from scrubjay.features.sandbox.artifacts import (
    ARTIFACTS,
    ENGINE,
    STRIPPER,
    ArtifactError,
    check_interface,
    create_engine,
    load_module,
    read_verified,
)


@pytest.mark.parametrize("artifact", ARTIFACTS, ids=lambda artifact: artifact.name)
def test_124_the_installed_files_have_the_expected_digests(artifact: artifacts.Artifact) -> None:
    assert read_verified(artifact)[:4] == b"\0asm"


def test_124_a_file_with_another_digest_is_refused() -> None:
    with pytest.raises(ArtifactError, match="is not the expected file"):
        read_verified(replace(ENGINE, digest="0" * 64))


def test_124_a_missing_file_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(artifacts, "VENDOR", tmp_path)
    with pytest.raises(ArtifactError, match=r"quickjs\.wasm cannot be read"):
        read_verified(ENGINE)


def test_124_the_readme_of_the_vendored_files_states_their_digests() -> None:
    readme = (artifacts.VENDOR / "README.md").read_text("utf-8")
    for artifact in ARTIFACTS:
        assert f"| `{artifact.name}` |" in readme
        assert artifact.digest in readme


def test_124_a_module_with_more_imports_or_fewer_exports_is_refused() -> None:
    engine = create_engine()
    greedy = wasmtime.Module(engine, '(module (import "wasi_snapshot_preview1" "path_open" (func)))')
    with pytest.raises(ArtifactError, match="path_open"):
        check_interface(STRIPPER, greedy)
    with pytest.raises(ArtifactError, match="does not export "):
        check_interface(replace(STRIPPER, imports=frozenset()), wasmtime.Module(engine, "(module)"))


def test_124_damaged_compiled_code_is_not_loaded_from_the_cache(tmp_path: Path) -> None:
    engine = create_engine()
    load_module(STRIPPER, tmp_path, engine)
    (cached,) = tmp_path.iterdir()
    assert cached.stat().st_mode & 0o77 == 0
    first = cached.read_bytes()
    cached.write_bytes(first[:-1] + bytes([first[-1] ^ 1]))
    load_module(STRIPPER, tmp_path, engine)
    (again,) = tmp_path.iterdir()
    assert artifacts.hashlib.sha256(again.read_bytes()).hexdigest() == again.stem.rpartition("-")[2]
    changed = again.stat().st_mtime_ns
    load_module(STRIPPER, tmp_path, engine)
    assert again.stat().st_mtime_ns == changed


def test_124_a_cache_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert load_module(STRIPPER, tmp_path / "file" / "folder", create_engine()).exports


def test_the_server_and_the_tools_load_no_webassembly() -> None:
    modules = "scrubjay.features.sandbox.tools, scrubjay.features.sandbox.wiring"
    code = f"import {modules}, sys; print('wasmtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
