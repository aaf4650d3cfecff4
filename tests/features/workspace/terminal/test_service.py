"""Commands and sessions with real programs. Numbers are rows of the feature table."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from scrubjay.core.callers import Caller
from scrubjay.core.errors import Conflict, Forbidden, NotFound, RateLimited
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal import command_policy, confinement
from scrubjay.features.workspace.terminal.command_policy import CommandPolicy
from scrubjay.features.workspace.terminal.permitted_command import PermittedCommand
from scrubjay.features.workspace.terminal.runner import RunningCommand
from scrubjay.features.workspace.terminal.service import CommandResult, Terminal, TerminalLimits
from scrubjay.features.workspace.web.addresses import HostPolicy
from scrubjay.isolation.landlock import version
from scrubjay.isolation.limits import Bounds, Confinement
from tests.features.workspace.web.local_site import site
from tests.liveness import is_alive

confined = pytest.mark.skipif(not version(), reason="this kernel has no Landlock")
PYTHON = sys.executable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    root = tmp_path.resolve() / "root"
    root.mkdir()
    (root / "notes.txt").write_text("one\ntwo\n")
    return root


@pytest.fixture
def policy(root: Path) -> CommandPolicy:
    environment = {
        **os.environ,
        "EXA_API_KEY": "server-secret",
        "SCRUBJAY_API_KEY": "server-secret",
        "MINE": "passed on",
    }
    return CommandPolicy(Root(str(root)), Bounds(), HostPolicy(), environment, variables=["MINE"])


@pytest.fixture
async def terminal(policy: CommandPolicy) -> AsyncGenerator[Terminal]:
    async with anyio.create_task_group() as tasks:
        yield Terminal(policy, tasks, TerminalLimits(max_output_bytes=10_000, max_sessions=3))
        tasks.cancel_scope.cancel()


@pytest.fixture
async def unrestricted(policy: CommandPolicy) -> AsyncGenerator[Terminal]:
    """A terminal whose owner allows all commands."""
    async with anyio.create_task_group() as tasks:
        yield Terminal(policy, tasks, TerminalLimits(max_output_bytes=10_000, max_sessions=3, unrestricted=True))
        tasks.cancel_scope.cancel()


def unconfined(*_: object) -> None:
    """Return no confinement, in place of `confinement_for`."""


async def run(terminal: Terminal, command: str, seconds: float = 20.0, *, restricted: bool = True) -> CommandResult:
    return await terminal.execute(command, seconds=seconds, restricted=restricted, caller=Caller("ada"))


def start_sleeper(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a process that is not a session of the server."""
    return subprocess.Popen([PYTHON, "-c", "import time; time.sleep(1000)", *arguments])


async def wait_until_ended(pid: int) -> None:
    """Poll until a process has ended; only its parent would be notified."""
    with anyio.fail_after(10):
        while is_alive(pid):  # noqa: ASYNC110
            await anyio.sleep(0.02)


async def test_28_a_command_returns_its_status_and_output(terminal: Terminal) -> None:
    assert await run(terminal, "cat notes.txt") == CommandResult(0, "one\ntwo\n")
    failed = await run(terminal, "ls nothing")
    assert failed.status == 2
    assert "nothing" in failed.output


async def test_28_a_command_runs_in_the_root_without_a_shell(terminal: Terminal, root: Path) -> None:
    assert (await run(terminal, "pwd")).output == f"{root}\n"
    assert (await run(terminal, "echo ~ %PATH%")).output == "~ %PATH%\n"


async def test_17_a_refused_command_is_not_run(terminal: Terminal, root: Path) -> None:
    for command, reason in (
        ("rm notes.txt", "Command 'rm' is blocked"),
        ("ls ; rm notes.txt", "Arguments contain shell meta-characters"),
        ("find . -delete", "Command 'find' may not take '-delete'"),
    ):
        assert await run(terminal, command) == CommandResult(1, f"Security error: {reason}", refused=True)
    assert (root / "notes.txt").exists()


async def test_17_a_caller_cannot_disable_the_allowlist(terminal: Terminal, root: Path) -> None:
    with pytest.raises(Forbidden, match="runs only allowlisted commands"):
        await run(terminal, "rm notes.txt", restricted=False)
    with pytest.raises(Forbidden):
        await terminal.start_process("rm notes.txt", seconds=1, restricted=False, caller=Caller("ada"))
    with pytest.raises(Forbidden, match="Command 'rm' is blocked"):
        await terminal.start_process("rm notes.txt", seconds=1, restricted=True, caller=Caller("ada"))
    assert (root / "notes.txt").exists()


