"""git starts no program that a repository configures, with and without Landlock."""

import os
import subprocess
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import anyio
import pytest

from scrubjay.core.callers import Caller
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal import command_policy
from scrubjay.features.workspace.terminal.command_policy import CommandPolicy
from scrubjay.features.workspace.terminal.service import CommandResult, Terminal, TerminalLimits
from scrubjay.features.workspace.web.addresses import HostPolicy
from scrubjay.isolation.landlock import version
from scrubjay.isolation.limits import Bounds

# Commands that start drivers when git is run without protection.
_COMMANDS = """
git status
git status --short
git diff
git diff --stat
git diff HEAD
git diff --cached
git diff --check
git diff-index -p HEAD
git diff-index HEAD
git diff-tree -p HEAD
git log -p
git log -p --all
git log --all --stat
git log --oneline
git log -1 signed
git log --pretty=signature -1 signed
git show signed
git show HEAD
git blame notes.txt
git blame --porcelain notes.txt
git grep two
git grep --untracked two
git grep -W one HEAD
git ls-files -m
git ls-files -o --exclude-standard
git ls-files -d
git stash list
git reflog
git shortlog -sn --all
git describe --all --always
git branch -vv
git tag -n
git rev-list --all --pretty=signature
git for-each-ref
git show-ref
git cat-file -p HEAD
git remote -v
git worktree list
"""
COMMANDS = _COMMANDS.strip().splitlines()


