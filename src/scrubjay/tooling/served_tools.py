"""The tools and resources that a server exposes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.tooling import resources
    from scrubjay.tooling.dispatcher import Dispatcher
    from scrubjay.tooling.listing import Listing
    from scrubjay.tooling.resources import Resources
else:
    resources = lazy_module("scrubjay.tooling.resources")


def _no_resources() -> "Resources":
    return resources.Resources()


@dataclass(frozen=True, slots=True)
class ServedTools:
    """Dispatcher, tool list and resources of a server.

    Created by the first request for a tool, so that a server can answer `initialize` before loading any.
    """

    dispatcher: "Dispatcher"
    listing: "Listing"
    make_resources: "Callable[[], Resources]" = _no_resources
    flat_jobs: frozenset[str] = frozenset()
    """Tools that run as jobs whose result is answered without the job, once it has ended."""

    @property
    def resources(self) -> "Resources":
        return self.make_resources()