@pytest.mark.parametrize(
    "command",
    [
        "cat {outside}/secret.txt",
        "cat ../outside/secret.txt",
        "cat link",
        "cat links/secret.txt",
        "grep -r secret {outside}",
        "grep --include=secret.txt secret ../outside/secret.txt",
        "head --lines=1 link",
        "ls ..",
        "find {outside}",
        "find links/",
        "git diff notes.txt {outside}/secret.txt",
        "git log -- ../outside",
        "mkdir ../outside/new",
        "touch {outside}/new",
        "touch links/new",
        "mkdir .git/hooks",
        "du --exclude=x {outside}",
        "stat -c%s {outside}/secret.txt",
        "wc -l /etc/passwd",
        "file /etc/passwd",
        "tail -n1 /proc/1/environ",
    ],
)
async def test_18_no_argument_gives_access_outside_the_root(terminal: Terminal, root: Path, command: str) -> None:
    outside = root.parent / "outside"
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "links").symlink_to(outside)
    result = await run(terminal, command.format(outside=outside))
    assert result.refused
    assert "is not under the root" in result.output or "belongs to git" in result.output
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


@pytest.mark.parametrize("landlock", [True, False])
async def test_18_no_search_finds_the_store_in_the_root(
    policy: CommandPolicy, root: Path, monkeypatch: pytest.MonkeyPatch, landlock: bool
) -> None:
    if landlock and not version():
        pytest.skip("this kernel has no Landlock")
    if not landlock:
        monkeypatch.setattr(confinement.landlock, "version", lambda: 0)
        monkeypatch.setattr(command_policy, "confinement_for", unconfined)
    (root / "store").mkdir()
    (root / "store" / "scrubjay.db").write_text("the memory one\n")
    hiding = replace(policy, root=Root(str(root), hidden=(("store",),)))
    async with anyio.create_task_group() as tasks:
        terminal = Terminal(hiding, tasks, TerminalLimits())
        for command in (
            "grep -r one .",
            "grep -nir one",
            "grep --recursive one .",
            "grep -e one -r .",
            "grep -er one -r",
        ):
            result = await run(terminal, command)
            assert "memory" not in result.output, command
            assert result.refused is not landlock
        for command in ("rg one", "ag one", "git grep --untracked one", "git grep one"):
            assert "memory" not in (await run(terminal, command)).output
        assert (await run(terminal, "grep one notes.txt")).output == "one\n"


@pytest.mark.parametrize("landlock", [True, False])
async def test_18_no_search_finds_folders_of_secrets(
    policy: CommandPolicy, root: Path, monkeypatch: pytest.MonkeyPatch, landlock: bool
) -> None:
    if not landlock:
        monkeypatch.setattr(command_policy, "confinement_for", unconfined)
    for folder in (".ssh", "deep/er/.AWS", "deep/.gnupg"):
        (root / folder).mkdir(parents=True)
        (root / folder / "key").write_text("one private\n")
    (root / "deep" / "plain.txt").write_text("one\n")
    await anyio.run_process(["git", "-C", str(root), "init", "-q"])
    async with anyio.create_task_group() as tasks:
        terminal = Terminal(policy, tasks, TerminalLimits())
        for command in (
            *("grep -r one .", "grep -rn one", "grep -rh one deep", "grep -rI -- one .", "grep -r -e one . notes.txt"),
            *(
                "git grep --untracked one",
                "git grep --untracked -e one -- .",
                "git grep --untracked one deep notes.txt",
            ),
            *("rg one", "rg --hidden -uu one", "rg --hidden -- one .", "ag --hidden one"),
        ):
            result = await run(terminal, command)
            assert "private" not in result.output, command
            assert "one" in result.output or "is not installed" in result.output, command


@confined
@pytest.mark.parametrize("program", ["/bin/cat", "/usr/bin/cat"])
async def test_18_the_kernel_denies_access_outside_the_root(root: Path, program: str) -> None:
    """Checks the confinement alone, as if the check of arguments had failed."""
    bounds = Bounds(confinement=Confinement(reads=["/usr", str(root)], executes=["/usr"]))
    secret = str(root.parent / "outside" / "secret.txt")

    async def output_of(*arguments: str) -> str:
        permitted = PermittedCommand("cat", program, arguments, {"PATH": "/usr/bin"}, bounds, str(root))
        running = await RunningCommand.start(permitted, has_input=False)
        output = bytearray()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.read_output, output.extend)
            await running.ended()
        await running.close()
        return output.decode()

    assert await output_of("notes.txt") == "one\ntwo\n"
    assert "Permission denied" in await output_of(secret)
    (root / "link").symlink_to(secret)
    assert "Permission denied" in await output_of("link")
    assert "secret" not in await output_of(f"/proc/{os.getpid()}/environ")


