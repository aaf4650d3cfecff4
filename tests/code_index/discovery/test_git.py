"""Nothing that a repository provides is ever run, whatever its configuration says."""

import os
import subprocess
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.commit_log import commit_subjects
from scrubjay.code_index.discovery.contents import read_contents
from scrubjay.code_index.discovery.git import run_git
from scrubjay.code_index.discovery.limits import Deadline
from scrubjay.code_index.discovery.snapshot import take_snapshot
from scrubjay.core.errors import Unavailable
from tests.code_index.discovery.repository import ENVIRONMENT, commit, git, new_repository, write


def triggered(folder: Path) -> list[str]:
    """Return the traps that were triggered, and reset them."""
    names = sorted(path.name for path in folder.iterdir())
    for name in names:
        (folder / name).unlink()
    return names


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    (tmp_path / "traps").mkdir()
    return tmp_path / "traps"


def discover(root: Path) -> None:
    """Do everything that discovery does with a repository."""
    for rev in ("HEAD", "main"):
        snapshot = take_snapshot(root, rev=rev)
        list(read_contents(snapshot, snapshot.files))
    commit_subjects(str(root))


def run_unprotected_git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", *arguments], cwd=root, env={**os.environ, **ENVIRONMENT}, capture_output=True, stdin=subprocess.DEVNULL
    )


def test_hooks_filters_monitors_and_pagers_of_a_repository_are_not_run(tmp_path: Path, traps: Path) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "b.py": "b\n"})
    write(root, {".gitattributes": "*.py filter=evil diff=evil\n"})
    signed = git(root, "cat-file", "commit", commit(root, "Attributes"))
    head, _, message = signed.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed_commit = git(
        root, "hash-object", "-t", "commit", "-w", "--stdin", input=f"{head}\n{signature}\n\n{message}\n".encode()
    )
    git(root, "reset", "--quiet", "--soft", signed_commit)
    write(
        tmp_path,
        {
            name: f"#!/bin/sh\ntouch '{traps}/{name}'\ncat\n"
            for name in ("clean", "process", "fsmonitor", "textconv", "external", "pager", "gpg", "ssh", "askpass")
        },
    )
    write(root, {".git/hooks/post-index-change": f"#!/bin/sh\ntouch '{traps}/hook'\n"})
    for path in [*tmp_path.iterdir(), root / ".git/hooks/post-index-change"]:
        if path.is_file():
            path.chmod(0o755)
    for setting, name in {
        "filter.evil.clean": "clean",
        "filter.evil.smudge": "clean",
        "core.fsmonitor": "fsmonitor",
        "diff.evil.textconv": "textconv",
        "diff.evil.command": "external",
        "diff.external": "external",
        "core.pager": "pager",
        "pager.log": "pager",
        "gpg.program": "gpg",
        "core.sshCommand": "ssh",
        "core.askPass": "askpass",
    }.items():
        git(root, "config", setting, str(tmp_path / name))
    git(root, "config", "log.showSignature", "true")
    triggered(traps)
    write(root, {"a.py": "c\n"})  # of equal length: git needs the filter to compare it
    discover(root)
    assert triggered(traps) == []
    run_unprotected_git(root, "status")
    run_unprotected_git(root, "log", "--patch")
    assert {"clean", "fsmonitor", "gpg", "hook"} <= set(triggered(traps))


@pytest.mark.parametrize("url", ["ext::sh -c {trap}", "file://{root}", "ssh://host/path"])
def test_a_missing_object_of_a_partial_clone_is_not_fetched(tmp_path: Path, traps: Path, url: str) -> None:
    root = new_repository(tmp_path / "r", {"a.py": "a\n", "b": "b\n", "c.py": "c\n"})
    for path in ("a.py", "b"):
        blob = git(root, "rev-parse", f"HEAD:{path}")
        (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    trap = tmp_path / "trap"
    write(tmp_path, {"trap": f"#!/bin/sh\ntouch '{traps}/fetched'\n"})
    trap.chmod(0o755)
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "core.sshCommand": str(trap),
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": url.format(trap=trap, root=root),
        "remote.origin.uploadPack": str(trap),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
        "protocol.ssh.allow": "always",
    }.items():
        git(root, "config", name, value)
    discover(root)
    snapshot = take_snapshot(root, rev="main")
    assert ([file.path for file in snapshot.files], triggered(traps)) == (["c.py"], [])
    run_unprotected_git(root, "ls-tree", "-r", "-l", "main")
    assert triggered(traps) == ["fetched"]


def test_a_missing_folder_is_not_reported_as_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as raised:
        run_git(str(tmp_path / "gone"), Deadline(5), "version")
    assert raised.value.message == f"git cannot be started in {tmp_path}/gone (No such file or directory)"
