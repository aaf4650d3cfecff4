"""Reads downloaded packages and keeps what they describe, with a record of name, version and licence of each."""

import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from models.archives import Archive, open_archive
from models.braced_code import described_go, described_javascript, described_rust, described_type_declarations
from models.described import Pair, Reader, pair
from models.held_out import is_held_out
from models.licences import permissive
from models.python_code import described_python, module_docstring

_MOST_PAIRS = 2_500
_MOST_TYPE_DECLARATIONS = 300
_SHORTEST_README = 400
_READERS: dict[str, Reader] = {
    "py": described_python,
    "js": described_javascript,
    "ts": described_javascript,
    "dts": described_type_declarations,
    "go": described_go,
    "rs": described_rust,
}


@dataclass(frozen=True, slots=True)
class Text:
    """Prose of a package: its README, or a module's docstring."""

    package: str
    readme: bool
    text: str


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one package gave, or why it gave nothing."""

    package: str
    version: str
    licence: str
    outcome: str
    pairs: int


def described_pairs(archive: Archive) -> Iterator[Pair]:
    """Every described declaration of a package once, up to a bound that keeps one package from ruling."""
    seen: set[tuple[str, str]] = set()
    declarations = 0
    for source in archive.sources():
        if source.language == "dts" and declarations >= _MOST_TYPE_DECLARATIONS:
            continue
        for found in _READERS[source.language](source.text):
            described = pair(archive.package, source.language, found)
            if described is None or (key := (described.name, described.summary.lower())) in seen:
                continue
            seen.add(key)
            declarations += described.language == "dts"
            yield described
            if len(seen) >= _MOST_PAIRS:
                return


def texts(archive: Archive) -> Iterator[Text]:
    if len(archive.readme) >= _SHORTEST_README:
        yield Text(archive.package, True, archive.readme)
    for source in archive.sources():
        if source.language == "py" and len((text := module_docstring(source.text)).split()) >= 20:
            yield Text(archive.package, False, text[:4_000])


def harvest(files: list[Path], pairs_path: Path, texts_path: Path, record_path: Path) -> None:
    """Write pairs and prose of every permissive package that is not held out, and the record of all."""
    with pairs_path.open("w") as pairs_file, texts_path.open("w") as texts_file, record_path.open("w") as record:
        for number, path in enumerate(files, start=1):
            outcome = _harvest_one(path, pairs_file.write, texts_file.write)
            record.write(json.dumps(asdict(outcome)) + "\n")
            if number % 250 == 0:
                print(f"  {number} of {len(files)} packages", flush=True)


def _harvest_one(path: Path, write_pair: Callable[[str], object], write_text: Callable[[str], object]) -> Harvest:
    try:
        archive = open_archive(path)
    except (OSError, KeyError, ValueError, StopIteration, tarfile.TarError, zipfile.BadZipFile) as error:
        return Harvest(path.name, "", "", f"unreadable: {error!r}", 0)
    licence = " ".join(", ".join(archive.licences).split())[:120]
    if is_held_out(archive.package):
        return Harvest(archive.package, archive.version, licence, "held out", 0)
    if not permissive(archive.licences):
        return Harvest(archive.package, archive.version, licence, "licence", 0)
    count = 0
    for described in described_pairs(archive):
        write_pair(json.dumps(asdict(described)) + "\n")
        count += 1
    for text in texts(archive):
        write_text(json.dumps(asdict(text)) + "\n")
    return Harvest(archive.package, archive.version, licence, "harvested", count)
