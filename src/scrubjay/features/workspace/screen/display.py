"""Detection of the kind of screen."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

_RELEASE: Final = Path("/proc/sys/kernel/osrelease")


class ScreenKind(StrEnum):
    """The kind of screen of the server's machine."""

    WSL = "wsl"
    MACOS = "macos"
    DISPLAY = "display"
    HEADLESS = "headless"


def detect_screen(platform: str, environment: Mapping[str, str], release: str) -> ScreenKind:
    """Return the kind of screen for a value of `sys.platform`, the environment, and the kernel release."""
    if platform == "linux" and (environment.get("WSL_DISTRO_NAME") or "microsoft" in release.lower()):
        return ScreenKind.WSL
    if platform == "darwin":
        return ScreenKind.MACOS
    if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        return ScreenKind.DISPLAY
    return ScreenKind.HEADLESS


def kernel_release() -> str:
    try:
        return _RELEASE.read_text("utf-8", "replace")
    except OSError:
        return ""
