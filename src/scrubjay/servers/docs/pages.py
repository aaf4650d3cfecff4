"""Write the reference pages to disk, and find outdated ones."""

from collections.abc import Mapping
from pathlib import Path


def write_pages(pages: Mapping[str, str], folder: Path) -> None:
    """Make the folder hold these pages and nothing else."""
    for path in _files(folder) - pages.keys():
        (folder / path).unlink()
    for path, text in pages.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")


def stale_pages(pages: Mapping[str, str], folder: Path) -> list[str]:
    """Return one line per difference between the folder and these pages; empty when they are equal."""
    existing = _files(folder)
    return sorted(
        [f"{path}: is missing" for path in pages.keys() - existing]
        + [f"{path}: should not exist" for path in existing - pages.keys()]
        + [f"{path}: is out of date" for path in pages.keys() & existing if _text(folder / path) != pages[path]]
    )


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
