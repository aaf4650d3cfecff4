"""What is to be seen on a machine: on a screen, without one, and where nothing can be (feature 35)."""

import subprocess
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Forbidden, Unavailable
from scrubjay.features.workspace.screen import service
from scrubjay.features.workspace.screen.accessibility import Element
from scrubjay.features.workspace.screen.commands import Source
from scrubjay.features.workspace.screen.display import Surroundings, surroundings
from scrubjay.features.workspace.screen.service import Sonar
from scrubjay.features.workspace.screen.windows import Window
from scrubjay.tooling.context import CallContext
from tests.features.workspace.screen.programs import GDBUS, WMCTRL, XPROP, missing, program, saying

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
NEEDED = missing("Xvfb", "openbox", "xeyes", "wmctrl", "xdotool", "xprop")


@pytest.mark.parametrize(
    ("platform", "environment", "release", "found"),
    [
        ("linux", {"DISPLAY": ":0"}, "5.15.90.1-microsoft-standard-WSL2", Surroundings.WSL),
        ("linux", {"WSL_DISTRO_NAME": "Debian"}, "", Surroundings.WSL),
        ("darwin", {}, "", Surroundings.MACOS),
        ("linux", {"DISPLAY": ":0"}, "6.1.0", Surroundings.DISPLAY),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, "6.1.0", Surroundings.DISPLAY),
        ("linux", {"DISPLAY": ""}, "6.1.0", Surroundings.HEADLESS),
        ("freebsd14", {}, "", Surroundings.HEADLESS),
    ],
)
def test_35_it_is_known_what_sort_of_screen_there_is(
    platform: str, environment: dict[str, str], release: str, found: Surroundings
) -> None:
    assert surroundings(platform, environment, release) is found


async def test_35_inside_of_wsl_nothing_can_be_seen() -> None:
    with pytest.raises(Unavailable) as refused:
        await Sonar({"PATH": "/usr/bin"}, "linux", "5.15-microsoft").scan()
    assert refused.value.details == {"reason": "wsl_not_supported"}


async def test_35_without_a_screen_sessions_and_processes_are_told_without_secrets(tmp_path: Path) -> None:
    program(tmp_path, "who", saying("ada      tty1         2026-03-01 12:00\n"))
    command = ["sh", "-c", "while :; do :; done", f"--token={SECRET}"]
    async with await anyio.open_process(command, stdin=None, stdout=None, stderr=None) as busy:
        try:
            sonar = Sonar({"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/"}, "linux", "6.1.0")
            scan = await _with_process(sonar, busy.pid)
        finally:
            busy.kill()
    assert (scan.surroundings, scan.windows, scan.sources) == (Surroundings.HEADLESS, [], {"who": Source.USED})
    assert scan.sessions == ["ada tty1 2026-03-01 12:00"]
    [own] = [one for one in scan.processes if one.pid == busy.pid]
    assert SECRET not in own.command
    assert SECRET not in scan.text
    assert "ada tty1" in scan.text
    assert str(busy.pid) in scan.text


async def _with_process(sonar: Sonar, pid: int) -> service.Scan:
    """A scan that has this process among its busiest: it must have run for a moment."""
    with anyio.fail_after(10):
        while True:
            scan = await sonar.scan()
            if pid in {one.pid for one in scan.processes}:
                return scan


async def test_35_windows_and_what_is_in_them_are_told_by_programs_that_may_be_missing(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "DISPLAY": ":9", "LD_PRELOAD": "not passed on"}
    sonar = Sonar(environment, "linux", "6.1.0")
    program(tmp_path, "wmctrl", f"/bin/{saying(WMCTRL)}")
    program(tmp_path, "xprop", XPROP)
    scan = await sonar.scan()
    editor = Window(
        id="0x03c00003",
        title="notes.txt [secret: github token]",
        app="editor.Editor",
        pid=4711,
        desktop=0,
        x=10,
        y=20,
        width=800,
        height=600,
        active=True,
    )
    panel = Window(id="0x03e00005", title="", app="panel.Panel", desktop=-1, x=0, y=0, width=1920, height=30)
    assert scan.windows == [editor, panel]
    assert scan.elements == []
    assert scan.sources == {"xprop": Source.USED, "wmctrl": Source.USED, "gdbus": Source.MISSING}
    assert "Not installed: gdbus." in scan.text
    assert SECRET not in scan.text
    program(tmp_path, "gdbus", GDBUS)
    scan = await sonar.scan()
    assert scan.elements == [Element("application", "Editor", 0), Element("push button", 'It\'s "here"', 1)]
    assert '  push button: It\'s "here"' in scan.text


