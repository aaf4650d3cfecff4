"""The screen scan: with a screen, without one, and where it is not supported (feature 35)."""

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
from scrubjay.features.workspace.screen.accessibility import ScreenElement
from scrubjay.features.workspace.screen.commands import HelperStatus
from scrubjay.features.workspace.screen.display import ScreenKind, detect_screen
from scrubjay.features.workspace.screen.service import ScreenScanner
from scrubjay.features.workspace.screen.windows import Window
from scrubjay.tooling.context import CallContext
from tests.features.workspace.screen.programs import GDBUS, WMCTRL, XPROP, missing, printing, program

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
MISSING_PROGRAMS = missing("Xvfb", "openbox", "xeyes", "wmctrl", "xdotool", "xprop")


@pytest.mark.parametrize(
    ("platform", "environment", "release", "expected"),
    [
        ("linux", {"DISPLAY": ":0"}, "5.15.90.1-microsoft-standard-WSL2", ScreenKind.WSL),
        ("linux", {"WSL_DISTRO_NAME": "Debian"}, "", ScreenKind.WSL),
        ("darwin", {}, "", ScreenKind.MACOS),
        ("linux", {"DISPLAY": ":0"}, "6.1.0", ScreenKind.DISPLAY),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, "6.1.0", ScreenKind.DISPLAY),
        ("linux", {"DISPLAY": ""}, "6.1.0", ScreenKind.HEADLESS),
        ("freebsd14", {}, "", ScreenKind.HEADLESS),
    ],
)
def test_35_the_kind_of_screen_is_detected(
    platform: str, environment: dict[str, str], release: str, expected: ScreenKind
) -> None:
    assert detect_screen(platform, environment, release) is expected


async def test_35_wsl_is_not_supported() -> None:
    with pytest.raises(Unavailable) as refused:
        await ScreenScanner({"PATH": "/usr/bin"}, "linux", "5.15-microsoft").scan()
    assert refused.value.details == {"reason": "wsl_not_supported"}


async def test_35_without_a_screen_users_and_processes_are_listed_with_secrets_masked(tmp_path: Path) -> None:
    program(tmp_path, "who", printing("ada      tty1         2026-03-01 12:00\n"))
    command = ["sh", "-c", "while :; do :; done", f"--token={SECRET}"]
    async with await anyio.open_process(command, stdin=None, stdout=None, stderr=None) as busy:
        try:
            scanner = ScreenScanner({"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/"}, "linux", "6.1.0")
            scan = await _scan_with_process(scanner, busy.pid)
        finally:
            busy.kill()
    assert (scan.kind, scan.windows, scan.sources) == (ScreenKind.HEADLESS, [], {"who": HelperStatus.USED})
    assert scan.sessions == ["ada tty1 2026-03-01 12:00"]
    [entry] = [one for one in scan.processes if one.pid == busy.pid]
    assert SECRET not in entry.command
    assert SECRET not in scan.text
    assert "ada tty1" in scan.text
    assert str(busy.pid) in scan.text


async def _scan_with_process(scanner: ScreenScanner, pid: int) -> service.ScreenScan:
    """Scan until this process is among the busiest; it must have run for a moment."""
    with anyio.fail_after(10):
        while True:
            scan = await scanner.scan()
            if pid in {one.pid for one in scan.processes}:
                return scan


async def test_35_windows_and_elements_come_from_the_helper_programs_that_are_installed(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "DISPLAY": ":9", "LD_PRELOAD": "not passed on"}
    scanner = ScreenScanner(environment, "linux", "6.1.0")
    program(tmp_path, "wmctrl", f"/bin/{printing(WMCTRL)}")
    program(tmp_path, "xprop", XPROP)
    scan = await scanner.scan()
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
    assert scan.sources == {"xprop": HelperStatus.USED, "wmctrl": HelperStatus.USED, "gdbus": HelperStatus.MISSING}
    assert "Not installed: gdbus." in scan.text
    assert SECRET not in scan.text
    program(tmp_path, "gdbus", GDBUS)
    scan = await scanner.scan()
    assert scan.elements == [ScreenElement("application", "Editor", 0), ScreenElement("push button", 'It\'s "here"', 1)]
    assert '  push button: It\'s "here"' in scan.text


