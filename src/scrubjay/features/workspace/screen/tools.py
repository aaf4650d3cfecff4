"""The tool `sonar`: show what is on the screen of the server's machine."""

from typing import Any, Literal

from pydantic import Field

from scrubjay.features.workspace.screen.service import ScreenScanner
from scrubjay.features.workspace.terminal.tools import RunningProcessView
from scrubjay.tooling.declaration import Request, Result, examples, tool


class SonarRequest(Request):
    model_config = examples({})


class WindowView(Result):
    id: str
    title: str
    app: str | None
    pid: int | None
    desktop: int | None
    x: int | None
    y: int | None
    width: int | None
    height: int | None
    active: bool = Field(description="True when the window has the keyboard focus.")


class ElementView(Result):
    role: str = Field(description="Accessibility role, such as push button or label.")
    name: str
    depth: int = Field(description="Depth in the tree of its application, which has depth 0.")


class SonarResult(Result):
    environment: Literal["macos", "display", "headless"] = Field(description="Kind of screen.")
    text: str = Field(description="The whole result as text.")
    windows: list[WindowView]
    elements: list[ElementView] = Field(description="Elements of the windows, as accessible programs report them.")
    sessions: list[str] = Field(description="Without windows: the logged-in users.")
    processes: list[RunningProcessView] = Field(description="Without windows: the processes with the most CPU time.")
    sources: dict[str, str] = Field(
        description="State of each helper program: used, missing (not installed), failed, or too slow."
    )
    truncated: bool = Field(description="True when the result is incomplete.")

    def bare(self) -> Any:
        """Return only the text, as Mimo does."""
        return self.text


# The content of a screen is private, so it is not stored in the call history.
@tool("terminal", read_only=True, core=False, log_payload=False)
async def sonar(request: SonarRequest, sonar: ScreenScanner) -> SonarResult:
    """Show what is on the screen of the server's machine: windows and the elements of accessible programs.

    Uses wmctrl, xdotool, xprop and AT-SPI on Linux where installed, and AppleScript on macOS. Without a screen it
    lists logged-in users and running processes. Secrets in titles and command lines are masked.
    """
    scan = await sonar.scan()
    return SonarResult.model_validate(
        {
            "environment": scan.kind.value,
            "text": scan.text,
            "windows": [WindowView.model_validate(one, from_attributes=True) for one in scan.windows],
            "elements": [ElementView.model_validate(one, from_attributes=True) for one in scan.elements],
            "sessions": scan.sessions,
            "processes": [RunningProcessView.model_validate(one, from_attributes=True) for one in scan.processes],
            "sources": {name: source.value for name, source in scan.sources.items()},
            "truncated": scan.truncated,
        }
    )
