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

from scrubjay.core.errors import Conflict, Forbidden, NotFound, RateLimited
from scrubjay.features.workspace.files.root import Root
from scrubjay.features.workspace.terminal.command_policy import Permits, Permitted
from scrubjay.features.workspace.terminal.runner import Running
from scrubjay.features.workspace.terminal.service import Executed, Terminal, TerminalLimits
from scrubjay.features.workspace.web.addresses import Reach
from scrubjay.isolation.landlock import version
from scrubjay.isolation.limits import Bounds, Confinement
from tests.features.workspace.web.serving import site

confined = pytest.mark.skipif(not version(), reason="this kernel confines nothing")
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
def permits(root: Path) -> Permits:
    environment = {**os.environ, "EXA_API_KEY": "do-not-tell", "SCRUBJAY_API_KEY": "do-not-tell", "MINE": "passed on"}
    return Permits(Root(str(root)), Bounds(), Reach(), environment, variables=["MINE"])


@pytest.fixture
async def terminal(permits: Permits) -> AsyncGenerator[Terminal]:
    async with anyio.create_task_group() as tasks:
        yield Terminal(permits, tasks, TerminalLimits(max_output_bytes=10_000, max_sessions=3))
        tasks.cancel_scope.cancel()


@pytest.fixture
async def free(permits: Permits) -> AsyncGenerator[Terminal]:
    """One whose owner allows everything."""
    async with anyio.create_task_group() as tasks:
        yield Terminal(permits, tasks, TerminalLimits(max_output_bytes=10_000, max_sessions=3, unrestricted=True))
        tasks.cancel_scope.cancel()


async def run(terminal: Terminal, command: str, seconds: float = 20.0, *, restricted: bool = True) -> Executed:
    return await terminal.execute(command, seconds=seconds, restricted=restricted, owner="ada")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def sleeping(*arguments: str) -> subprocess.Popen[bytes]:
    """A process that this server has not started."""
    return subprocess.Popen([PYTHON, "-c", "import time; time.sleep(1000)", *arguments])


async def gone(pid: int) -> None:
    """Wait until a process has ended: nobody tells who is not its parent."""
    with anyio.fail_after(10):
        while is_alive(pid):  # noqa: ASYNC110
            await anyio.sleep(0.02)


async def test_28_a_command_answers_with_its_status_and_all_that_it_says(terminal: Terminal) -> None:
    assert await run(terminal, "cat notes.txt") == Executed(0, "one\ntwo\n")
    failed = await run(terminal, "ls nothing")
    assert failed.status == 2
    assert "nothing" in failed.output


async def test_28_a_command_runs_in_the_root_without_a_shell(terminal: Terminal, root: Path) -> None:
    assert (await run(terminal, "pwd")).output == f"{root}\n"
    assert (await run(terminal, "echo ~ %PATH%")).output == "~ %PATH%\n"


async def test_17_a_refused_command_is_not_run(terminal: Terminal, root: Path) -> None:
    for command, why in (
        ("rm notes.txt", "Command 'rm' is blocked"),
        ("ls ; rm notes.txt", "Arguments contain shell meta-characters"),
        ("find . -delete", "Command 'find' may not take '-delete'"),
    ):
        assert await run(terminal, command) == Executed(1, f"Security error: {why}", refused=True)
    assert (root / "notes.txt").exists()


async def test_17_no_caller_switches_the_list_off(terminal: Terminal, root: Path) -> None:
    with pytest.raises(Forbidden, match="only commands of its list"):
        await run(terminal, "rm notes.txt", restricted=False)
    with pytest.raises(Forbidden):
        await terminal.start_process("rm notes.txt", seconds=1, restricted=False, owner="ada")
    with pytest.raises(Forbidden, match="Command 'rm' is blocked"):
        await terminal.start_process("rm notes.txt", seconds=1, restricted=True, owner="ada")
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
async def test_18_no_argument_leads_out_of_the_root(terminal: Terminal, root: Path, command: str) -> None:
    outside = root.parent / "outside"
    (root / "link").symlink_to(outside / "secret.txt")
    (root / "links").symlink_to(outside)
    done = await run(terminal, command.format(outside=outside))
    assert done.refused
    assert "is not under the root" in done.output or "git's own" in done.output
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


@confined
@pytest.mark.parametrize("program", ["/bin/cat", "/usr/bin/cat"])
async def test_18_the_kernel_refuses_what_the_list_would_have_missed(root: Path, program: str) -> None:
    """The second wall, by itself: as if an argument had come through."""
    bounds = Bounds(confinement=Confinement(reads=["/usr", str(root)], executes=["/usr"]))
    secret = str(root.parent / "outside" / "secret.txt")

    async def said(*arguments: str) -> str:
        permitted = Permitted("cat", program, arguments, {"PATH": "/usr/bin"}, bounds)
        running = await Running.started(permitted, str(root), has_input=False)
        heard = bytearray()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.hear, heard.extend)
            await running.ended()
        await running.close()
        return heard.decode()

    assert await said("notes.txt") == "one\ntwo\n"
    assert "Permission denied" in await said(secret)
    (root / "link").symlink_to(secret)
    assert "Permission denied" in await said("link")
    assert "secret" not in await said(f"/proc/{os.getpid()}/environ")