@confined
async def test_17_git_does_not_run_programs_configured_by_a_repository(terminal: Terminal, root: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)

    git("init", "-q")
    git("add", "notes.txt")
    git("commit", "-qm", "one")
    marker = root / "marker"
    evil = root / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    evil.chmod(0o755)
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for name in ("filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.evil.command", "core.pager"):
        git("config", name, str(evil))
    for name in ("core.fsmonitor", "diff.external", "core.sshCommand", "gpg.program", "core.editor"):
        git("config", name, str(evil))
    git("config", "alias.st", f"!{evil}")
    git("config", "log.showSignature", "true")
    (root / ".git" / "hooks" / "post-index-change").write_text(evil.read_text())
    (root / ".git" / "hooks" / "post-index-change").chmod(0o755)
    (root / "notes.txt").write_text("changed\n")
    for command in (
        "status",
        "diff",
        "diff HEAD",
        "log -p",
        "show HEAD",
        "blame notes.txt",
        "grep one",
        "describe --all",
    ):
        await run(terminal, f"git {command}")
    assert (await run(terminal, "git st")).refused
    assert not marker.exists()
    assert (await run(terminal, "git log --format=%s")).output == "one\n"


async def test_17_programs_do_not_get_the_keys_of_the_server(terminal: Terminal, unrestricted: Terminal) -> None:
    for result in (await run(terminal, "env"), await run(unrestricted, "env", restricted=False)):
        assert "MINE=passed on" in result.output
        assert "server-secret" not in result.output
        assert "API_KEY" not in result.output


@pytest.mark.parametrize(("command", "arguments"), [("ps aux", ["aux", "-ww"]), ("ps -ef", ["-Af", "-ww"])])
async def test_29_ps_cuts_no_line_in_which_a_secret_could_be(
    policy: CommandPolicy, command: str, arguments: list[str]
) -> None:
    assert (await policy.permit(command, restricted=True)).arguments == arguments


@pytest.mark.parametrize("command", ["python3 --version", "node -v", "npm --version"])
async def test_17_a_program_that_shows_its_version_does_not_see_the_files_of_the_root(
    policy: CommandPolicy, root: Path, tmp_path: Path, command: str
) -> None:
    """Some run code of files in their working directory, such as `.erlang`, or choose another version by them."""
    name = command.split()[0]
    programs = tmp_path / "usr"
    programs.mkdir()
    (programs / name).write_text("#!/bin/sh\npwd\n")
    (programs / name).chmod(0o755)
    (root / ".erlang").write_text("")
    found = await replace(policy, environment={"PATH": os.defpath}).permit("ls", restricted=True)
    assert found.folder == str(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_policy, "INSTALLED", (str(programs),))
        patch.setattr(command_policy, "confinement_for", unconfined)
        async with anyio.create_task_group() as tasks:
            terminal = Terminal(replace(policy, environment={"PATH": str(programs)}), tasks, TerminalLimits())
            assert (await run(terminal, command)).output == "/\n"


async def test_17_a_program_in_the_root_is_not_run_as_an_allowlisted_one(policy: CommandPolicy, root: Path) -> None:
    (root / "ls").write_text("#!/bin/sh\necho owned\n")
    (root / "ls").chmod(0o755)
    hostile = replace(policy, environment={"PATH": f"{root}:.:{os.environ['PATH']}"})
    found = await hostile.permit("ls", restricted=True)
    assert not found.program.startswith(str(root))
    assert str(root) not in found.environment["PATH"]


async def test_28_a_command_that_times_out_is_killed_with_its_children(unrestricted: Terminal, root: Path) -> None:
    script = (
        "import os, subprocess, sys, time\n"
        "children = [subprocess.Popen(['sleep', '1000'], start_new_session=new) for new in (False, True)]\n"
        "open('pids', 'w').write(' '.join(str(child.pid) for child in children) + f' {os.getpid()}')\n"
        "print('started', flush=True)\n"
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "time.sleep(1000)\n"
    )
    (root / "script.py").write_text(script)
    result = await run(unrestricted, f"{PYTHON} script.py", 3.0, restricted=False)
    assert (result.status, result.output, result.timed_out) == (1, "Command timed out after 3000ms", True)
    assert result.partial_output == "started\n"
    pids = [int(pid) for pid in (root / "pids").read_text().split()]
    assert len(pids) == 3
    for pid in pids:
        await wait_until_ended(pid)


