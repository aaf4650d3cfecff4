"""Small real repositories, made with git and independent of the user's configuration."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(folder: Path, *arguments: str, input: bytes = b"") -> str:
    """Run git and return its output without the final newline."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        input=input,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files with these contents."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def new_repository(folder: Path, files: Mapping[str, str | bytes] | None = None, *options: str) -> Path:
    """Create a repository in the folder, with one commit if there are files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    if files:
        write(folder, files)
        commit(folder, "First")
    return folder


def commit(folder: Path, subject: str) -> str:
    """Commit all files and return the id of the commit."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", subject)
    return git(folder, "rev-parse", "HEAD")


def age_files(folder: Path) -> None:
    """Make all files older than the index, as in every repository that is not brand new."""
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, ns=(10**18, 10**18))
    git(folder, "update-index", "--refresh")
