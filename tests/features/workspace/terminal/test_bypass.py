"""Attempts to bypass the list of commands are refused, and ordinary commands work, with and without Landlock."""

import os
import shutil
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from scrubjay.core.callers import Caller
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal import command_policy
from scrubjay.features.workspace.terminal.command_policy import CommandPolicy
from scrubjay.features.workspace.terminal.programs import CommandRefused, check_command, read_command
from scrubjay.features.workspace.terminal.service import CommandResult, Terminal, TerminalLimits
from scrubjay.features.workspace.web.addresses import HostPolicy
from scrubjay.isolation.landlock import version
from scrubjay.isolation.limits import Bounds
from tests.features.workspace.terminal.bypass_attempts import ALSO_ALLOWED, ATTEMPTS, ORDINARY

SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with links that lead out of it."""
    folder = tmp_path_factory.mktemp("bypass").resolve()
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.txt").write_text("secret")
    root = folder / "root"
    (root / "src").mkdir(parents=True)
    (root / "notes.txt").write_text("one\ntwo\n")
    (root / ".gitignore").write_text("ignored.txt\n")
    (root / "src" / "one.py").write_text("one = 1\n")
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run(
            ["git", "-C", root, "-c", "user.name=ada", "-c", "user.email=ada@example.com", *arguments], check=True
        )
    (root / "links").symlink_to(folder / "outside")
    return root


@pytest.fixture
def policy(root: Path) -> CommandPolicy:
    return CommandPolicy(Root(str(root), read_only_names=frozenset({".env"})), Bounds(), HostPolicy(), os.environ)


def unconfined(*_: object) -> None:
    """Return no confinement, in place of `confinement_for`."""


@pytest.fixture(params=["landlock", "no landlock"])
def confinement(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with Landlock and, as on a kernel that has none, without it."""
    if request.param == "landlock" and not version():
        pytest.skip("this kernel has no Landlock")
    if request.param == "no landlock":
        monkeypatch.setattr(command_policy, "confinement_for", unconfined)
    return request.param


@pytest.fixture
async def terminal(policy: CommandPolicy, confinement: str) -> AsyncGenerator[Terminal]:
    async with anyio.create_task_group() as tasks:
        yield Terminal(policy, tasks, TerminalLimits())
        tasks.cancel_scope.cancel()


def test_there_are_at_least_150_attempts_and_none_is_counted_twice() -> None:
    commands = [command for command, _ in ATTEMPTS]
    assert len(set(commands)) == len(commands) >= 600
    assert not set(commands) & {*ORDINARY, *ALSO_ALLOWED}
    assert len(ORDINARY) >= 150


@pytest.mark.parametrize(("command", "reason"), ATTEMPTS)
async def test_17_a_bypass_attempt_is_refused(policy: CommandPolicy, root: Path, command: str, reason: str) -> None:
    assert reason
    command = command.replace("OUTSIDE", str(root.parent / "outside"))
    with pytest.raises(CommandRefused):
        await policy.permit(command, restricted=True)


async def test_28_ordinary_commands_work(terminal: Terminal, confinement: str) -> None:
    # The confinement changes nothing for most programs, so the second run leaves them out.
    programs = ("git", "ps") if confinement == "no landlock" and version() else ("",)
    results: dict[str, CommandResult] = {}

    async def execute(command: str) -> None:
        results[command] = await terminal.execute(command, seconds=120, restricted=True, caller=Caller("ada"))

    async with anyio.create_task_group() as tasks:
        for command in ORDINARY:
            if command.startswith(programs) and shutil.which(command.split()[0], path=SYSTEM_PATH):
                tasks.start_soon(execute, command)
    assert len(results) > 50
    assert {command: result for command, result in results.items() if result.refused or result.status} == {}


@pytest.mark.parametrize("command", ALSO_ALLOWED)
def test_28_an_ordinary_command_of_a_program_that_is_not_installed_everywhere_is_allowed(command: str) -> None:
    check_command(read_command(command))
