"""What a gateway projects: the tools that it shows, and the way to call any of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.toolkit.dispatcher import Dispatcher
    from recollect.toolkit.listing import Listing


@dataclass(frozen=True, slots=True)
class Offering:
    """Made when a client first asks for a tool, so that a server can greet before it has loaded any."""

    dispatcher: "Dispatcher"
    listing: "Listing"
