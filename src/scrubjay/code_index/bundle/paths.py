"""Paths of bundles, and paths in bundles as text that every format can represent."""

# Folder of the unpacked texts of opened bundles, in the folder of derived files.
OPENED_FOLDER = "opened"


def printable_path(path: str) -> str:
    """Return the path, with bytes that are not UTF-8 escaped."""
    return path.encode("utf-8", "backslashreplace").decode()
