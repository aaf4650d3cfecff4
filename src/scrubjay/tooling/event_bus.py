"""The in-process event bus: synchronous, typed, and unable to fail the publisher."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from scrubjay.core.error_location import place_of

logger = logging.getLogger("scrubjay.events")

Event = TypeVar("Event")
Unsubscribe = Callable[[], None]


class EventBus:
    """Passes each event to the subscribers of its type, then to the parent bus.

    Subscribers run on the publisher's thread, in the order of their subscription, before `publish` returns: they must
    be quick and must not wait. An exception of a subscriber is logged and stays here.
    """

    def __init__(self, parent: "EventBus | None" = None) -> None:
        self._parent = parent
        # Replaced as a whole, so that another thread can publish while somebody subscribes.
        self._subscribers: dict[type, tuple[Callable[[Any], None], ...]] = {}

    def subscribe(self, kind: type[Event], subscriber: Callable[[Event], None]) -> Unsubscribe:
        """Call `subscriber` with every event whose type is exactly `kind`; return what ends the subscription."""
        self._subscribers[kind] = (*self._subscribers.get(kind, ()), subscriber)

        def unsubscribe() -> None:
            self._subscribers[kind] = tuple(one for one in self._subscribers[kind] if one is not subscriber)

        return unsubscribe

    def publish(self, event: object) -> None:
        for subscriber in self._subscribers.get(type(event), ()):
            try:
                subscriber(event)
            except Exception as error:  # a bug of the subscriber: what was published has happened all the same
                logger.error("an event subscriber failed", extra={"event": type(event).__name__, **place_of(error)})
        if self._parent is not None:
            self._parent.publish(event)
