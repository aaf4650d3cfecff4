"""Only known files are run, and compiled code only as it was written. Numbers are rows of the feature table."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import wasmtime

from scrubjay.features.sandbox import artifacts as artefacts
from scrubjay.features.sandbox.artifacts import ALL, ENGINE, STRIPPER, Unusable, check, engine, loaded, verified


@pytest.mark.parametrize("artefact", ALL, ids=lambda own: own.name)
def test_124_the_installed_files_are_those_that_are_known(artefact: artefacts.Artefact) -> None:
    assert verified(artefact)[:4] == b"\0asm"


def test_124_another_file_is_refused() -> None:
    with pytest.raises(Unusable, match="is not the one that is known"):
        verified(replace(ENGINE, digest="0" * 64))


def test_124_a_missing_file_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(artefacts, "VENDOR", tmp_path)
    with pytest.raises(Unusable, match=r"quickjs\.wasm cannot be read"):
        verified(ENGINE)


def test_124_the_readme_of_the_vendored_files_states_their_digests() -> None:
    readme = (artefacts.VENDOR / "README.md").read_text("utf-8")
    for artefact in ALL:
        assert f"| `{artefact.name}` |" in readme
        assert artefact.digest in readme


def test_124_a_module_that_asks_for_more_or_has_less_is_refused() -> None:
    own = engine()
    greedy = wasmtime.Module(own, '(module (import "wasi_snapshot_preview1" "path_open" (func)))')
    with pytest.raises(Unusable, match="path_open"):
        check(STRIPPER, greedy)
    with pytest.raises(Unusable, match="has no "):
        check(replace(STRIPPER, imports=frozenset()), wasmtime.Module(own, "(module)"))


def test_124_compiled_code_is_taken_from_the_folder_only_if_it_is_whole(tmp_path: Path) -> None:
    own = engine()
    loaded(STRIPPER, tmp_path, own)
    (kept,) = tmp_path.iterdir()
    assert kept.stat().st_mode & 0o77 == 0
    first = kept.read_bytes()
    kept.write_bytes(first[:-1] + bytes([first[-1] ^ 1]))
    loaded(STRIPPER, tmp_path, own)
    (again,) = tmp_path.iterdir()
    assert artefacts.hashlib.sha256(again.read_bytes()).hexdigest() == again.stem.rpartition("-")[2]
    changed = again.stat().st_mtime_ns
    loaded(STRIPPER, tmp_path, own)
    assert again.stat().st_mtime_ns == changed


def test_124_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert loaded(STRIPPER, tmp_path / "file" / "folder", engine()).exports


def test_the_server_and_the_tools_load_no_webassembly() -> None:
    modules = "scrubjay.features.sandbox.tools, scrubjay.features.sandbox.wiring"
    code = f"import {modules}, sys; print('wasmtime' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
