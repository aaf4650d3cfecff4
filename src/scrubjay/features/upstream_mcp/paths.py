"""Location of skill configuration. Imports nothing else, because every start uses it."""

from pathlib import Path

MANIFEST = "skills_manifest.json"


def skills_configured(file: Path) -> bool:
    """Return True if the file or the manifest beside it exists."""
    return file.exists() or file.with_name(MANIFEST).exists()
