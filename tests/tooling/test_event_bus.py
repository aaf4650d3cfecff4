"""The event bus passes events on by type, and no subscriber can fail the publisher."""

import logging
from dataclasses import dataclass

import pytest

from scrubjay.tooling.event_bus import EventBus


@dataclass(frozen=True)
class Opened:
    name: str


@dataclass(frozen=True)
class OpenedTwice(Opened):
    pass


def test_events_reach_the_subscribers_of_their_exact_type_in_order_and_then_the_parent() -> None:
    seen: list[tuple[str, object]] = []
    parent = EventBus()
    bus = EventBus(parent)
    parent.subscribe(Opened, lambda event: seen.append(("parent", event)))
    bus.subscribe(Opened, lambda event: seen.append(("first", event)))
    bus.subscribe(Opened, lambda event: seen.append(("second", event)))
    bus.publish(Opened("a"))
    bus.publish(OpenedTwice("b"))
    bus.publish("something else")
    assert seen == [("first", Opened("a")), ("second", Opened("a")), ("parent", Opened("a"))]


def test_an_unsubscribed_function_is_not_called() -> None:
    seen: list[Opened] = []
    bus = EventBus()
    unsubscribe = bus.subscribe(Opened, seen.append)
    bus.publish(Opened("a"))
    unsubscribe()
    unsubscribe()
    bus.publish(Opened("b"))
    assert seen == [Opened("a")]


def test_a_failing_subscriber_neither_fails_the_publisher_nor_the_other_subscribers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[Opened] = []
    bus = EventBus()

    def fail(event: Opened) -> None:
        raise ZeroDivisionError(event.name)

    bus.subscribe(Opened, fail)
    bus.subscribe(Opened, seen.append)
    bus.publish(Opened("my-password"))
    assert seen == [Opened("my-password")]
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert (logged.message, vars(logged)["event"]) == ("an event subscriber failed", "Opened")
    assert "my-password" not in str(vars(logged))
