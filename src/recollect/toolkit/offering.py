"""What a gateway projects: the tools that it shows, the way to call any of them, and the resources to read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.toolkit.dispatcher import Dispatcher
    from recollect.toolkit.listing import Listing
    from recollect.toolkit.resources import Resources


def _no_resources() -> "Resources":
    from recollect.toolkit.resources import Resources

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
