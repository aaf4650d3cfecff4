"""Fake helper programs of the screen scan, and a check for the real ones."""

import shutil
from pathlib import Path

WMCTRL = """\
0x03c00003  0 4711   10   20   800  600  editor.Editor         host notes.txt ghp_0123456789abcdefghijABCDEFGHIJ456789
0x03e00005 -1 0      0    0    1920 30   panel.Panel           host
not a window
"""
XPROP = """\
case "$*" in
*_NET_ACTIVE_WINDOW*) echo '_NET_ACTIVE_WINDOW(WINDOW): window id # 0x3c00003' ;;
*) echo 'WM_CLASS(STRING) = "editor", "Editor"'; echo '_NET_WM_PID(CARDINAL) = 4711' ;;
esac
"""
# One application with a window that has a button whose name contains quotes.
GDBUS = r"""
case "$*" in
*GetAddress*) echo "('unix:path=/run/a11y,guid=1',)" ;;
*accessible/root*GetChildren*) echo "([(':1.7', objectpath '/app')],)" ;;
*/app*GetChildren*) echo "([(':1.7', objectpath '/button')],)" ;;
*GetChildren*) echo "(@a(so) [],)" ;;
*/app*GetRoleName*) echo "('application',)" ;;
*GetRoleName*) echo "('push button',)" ;;
*/app*Name*) echo "(<'Editor'>,)" ;;
*) echo '(<"It'"'"'s \"here\"">,)' ;;
esac
"""


def program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def printing(text: str) -> str:
    return f"cat <<'EOF'\n{text}EOF"


def missing(*names: str) -> list[str]:
    return [name for name in names if shutil.which(name) is None]