class HostileRepository:
    """A repository in which every driver is a program that leaves a file named after the driver."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.markers = folder / "markers"
        self._programs = folder / "programs"
        for path in (self.root, self.markers, self._programs):
            path.mkdir()

    def git(self, *arguments: str, folder: Path | None = None, text: str = "") -> str:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"]
        return subprocess.run(
            ["git", "-C", folder or self.root, *identity, *arguments],
            env=environment,
            input=text,
            text=True,
            capture_output=True,
            timeout=30,
        ).stdout.strip()

    def program(self, name: str) -> str:
        """Return the path of a program that leaves a marker and copies its input."""
        path = self._programs / name
        path.write_text(f"#!/bin/sh\ntouch {self.markers / name}\ncat\n")
        path.chmod(0o755)
        return str(path)

    def configure(self, key: str, *, name: str | None = None, folder: Path | None = None) -> None:
        self.git("config", key, self.program(name or key), folder=folder)

    def fill(self) -> None:
        self.git("init", "-q", "-b", "main")
        (self.root / "notes.txt").write_text("one\n")
        (self.root / "other.txt").write_text("one\n")
        self.git("add", ".")
        self.git("commit", "-qm", "one")
        tree, parent = self.git("rev-parse", "HEAD^{tree}"), self.git("rev-parse", "HEAD")
        signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aGVsbG8=\n -----END PGP SIGNATURE-----\n"
        person = "ada <ada@example.com> 1700000000 +0000"
        commit = f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n{signature}\nsigned\n"
        self.git("update-ref", "refs/heads/signed", self.git("hash-object", "-wt", "commit", "--stdin", text=commit))
        self._add_submodule()
        for key in ("filter.one.clean", "filter.one.smudge", "filter.two.process", "filter.x.y.clean"):
            self.configure(key)
        for key in ("diff.one.textconv", "diff.one.command", "diff.two.textconv", "merge.one.driver", "diff.external"):
            self.configure(key)
        for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "gpg.program", "core.askPass"):
            self.configure(key)
        for key in ("pager.log", "pager.status", "pager.diff", "credential.helper", "gpg.ssh.program"):
            self.configure(key)
        for name in ("log", "status", "st", "whatchanged", "diff", "blame"):
            self.git("config", f"alias.{name}", f"!{self.program(f'alias.{name}')}")
        for event in (
            "post-index-change",
            "fsmonitor-watchman",
            "pre-commit",
            "post-checkout",
            "reference-transaction",
        ):
            self.program(f"hooks.{event}")
            (self.root / ".git" / "hooks").mkdir(exist_ok=True)
            (self.root / ".git" / "hooks" / event).symlink_to(self._programs / f"hooks.{event}")
            self.git("config", f"hook.evil-{event}.event", event)
            self.configure(f"hook.evil-{event}.command")
        self.git("config", "pretty.signature", "%h %G? %GS")
        self.git("config", "log.showSignature", "true")
        self.git("config", "diff.submodule", "diff")
        self.git("config", "status.submoduleSummary", "true")
        self.git("config", "submodule.recurse", "true")
        (self.root / ".git" / "info" / "attributes").write_text(
            "notes.txt filter=one diff=one\nother.txt filter=two diff=two\n"
        )
        (self.root / ".gitattributes").write_text("made.txt filter=x.y\n*.txt merge=one\n")
        (self.root / "notes.txt").write_text("two\n")
        (self.root / "other.txt").write_text("two\n")

    def _add_submodule(self) -> None:
        submodule = self.root / "sub"
        submodule.mkdir()
        self.git("init", "-q", folder=submodule)
        (submodule / "inner.txt").write_text("one\n")
        self.git("add", ".", folder=submodule)
        self.git("commit", "-qm", "one", folder=submodule)
        self.git("add", "sub")
        self.git("commit", "-qm", "two")
        (submodule / ".git" / "info" / "attributes").write_text("* filter=inner diff=inner\n")
        for key in ("filter.inner.clean", "core.fsmonitor"):
            self.configure(key, name=f"submodule.{key}", folder=submodule)
        (submodule / "inner.txt").write_text("two\n")

    def started(self) -> set[str]:
        """Return the names of the drivers that were started, and forget them."""
        names = {path.name for path in self.markers.iterdir()}
        for name in names:
            (self.markers / name).unlink()
        return names


@pytest.fixture
def repository(tmp_path: Path) -> HostileRepository:
    made = HostileRepository(tmp_path.resolve())
    made.fill()
    made.started()
    return made


def unconfined(*_: object) -> None:
    """Return no confinement, in place of `confinement_for`."""


@pytest.fixture(params=["landlock", "no landlock"])
async def terminal(
    repository: HostileRepository, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Terminal]:
    if request.param == "landlock" and not version():
        pytest.skip("this kernel has no Landlock")
    if request.param == "no landlock":
        monkeypatch.setattr(command_policy, "confinement_for", unconfined)
    policy = CommandPolicy(Root(str(repository.root)), Bounds(), HostPolicy(), os.environ)
    async with anyio.create_task_group() as tasks:
        yield Terminal(policy, tasks, TerminalLimits())
        tasks.cancel_scope.cancel()


async def run(terminal: Terminal, commands: Sequence[str]) -> dict[str, CommandResult]:
    return {
        command: await terminal.execute(command, seconds=60, restricted=True, caller=Caller("ada"))
        for command in commands
    }


def test_without_protection_the_repository_starts_its_drivers(repository: HostileRepository) -> None:
    """Shows that the other tests of this file can fail."""
    repository.git("config", "core.fsmonitor", "false")
    for command in COMMANDS:
        repository.git(*command.split()[1:])
    repository.git("st")
    started = repository.started()
    expected = {
        "filter.one.clean",
        "filter.two.process",
        "diff.two.textconv",
        "diff.external",
        "gpg.program",
        "alias.st",
    }
    assert expected | {"submodule.filter.inner.clean"} <= started | {"diff.external"}
    repository.configure("core.fsmonitor")
    repository.git("status")
    assert "core.fsmonitor" in repository.started()


async def test_17_git_starts_no_driver_of_the_repository(terminal: Terminal, repository: HostileRepository) -> None:
    results = await run(terminal, COMMANDS)
    assert repository.started() == set()
    failed = {command: result for command, result in results.items() if result.refused or result.status not in (0, 2)}
    assert failed == {}
    assert "+two" in results["git diff"].output
    assert "modified:   notes.txt" in results["git status"].output
    assert "-one" in results["git log -p"].output or "+one" in results["git log -p"].output


async def test_17_a_driver_of_an_included_file_is_not_started(
    terminal: Terminal, repository: HostileRepository
) -> None:
    (repository.root / ".git" / "more").write_text(f'[filter "one"]\n\tprocess = {repository.program("included")}\n')
    repository.git("config", "include.path", "more")
    assert "+two" in (await run(terminal, ["git diff"]))["git diff"].output
    assert repository.started() == set()


async def test_17_a_folder_without_git_folder_is_no_repository(tmp_path: Path, terminal: Terminal) -> None:
    """A tool that writes files could make one of the root, with drivers."""
    root = tmp_path / "root"
    (root / ".git").rename(tmp_path / "moved")
    for path in (tmp_path / "moved").iterdir():
        path.rename(root / path.name)
    result = (await run(terminal, ["git log"]))["git log"]
    assert result.status != 0
    assert not list((tmp_path / "markers").iterdir())


@pytest.mark.parametrize(
    "change",
    [
        *("git file", "git link", "commondir", "long commondir", "alternates", "alternates after empty lines"),
        *("linked objects", "linked pack", "core.worktree", "odd driver name", "broken"),
    ],
)
async def test_18_a_repository_outside_the_root_is_not_read(
    terminal: Terminal, repository: HostileRepository, tmp_path: Path, change: str
) -> None:
    inner, outside = repository.root / ".git", tmp_path / "outside"
    if change in ("git file", "git link"):
        inner.rename(outside)
        inner.write_text(f"gitdir: {outside}\n") if change == "git file" else inner.symlink_to(outside)
    elif change == "commondir":
        outside.mkdir()
        (inner / "commondir").write_text("../../outside\n")
    elif change == "long commondir":
        (inner / "commondir").write_text("./" * 6_000 + "../../outside\n")
    elif change == "alternates":
        (inner / "objects" / "info" / "alternates").write_text(f"{outside}\n")
    elif change == "alternates after empty lines":
        (inner / "objects" / "info" / "alternates").write_text("\n" * 20_000 + f"{outside}\n")
    elif change == "linked objects":
        (inner / "objects").rename(outside)
        (inner / "objects").symlink_to(outside)
    elif change == "linked pack":
        outside.mkdir()
        (inner / "objects" / "pack").rename(outside / "pack")
        (inner / "objects" / "pack").symlink_to(outside / "pack")
    elif change == "core.worktree":
        repository.git("config", "core.worktree", "/etc")
    elif change == "odd driver name":
        repository.git("config", "filter.a=b.clean", repository.program("odd"))
    else:
        (inner / "config").write_text("[filter\n")
    results = await run(terminal, ["git status", "git log -p", "git grep one"])
    assert [result.refused for result in results.values()] == [True, True, True]
    assert repository.started() == set()


async def test_18_git_compares_no_folders_outside_of_a_repository(terminal: Terminal, tmp_path: Path) -> None:
    """Without a repository, and for paths outside of it, git compares any two folders with everything in them."""
    root = tmp_path / "root"
    for folder in ("a/.ssh", "b"):
        (root / folder).mkdir(parents=True)
    (root / "a" / ".ssh" / "id").write_text("secret\n")
    inside = await run(terminal, ["git diff --text ../root b", "git diff --text a/../../root b"])
    assert [result.refused for result in inside.values()] == [True, True]
    assert not (await run(terminal, ["git diff HEAD -- notes.txt"]))["git diff HEAD -- notes.txt"].refused
    (root / ".git" / "HEAD").write_text("damaged\n")
    damaged = await run(terminal, ["git diff --text a b", "git diff -a . b"])
    assert [result.refused for result in damaged.values()] == [True, True]
    (root / ".git").rename(tmp_path / "moved")
    missing = await run(terminal, ["git diff --text a b", "git diff -a . b"])
    assert [result.refused for result in missing.values()] == [True, True]