@confined
async def test_17_a_repository_cannot_have_git_run_its_programs(terminal: Terminal, root: Path) -> None:
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


async def test_17_a_program_sees_no_key_of_the_server(terminal: Terminal, free: Terminal) -> None:
    for said in (await run(terminal, "env"), await run(free, "env", restricted=False)):
        assert "MINE=passed on" in said.output
        assert "do-not-tell" not in said.output
        assert "API_KEY" not in said.output


async def test_17_a_program_in_the_root_is_not_taken_for_one_of_the_list(permits: Permits, root: Path) -> None:
    (root / "ls").write_text("#!/bin/sh\necho owned\n")
    (root / "ls").chmod(0o755)
    hostile = replace(permits, environment={"PATH": f"{root}:.:{os.environ['PATH']}"})
    found = await hostile.permit("ls", restricted=True)
    assert not found.program.startswith(str(root))
    assert str(root) not in found.environment["PATH"]


async def test_28_a_command_that_takes_too_long_ends_with_all_that_it_started(free: Terminal, root: Path) -> None:
    script = (
        "import os, subprocess, sys, time\n"
        "children = [subprocess.Popen(['sleep', '1000'], start_new_session=new) for new in (False, True)]\n"
        "open('pids', 'w').write(' '.join(str(child.pid) for child in children) + f' {os.getpid()}')\n"
        "print('begun', flush=True)\n"
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "time.sleep(1000)\n"
    )
    (root / "script.py").write_text(script)
    done = await run(free, f"{PYTHON} script.py", 3.0, restricted=False)
    assert (done.status, done.output, done.timed_out) == (1, "Command timed out after 3000ms", True)
    assert done.partial_output == "begun\n"
    pids = [int(pid) for pid in (root / "pids").read_text().split()]
    assert len(pids) == 3
    for pid in pids:
        await gone(pid)


async def test_28_without_restriction_a_program_of_the_root_can_be_run(free: Terminal, root: Path) -> None:
    (root / "own.sh").write_text("#!/bin/sh\necho own $1\n")
    (root / "own.sh").chmod(0o755)
    assert await run(free, "./own.sh 'a b'", restricted=False) == Executed(0, "own a b\n")
    assert (await run(free, "./own.sh")).output == "Security error: Command './own.sh' not in allowlist"


async def test_28_a_flood_is_cut_and_says_so(free: Terminal) -> None:
    done = await run(free, f"{PYTHON} -c \"print('x' * 5_000_000)\"", restricted=False)
    assert (done.status, len(done.output), done.truncated) == (0, 10_000, True)


async def test_28_a_command_has_no_input_to_wait_for(terminal: Terminal) -> None:
    assert await run(terminal, "cat") == Executed(0, "")


async def test_28_a_program_keeps_to_its_memory_and_its_files(permits: Permits, root: Path) -> None:
    bounds = Bounds(memory_bytes=200_000_000, file_bytes=1_000_000)
    async with anyio.create_task_group() as tasks:
        small = Terminal(replace(permits, bounds=bounds), tasks, TerminalLimits(unrestricted=True))
        greedy = await run(small, f'{PYTHON} -c "x = bytearray(10**9)"', restricted=False)
        assert "MemoryError" in greedy.output
        wide = await run(small, f"{PYTHON} -c \"open('big', 'wb').write(bytes(10**7))\"", restricted=False)
        assert wide.status != 0
    assert (root / "big").stat().st_size <= 1_000_000


async def test_28_interactive_programs_are_refused_also_without_restriction(free: Terminal) -> None:
    done = await run(free, "vim", restricted=False)
    assert done.output == "Security error: Interactive command 'vim' is prohibited"


async def test_28_curl_reaches_nothing_that_is_not_public(terminal: Terminal, permits: Permits) -> None:
    with site() as served:
        for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "%6cocalhost", "ⓛocalhost", "localhost."):
            done = await run(terminal, f"curl -s http://{host}:{served.port}/")
            assert done.refused, host
        assert (await run(terminal, f"curl -s http://[::1]:{served.port}/")).refused
        assert served.requests == []
        async with anyio.create_task_group() as tasks:
            allowing = replace(permits, reach=Reach((f"127.0.0.1:{served.port}",)))
            allowed = Terminal(allowing, tasks, TerminalLimits())
            assert (await run(allowed, f"curl -s http://127.0.0.1:{served.port}/text")).output == "plain text"
            assert "302" in (await run(allowed, f"curl -si http://127.0.0.1:{served.port}/moved")).output
        assert [request.path for request in served.requests] == ["/text", "/moved"]


