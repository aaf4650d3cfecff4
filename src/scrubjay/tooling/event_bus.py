"""The in-process event bus: synchronous, typed, and unable to fail the publisher."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from scrubjay.core.error_location import error_fields

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
        # The tuples are replaced, never changed: another thread may publish during a subscription.
        self._subscribers: dict[type, tuple[Callable[[Any], None], ...]] = {}

    def subscribe(self, kind: type[Event], subscriber: Callable[[Event], None]) -> Unsubscribe:
        """Call `subscriber` with every event whose type is exactly `kind`; return a function that unsubscribes."""
        self._subscribers[kind] = (*self._subscribers.get(kind, ()), subscriber)

        def unsubscribe() -> None:
            self._subscribers[kind] = tuple(other for other in self._subscribers[kind] if other is not subscriber)

        return unsubscribe

    def publish(self, event: object) -> None:
        for subscriber in self._subscribers.get(type(event), ()):
            try:
                subscriber(event)
            except Exception as error:  # a bug of the subscriber must not fail the publisher
                logger.error("an event subscriber failed", extra={"event": type(event).__name__, **error_fields(error)})
        if self._parent is not None:
            self._parent.publish(event)