async def test_35_failed_helper_programs_are_reported(tmp_path: Path) -> None:
    program(tmp_path, "wmctrl", "echo 'Cannot open display.' >&2; exit 1")
    program(tmp_path, "xdotool", "exec /bin/sleep 60")
    scan = await ScreenScanner({"PATH": str(tmp_path), "DISPLAY": ":9"}, "linux", "6.1.0").scan()
    assert scan.sources["wmctrl"] is HelperStatus.FAILED
    assert scan.sources["xdotool"] is HelperStatus.TOO_SLOW
    assert scan.sources["xprop"] is HelperStatus.MISSING
    assert scan.text.startswith("No windows found.")
    assert "wmctrl (Cannot open display.)" in scan.text
    assert scan.processes


async def test_35_on_macos_the_front_window_is_shown(tmp_path: Path) -> None:
    scanner = ScreenScanner({"PATH": str(tmp_path)}, "darwin", "")
    with pytest.raises(Unavailable, match="missing"):
        await scanner.scan()
    program(tmp_path, "osascript", "echo 'not allowed assistive access' >&2; exit 1")
    with pytest.raises(Unavailable, match="not allowed assistive access") as refused:
        await scanner.scan()
    assert refused.value.hint
    output = "application: Notes\nwindow: Shopping\nAXButton: New\nAXTextArea: milk\n"
    program(tmp_path, "osascript", f"/bin/{printing(output)}")
    scan = await scanner.scan()
    assert scan.windows == [Window(id="front", title="Shopping", app="Notes", active=True)]
    assert scan.elements == [ScreenElement("AXButton", "New", 1), ScreenElement("AXTextArea", "milk", 1)]


async def test_35_the_output_of_helper_programs_is_limited(tmp_path: Path) -> None:
    line = "0x%08x 0 1 0 0 1 1 a.A host a window"
    program(tmp_path, "wmctrl", f'/usr/bin/seq 1 5000 | while read n; do printf "{line}\\n" $n; done')
    scan = await ScreenScanner({"PATH": str(tmp_path), "DISPLAY": ":9"}, "linux", "6.1.0").scan()
    assert (len(scan.windows), scan.truncated) == (100, True)
    assert len(scan.text) <= service.MAX_CHARACTERS


async def test_35_the_scan_needs_the_terminal_scope(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as app:

        async def scan_with(*scopes: str) -> str:
            context = CallContext(surface="rest", caller=Caller("k", frozenset(scopes), "key_k"))
            return (await app.dispatcher.call("sonar", {}, context)).model_dump()["environment"]

        assert await scan_with("terminal:read") in ("headless", "display")
        with pytest.raises(Forbidden):
            await scan_with("memory")


@pytest.fixture
def display(tmp_path: Path) -> Generator[str]:
    """A virtual X display with one window."""
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

        # Xvfb chooses a free display number and prints it when it is ready.
        screen = start("Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24")
        assert screen.stdout
        display = f":{screen.stdout.readline().decode().strip()}"
        start("openbox", DISPLAY=display)
        start("xeyes", "-title", f"The eyes {SECRET}", DISPLAY=display)
        yield display


@pytest.mark.skipif(
    bool(MISSING_PROGRAMS), reason=f"a real screen needs {', '.join(MISSING_PROGRAMS)}, which are not installed here"
)
async def test_35_a_real_window_is_found(display: str) -> None:
    scanner = ScreenScanner({"PATH": "/usr/bin:/bin", "DISPLAY": display}, "linux", "6.1.0")
    with anyio.fail_after(20):
        while not (scan := await scanner.scan()).windows:
            pass
    [window] = scan.windows
    assert (window.title, window.app) == ("The eyes [secret: github token]", "xeyes.XEyes")
    assert (window.width, window.height) == (150, 100)
    assert (scan.sources["wmctrl"], scan.sources["xprop"]) == (HelperStatus.USED, HelperStatus.USED)