async def test_28_an_unrestricted_command_can_run_a_program_in_the_root(unrestricted: Terminal, root: Path) -> None:
    (root / "own.sh").write_text("#!/bin/sh\necho own $1\n")
    (root / "own.sh").chmod(0o755)
    assert await run(unrestricted, "./own.sh 'a b'", restricted=False) == CommandResult(0, "own a b\n")
    assert (await run(unrestricted, "./own.sh")).output == "Security error: Command './own.sh' not in allowlist"


async def test_28_long_output_is_truncated_and_marked(unrestricted: Terminal) -> None:
    result = await run(unrestricted, f"{PYTHON} -c \"print('x' * 5_000_000)\"", restricted=False)
    assert (result.status, len(result.output), result.truncated) == (0, 10_000, True)


async def test_28_a_command_has_empty_input(terminal: Terminal) -> None:
    assert await run(terminal, "cat") == CommandResult(0, "")


async def test_28_memory_and_file_size_of_a_program_are_limited(policy: CommandPolicy, root: Path) -> None:
    bounds = Bounds(memory_bytes=200_000_000, file_bytes=1_000_000)
    async with anyio.create_task_group() as tasks:
        small = Terminal(replace(policy, bounds=bounds), tasks, TerminalLimits(unrestricted=True))
        greedy = await run(small, f'{PYTHON} -c "x = bytearray(10**9)"', restricted=False)
        assert "MemoryError" in greedy.output
        wide = await run(small, f"{PYTHON} -c \"open('big', 'wb').write(bytes(10**7))\"", restricted=False)
        assert wide.status != 0
    assert (root / "big").stat().st_size <= 1_000_000


async def test_28_interactive_programs_are_refused_even_unrestricted(unrestricted: Terminal) -> None:
    result = await run(unrestricted, "vim", restricted=False)
    assert result.output == "Security error: Interactive command 'vim' is prohibited"


async def test_28_curl_reaches_only_public_and_allowed_hosts(terminal: Terminal, policy: CommandPolicy) -> None:
    with site() as served:
        for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "%6cocalhost", "ⓛocalhost", "localhost."):
            result = await run(terminal, f"curl -s http://{host}:{served.port}/")
            assert result.refused, host
        assert (await run(terminal, f"curl -s http://[::1]:{served.port}/")).refused
        assert served.requests == []
        async with anyio.create_task_group() as tasks:
            allowing = replace(policy, host_policy=HostPolicy((f"127.0.0.1:{served.port}",)))
            allowed = Terminal(allowing, tasks, TerminalLimits())
            assert (await run(allowed, f"curl -s http://127.0.0.1:{served.port}/text")).output == "plain text"
            assert "302" in (await run(allowed, f"curl -si http://127.0.0.1:{served.port}/moved")).output
        assert [request.path for request in served.requests] == ["/text", "/moved"]


# -- sessions --------------------------------------------------------------------------------------------


async def test_29_a_session_reads_input_and_is_ended(terminal: Terminal) -> None:
    command, first = await terminal.start_process("cat", seconds=0.05, restricted=True, caller=Caller("ada"))
    assert (command, first.output, first.status) == ("cat", "", None)
    assert (await terminal.interact(first.pid, "hello", "ada")).output == "hello\n"
    assert (await terminal.read_output(first.pid, seconds=0.05, owner="ada")).output == ""
    (listed,) = terminal.list_sessions("ada")
    assert (listed.pid, listed.command) == (first.pid, "cat")
    assert listed.runtime_seconds >= 0
    await terminal.kill(first.pid, "ada", at_once=False)
    assert not is_alive(first.pid)
    ended = await terminal.read_output(first.pid, seconds=5, owner="ada")
    assert ended.status == 128 + signal.SIGTERM
    assert terminal.list_sessions("ada") == []
    with pytest.raises(Conflict):
        await terminal.interact(first.pid, "hello", "ada")


async def test_29_new_output_of_a_session_is_read_as_it_appears(terminal: Terminal, root: Path) -> None:
    _, first = await terminal.start_process("tail -n +1 -f notes.txt", seconds=5, restricted=True, caller=Caller("ada"))
    assert first.output == "one\ntwo\n"
    with (root / "notes.txt").open("a") as notes:
        notes.write("three\n")
    assert (await terminal.read_output(first.pid, seconds=5, owner="ada")).output == "three\n"
    await terminal.kill(first.pid, "ada", at_once=True)
    assert not is_alive(first.pid)


