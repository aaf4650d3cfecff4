"""What is to be seen on the machine of the server."""

from typing import Any, Literal

from pydantic import Field

from scrubjay.features.workspace.screen.service import Sonar
from scrubjay.features.workspace.terminal.tools import ProcessView
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
    active: bool = Field(description="Whether what is typed goes there.")


class ElementView(Result):
    role: str = Field(description="What it is, such as push button or label.")
    name: str
    depth: int = Field(description="How deep it is inside of its application, which is 0.")


class SonarResult(Result):
    environment: Literal["macos", "display", "headless"] = Field(description="What sort of screen there is.")
    text: str = Field(description="All of it in words.")
    windows: list[WindowView]
    elements: list[ElementView] = Field(description="What programs tell of what is in their windows.")
    sessions: list[str] = Field(description="Without windows: who is logged in.")
    processes: list[ProcessView] = Field(description="Without windows: what uses the processor most.")
    sources: dict[str, str] = Field(
        description="The programs that were asked: used, missing (it can be installed), failed, or too slow."
    )
    truncated: bool = Field(description="Whether some of it was left out.")

    def bare(self) -> Any:
        """As Mimo's clients know it."""
        return self.text


# What is on a screen is nobody else's, and so not in the history of calls.
@tool("terminal", read_only=True, core=False, fleeting=True)
async def sonar(request: SonarRequest, sonar: Sonar) -> SonarResult:
    """See what is on the screen of the server's machine: its windows, and what accessible programs show in them.

    On Linux by wmctrl, xdotool, xprop and AT-SPI, as far as they are installed; on macOS by AppleScript; without a
    screen, who is logged in and what runs. Secrets in titles and command lines are masked.
    """
    scan = await sonar.scan()
    return SonarResult.model_validate(
        {
            "environment": scan.surroundings.value,
            "text": scan.text,
            "windows": [WindowView.model_validate(one, from_attributes=True) for one in scan.windows],
            "elements": [ElementView.model_validate(one, from_attributes=True) for one in scan.elements],
            "sessions": scan.sessions,
            "processes": [ProcessView.model_validate(one, from_attributes=True) for one in scan.processes],
            "sources": {name: source.value for name, source in scan.sources.items()},
            "truncated": scan.truncated,
        }
    )
