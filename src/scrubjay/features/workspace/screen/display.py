"""What sort of screen there is, if any."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

_RELEASE: Final = Path("/proc/sys/kernel/osrelease")


class Surroundings(StrEnum):
    """Where the server runs."""

    WSL = "wsl"
    MACOS = "macos"
    DISPLAY = "display"
    HEADLESS = "headless"


def surroundings(platform: str, environment: Mapping[str, str], release: str) -> Surroundings:
    """What Python calls the platform, what the server's environment says, and what the kernel calls itself."""
    if platform == "linux" and (environment.get("WSL_DISTRO_NAME") or "microsoft" in release.lower()):
        return Surroundings.WSL
    if platform == "darwin":
        return Surroundings.MACOS
    if environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"):
        return Surroundings.DISPLAY
    return Surroundings.HEADLESS


def kernel_release() -> str:
    try:
        return _RELEASE.read_text("utf-8", "replace")
    except OSError:
        return ""
