"""What a gateway projects: the tools that it shows, the way to call any of them, and the resources to read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.tooling.dispatcher import Dispatcher
    from scrubjay.tooling.listing import Listing
    from scrubjay.tooling.resources import Resources


def _no_resources() -> "Resources":
    from scrubjay.tooling.resources import Resources

    return Resources()


@dataclass(frozen=True, slots=True)
class Offering:
    """Made when a client first asks for a tool, so that a server can greet before it has loaded any."""

    dispatcher: "Dispatcher"
    listing: "Listing"
    make_resources: "Callable[[], Resources]" = _no_resources

    @property
    def resources(self) -> "Resources":
        return self.make_resources()