async def test_29_only_the_caller_that_started_a_session_can_use_it(terminal: Terminal) -> None:
    _, first = await terminal.start_process("cat", seconds=0, restricted=True, caller=Caller("ada"))
    other = start_sleeper()
    try:
        for pid, caller in ((first.pid, "eve"), (other.pid, "ada"), (os.getpid(), "ada"), (1, "ada")):
            for request in (
                terminal.read_output(pid, seconds=0, owner=caller),
                terminal.interact(pid, "x", caller),
                terminal.kill(pid, caller, at_once=False),
                terminal.kill(pid, caller, at_once=True),
            ):
                with pytest.raises(NotFound) as refused:
                    await request
                assert refused.value.details["reason"] == "process_not_found"
        refused_kill = await terminal.execute(f"kill -9 {other.pid}", seconds=5, restricted=True, caller=Caller("ada"))
        assert refused_kill.refused
        theirs = await terminal.execute(f"kill -9 {first.pid}", seconds=5, restricted=True, caller=Caller("eve"))
        assert theirs.refused
        assert other.poll() is None
        assert terminal.list_sessions("eve") == []
    finally:
        other.kill()
        other.wait()
    own = await terminal.execute(f"kill -9 {first.pid}", seconds=5, restricted=True, caller=Caller("ada"))
    assert (own.status, own.refused) == (0, False)
    await wait_until_ended(first.pid)


async def test_26_29_the_number_of_sessions_is_limited(terminal: Terminal) -> None:
    pids = [
        (await terminal.start_process("cat", seconds=0, restricted=True, caller=Caller("ada")))[1].pid for _ in range(3)
    ]
    with pytest.raises(RateLimited):
        await terminal.start_process("cat", seconds=0, restricted=True, caller=Caller("eve"))
    await terminal.kill(pids[0], "ada", at_once=True)
    assert (await terminal.read_output(pids[0], seconds=5, owner="ada")).status == 128 + signal.SIGKILL
    await terminal.start_process("cat", seconds=0, restricted=True, caller=Caller("eve"))


async def test_29_unread_output_of_a_session_is_truncated_and_marked(unrestricted: Terminal) -> None:
    command = f"{PYTHON} -c \"print('x' * 50_000); print('end')\""
    _, first = await unrestricted.start_process(command, seconds=0, restricted=False, caller=Caller("ada"))
    with anyio.fail_after(10):
        while not (read := await unrestricted.read_output(first.pid, seconds=1, owner="ada")).output.endswith("end\n"):
            pass
    assert read.truncated or first.truncated or len(read.output) < 50_000


async def test_29_a_session_that_ignores_sigterm_is_killed(unrestricted: Terminal) -> None:
    script = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(1000)"
    command = f'{PYTHON} -c "{script}"'
    for at_once in (False, True):
        _, first = await unrestricted.start_process(command, seconds=10, restricted=False, caller=Caller("ada"))
        assert first.output == "up\n"
        await unrestricted.kill(first.pid, "ada", at_once=at_once)
        assert not is_alive(first.pid)


async def test_29_sessions_end_with_the_server(policy: CommandPolicy) -> None:
    pid = 0
    async with anyio.create_task_group() as tasks:
        terminal = Terminal(policy, tasks, TerminalLimits())
        pid = (await terminal.start_process("cat", seconds=0, restricted=True, caller=Caller("ada")))[1].pid
        assert is_alive(pid)
        tasks.cancel_scope.cancel()
    assert pid
    assert not is_alive(pid)


async def test_29_processes_are_listed_with_secrets_masked(terminal: Terminal) -> None:
    process = start_sleeper("--api-key=sk-proj-abcdefghijklmnopqrstuv123456")
    try:
        found, truncated = await terminal.list_processes()
        assert not truncated
        by_pid = {entry.pid: entry for entry in found}
        assert by_pid[os.getpid()].user
        assert by_pid[os.getpid()].mem > 0
        assert "abcdefghijklmnopqrstuv" not in by_pid[process.pid].command
        assert "time.sleep" in by_pid[process.pid].command
    finally:
        process.kill()
        process.wait()


async def test_29_passwords_in_command_lines_of_processes_are_masked(terminal: Terminal) -> None:
    process = start_sleeper("--db-password", "blue horse", "DB_PASS=tulip")
    try:
        found, _ = await terminal.list_processes()
        (command,) = (entry.command for entry in found if entry.pid == process.pid)
        assert command.endswith("--db-password [secret: password] DB_PASS=[secret: password]")
    finally:
        process.kill()
        process.wait()