async def test_35_a_screen_that_no_program_can_ask_is_told_as_none(tmp_path: Path) -> None:
    program(tmp_path, "wmctrl", "echo 'Cannot open display.' >&2; exit 1")
    program(tmp_path, "xdotool", "exec /bin/sleep 60")
    scan = await Sonar({"PATH": str(tmp_path), "DISPLAY": ":9"}, "linux", "6.1.0").scan()
    assert scan.sources["wmctrl"] is Source.FAILED
    assert scan.sources["xdotool"] is Source.TOO_SLOW
    assert scan.sources["xprop"] is Source.MISSING
    assert scan.text.startswith("No windows could be seen.")
    assert "wmctrl (Cannot open display.)" in scan.text
    assert scan.processes


async def test_35_on_macos_the_front_window_is_asked_for(tmp_path: Path) -> None:
    sonar = Sonar({"PATH": str(tmp_path)}, "darwin", "")
    with pytest.raises(Unavailable, match="missing"):
        await sonar.scan()
    program(tmp_path, "osascript", "echo 'not allowed assistive access' >&2; exit 1")
    with pytest.raises(Unavailable, match="not allowed assistive access") as refused:
        await sonar.scan()
    assert refused.value.hint
    told = "application: Notes\nwindow: Shopping\nAXButton: New\nAXTextArea: milk\n"
    program(tmp_path, "osascript", f"/bin/{saying(told)}")
    scan = await sonar.scan()
    assert scan.windows == [Window(id="front", title="Shopping", app="Notes", active=True)]
    assert scan.elements == [Element("AXButton", "New", 1), Element("AXTextArea", "milk", 1)]


async def test_35_however_much_a_program_says_it_is_bounded(tmp_path: Path) -> None:
    line = "0x%08x 0 1 0 0 1 1 a.A host a window"
    program(tmp_path, "wmctrl", f'/usr/bin/seq 1 5000 | while read n; do printf "{line}\\n" $n; done')
    scan = await Sonar({"PATH": str(tmp_path), "DISPLAY": ":9"}, "linux", "6.1.0").scan()
    assert (len(scan.windows), scan.truncated) == (100, True)
    assert len(scan.text) <= service.MOST_CHARACTERS


async def test_35_only_those_see_who_may_see_processes(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as app:

        async def seen(*scopes: str) -> str:
            context = CallContext(surface="rest", caller=Caller("k", frozenset(scopes), "key_k"))
            return (await app.dispatcher.call("sonar", {}, context)).model_dump()["environment"]

        assert await seen("terminal:read") in ("headless", "display")
        with pytest.raises(Forbidden):
            await seen("memory")


@pytest.fixture
def display(tmp_path: Path) -> Generator[str]:
    """A real screen with a real window on it."""
    with ExitStack() as stack:

        def start(*command: str, **environment: str) -> subprocess.Popen[bytes]:
            own = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **environment}
            process = stack.enter_context(
                subprocess.Popen(
                    command, env=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
                )
            )
            stack.callback(process.kill)
            return process

        # It chooses a free number, and tells it when it is ready.
        screen = start("Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24")
        assert screen.stdout
        display = f":{screen.stdout.readline().decode().strip()}"
        start("openbox", DISPLAY=display)
        start("xeyes", "-title", f"The eyes {SECRET}", DISPLAY=display)
        yield display


@pytest.mark.skipif(bool(NEEDED), reason=f"a real screen needs {', '.join(NEEDED)}, which are not installed here")
async def test_35_a_real_window_on_a_real_screen_is_seen(display: str) -> None:
    sonar = Sonar({"PATH": "/usr/bin:/bin", "DISPLAY": display}, "linux", "6.1.0")
    with anyio.fail_after(20):
        while not (scan := await sonar.scan()).windows:
            pass
    [window] = scan.windows
    assert (window.title, window.app) == ("The eyes [secret: github token]", "xeyes.XEyes")
    assert (window.width, window.height) == (150, 100)
    assert (scan.sources["wmctrl"], scan.sources["xprop"]) == (Source.USED, Source.USED)
