from pathlib import Path

import pytest

from models.stages import once


def test_a_stopped_stage_is_made_anew_and_one_that_stands_is_kept(tmp_path: Path):
    output = tmp_path / "start.npy"

    def stopped(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        once(output, stopped)
    assert not output.exists()

    for text in ("whole", "other"):
        assert once(output, lambda path, text=text: path.write_text(text)) == output
        assert [path.name for path in tmp_path.iterdir()] == ["start.npy"]
        assert output.read_text() == "whole"
