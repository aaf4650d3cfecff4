"""Extract description-code pairs and prose from downloaded packages, and record name, version and licence of each."""

import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from models.archives import Archive, open_archive
from models.braced_code import read_go, read_javascript, read_rust, read_type_declarations
from models.held_out import is_held_out
from models.licences import is_permissive
from models.pairs import DescriptionReader, Pair, make_pair
from models.python_code import module_docstring, read_python

_MAX_PAIRS = 2_500
_MAX_TYPE_DECLARATIONS = 300
_MIN_README_CHARACTERS = 400
_READERS: dict[str, DescriptionReader] = {
    "py": read_python,
    "js": read_javascript,
    "ts": read_javascript,
    "dts": read_type_declarations,
    "go": read_go,
    "rs": read_rust,
}


@dataclass(frozen=True, slots=True)
class PackageText:
    """Prose of a package: its README or a module docstring."""

    package: str
    readme: bool
    text: str


@dataclass(frozen=True, slots=True)
class PackageRecord:
    """The outcome of harvesting one package: its number of pairs, or why it was skipped."""

    package: str
    version: str
    licence: str
    outcome: str
    pairs: int


def described_pairs(archive: Archive) -> Iterator[Pair]:
    """Yield each documented declaration of a package once, at most `_MAX_PAIRS`, so that no package dominates."""
    seen: set[tuple[str, str]] = set()
    declarations = 0
    for source in archive.sources():
        if source.language == "dts" and declarations >= _MAX_TYPE_DECLARATIONS:
            continue
        for found in _READERS[source.language](source.text):
            described = make_pair(archive.package, source.language, found)
            if described is None or (key := (described.name, described.summary.lower())) in seen:
                continue
            seen.add(key)
            declarations += described.language == "dts"
            yield described
            if len(seen) >= _MAX_PAIRS:
                return


def texts(archive: Archive) -> Iterator[PackageText]:
    if len(archive.readme) >= _MIN_README_CHARACTERS:
        yield PackageText(archive.package, True, archive.readme)
    for source in archive.sources():
        if source.language == "py" and len((text := module_docstring(source.text)).split()) >= 20:
            yield PackageText(archive.package, False, text[:4_000])


def harvest(files: list[Path], pairs_path: Path, texts_path: Path, record_path: Path) -> None:
    """Write pairs and prose of every permissive package that is not held out, and a record of all packages."""
    with pairs_path.open("w") as pairs_file, texts_path.open("w") as texts_file, record_path.open("w") as record:
        for number, path in enumerate(files, start=1):
            outcome = _harvest_one(path, pairs_file.write, texts_file.write)
            record.write(json.dumps(asdict(outcome)) + "\n")
            if number % 250 == 0:
                print(f"  {number} of {len(files)} packages", flush=True)


def _harvest_one(path: Path, write_pair: Callable[[str], object], write_text: Callable[[str], object]) -> PackageRecord:
    try:
        archive = open_archive(path)
    except (OSError, KeyError, ValueError, StopIteration, tarfile.TarError, zipfile.BadZipFile) as error:
        return PackageRecord(path.name, "", "", f"unreadable: {error!r}", 0)
    licence = " ".join(", ".join(archive.licences).split())[:120]
    if is_held_out(archive.package):
        return PackageRecord(archive.package, archive.version, licence, "held out", 0)
    if not is_permissive(archive.licences):
        return PackageRecord(archive.package, archive.version, licence, "licence", 0)
    count = 0
    for described in described_pairs(archive):
        write_pair(json.dumps(asdict(described)) + "\n")
        count += 1
    for text in texts(archive):
        write_text(json.dumps(asdict(text)) + "\n")
    return PackageRecord(archive.package, archive.version, licence, "harvested", count)
