"""Where skills are written down. Loads nothing: every start asks."""

from pathlib import Path

MANIFEST = "skills_manifest.json"


def are_there(file: Path) -> bool:
    """Whether somebody has written skills down: in the file, or in the manifest beside it."""
    return file.exists() or file.with_name(MANIFEST).exists()
