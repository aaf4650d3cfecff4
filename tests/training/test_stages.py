"""Stages of the training are repeated only when they are incomplete."""

from pathlib import Path

import pytest

from models.stages import run_stage


def test_an_interrupted_stage_is_repeated_and_a_complete_one_is_skipped(tmp_path: Path):
    output = tmp_path / "start.npy"

    def write_half(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_stage(output, write_half)
    assert not output.exists()

    for text in ("whole", "other"):
        assert run_stage(output, lambda path, text=text: path.write_text(text)) == output
        assert [path.name for path in tmp_path.iterdir()] == ["start.npy"]
        assert output.read_text() == "whole"