# -- sessions --------------------------------------------------------------------------------------------


async def test_29_a_session_is_talked_to_and_ended(terminal: Terminal) -> None:
    command, first = await terminal.start_process("cat", seconds=0.05, restricted=True, owner="ada")
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


async def test_29_what_a_session_says_is_heard_as_it_comes(terminal: Terminal, root: Path) -> None:
    _, said = await terminal.start_process("tail -n +1 -f notes.txt", seconds=5, restricted=True, owner="ada")
    assert said.output == "one\ntwo\n"
    with (root / "notes.txt").open("a") as notes:
        notes.write("three\n")
    assert (await terminal.read_output(said.pid, seconds=5, owner="ada")).output == "three\n"
    await terminal.kill(said.pid, "ada", at_once=True)
    assert not is_alive(said.pid)


async def test_29_a_session_belongs_to_whoever_started_it(terminal: Terminal) -> None:
    _, said = await terminal.start_process("cat", seconds=0, restricted=True, owner="ada")
    other = sleeping()
    try:
        for pid, caller in ((said.pid, "eve"), (other.pid, "ada"), (os.getpid(), "ada"), (1, "ada")):
            for attempt in (
                terminal.read_output(pid, seconds=0, owner=caller),
                terminal.interact(pid, "x", caller),
                terminal.kill(pid, caller, at_once=False),
                terminal.kill(pid, caller, at_once=True),
            ):
                with pytest.raises(NotFound) as refused:
                    await attempt
                assert refused.value.details["reason"] == "process_not_found"
        refused_kill = await terminal.execute(f"kill -9 {other.pid}", seconds=5, restricted=True, owner="ada")
        assert refused_kill.refused
        theirs = await terminal.execute(f"kill -9 {said.pid}", seconds=5, restricted=True, owner="eve")
        assert theirs.refused
        assert other.poll() is None
        assert terminal.list_sessions("eve") == []
    finally:
        other.kill()
        other.wait()
    own = await terminal.execute(f"kill -9 {said.pid}", seconds=5, restricted=True, owner="ada")
    assert (own.status, own.refused) == (0, False)
    await gone(said.pid)


async def test_26_29_there_are_only_so_many_sessions(terminal: Terminal) -> None:
    pids = [(await terminal.start_process("cat", seconds=0, restricted=True, owner="ada"))[1].pid for _ in range(3)]
    with pytest.raises(RateLimited):
        await terminal.start_process("cat", seconds=0, restricted=True, owner="eve")
    await terminal.kill(pids[0], "ada", at_once=True)
    assert (await terminal.read_output(pids[0], seconds=5, owner="ada")).status == 128 + signal.SIGKILL
    await terminal.start_process("cat", seconds=0, restricted=True, owner="eve")


async def test_29_a_session_that_nobody_reads_is_cut_and_says_so(free: Terminal) -> None:
    command = f"{PYTHON} -c \"print('x' * 50_000); print('end')\""
    _, said = await free.start_process(command, seconds=0, restricted=False, owner="ada")
    with anyio.fail_after(10):
        while not (heard := await free.read_output(said.pid, seconds=1, owner="ada")).output.endswith("end\n"):
            pass
    assert heard.truncated or said.truncated or len(heard.output) < 50_000


async def test_29_a_session_that_does_not_want_to_end_is_killed(free: Terminal) -> None:
    ignoring = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(1000)"
    stubborn = f'{PYTHON} -c "{ignoring}"'
    for at_once in (False, True):
        _, said = await free.start_process(stubborn, seconds=10, restricted=False, owner="ada")
        assert said.output == "up\n"
        await free.kill(said.pid, "ada", at_once=at_once)
        assert not is_alive(said.pid)


async def test_29_sessions_end_with_the_server(permits: Permits) -> None:
    pid = 0
    async with anyio.create_task_group() as tasks:
        terminal = Terminal(permits, tasks, TerminalLimits())
        pid = (await terminal.start_process("cat", seconds=0, restricted=True, owner="ada"))[1].pid
        assert is_alive(pid)
        tasks.cancel_scope.cancel()
    assert pid
    assert not is_alive(pid)


async def test_29_processes_are_told_without_their_secrets(terminal: Terminal) -> None:
    held = sleeping("--api-key=sk-proj-abcdefghijklmnopqrstuv123456")
    try:
        found, truncated = await terminal.list_processes()
        assert not truncated
        ours = {process.pid: process for process in found}
        assert ours[os.getpid()].user
        assert ours[os.getpid()].mem > 0
        assert "abcdefghijklmnopqrstuv" not in ours[held.pid].command
        assert "time.sleep" in ours[held.pid].command
    finally:
        held.kill()
        held.wait()
