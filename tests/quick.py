"""Run the tests of what changed against `main`, for at most `SECONDS`: `make quick`.

A changed module runs the test file that mirrors it, or else the tests of its folder; a changed page runs the tests of
its examples. Without a change, the fast unit tests run. The first failure ends the run.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

PROJECT = Path(__file__).parents[1]
SECONDS = 45  # what the checks of `make quick` leave of a minute on two cores
FAST = ("tests/core", "tests/tooling", "tests/search_index", "tests/architecture")


def changed_files(base: str) -> list[str]:
    """Return the paths that differ from `base`, with uncommitted and untracked files; none if `base` is unknown."""
    fork = _git("merge-base", base, "HEAD").strip()
    if not fork:
        return []
    return sorted({*_git("diff", "--name-only", fork).split(), *_git("ls-files", "-o", "--exclude-standard").split()})


def select_tests(paths: Iterable[str], project: Path) -> list[str]:
    """Return the test files and folders for changed paths, without those inside of another."""
    found = {target for path in paths if (target := _test_of(PurePosixPath(path), project))}
    return sorted(path for path in found if not any(str(parent) in found for parent in PurePosixPath(path).parents))


def _test_of(path: PurePosixPath, project: Path) -> str | None:
    return next((str(found) for found in _candidates(path) if (project / found).exists()), None)


def _candidates(path: PurePosixPath) -> Iterator[PurePosixPath]:
    tests = PurePosixPath("tests")
    match path.parts:
        case ("src", "scrubjay", *folders, _):
            yield tests.joinpath(*folders, f"test_{path.stem}.py")
            for depth in range(len(folders), 0, -1):
                yield tests.joinpath(*folders[:depth])
        case ("tests", _, *_) if path.name.startswith("test_"):
            yield path
        case ("tests", _, _, *_):
            yield path.parent
        case ("docs", _) | (_,) if path.suffix == ".md":
            yield tests / "docs" / f"test_{path.stem.replace('-', '_').lower()}.py"
            yield tests / "architecture"
        case _:
            return


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def main(base: str = "main") -> int:
    """Return the exit status of the tests; 1 if they did not finish in time."""
    targets = select_tests(changed_files(base), PROJECT) or list(FAST)
    sys.stdout.write(f"Testing {' '.join(targets)}\n")
    sys.stdout.flush()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-x", "-n", "2", "--dist", "loadfile", *targets],
        cwd=PROJECT,
        start_new_session=True,
    )
    try:
        status = process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        sys.stdout.write(f"\nThe tests did not finish within {SECONDS} s. `make test` runs everything.\n")
        return 1
    return 0 if status == 5 else status  # 5: the folders hold no test


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
