"""The wire format of Phoenix: what one frame says, in version 2 (arrays) or version 1 (objects)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pydantic_core import from_json, to_json

JOIN, LEAVE, REPLY, CLOSE, ERROR = "phx_join", "phx_leave", "phx_reply", "phx_close", "phx_error"
HEARTBEAT = "heartbeat"
SOCKET_TOPIC = "phoenix"
"""The topic of the connection itself."""

# Names are echoed, so they must be short. Phoenix itself allows 255 bytes in its binary frames.
MAX_NAME = 255
_PUSH = 0


class Malformed(Exception):
    """A frame that cannot be understood."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message, in either direction."""

    topic: str
    event: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ref: str | None = None
    join_ref: str | None = None

    def reply(self, status: str, response: Mapping[str, Any]) -> "Frame":
        """The answer to it."""
        return Frame(self.topic, REPLY, {"status": status, "response": response}, self.ref, self.join_ref)


class Codec(Protocol):
    """One version of the format."""

    def read(self, text: str) -> Frame:
        """What a text frame says; `Malformed` when nobody can tell."""
        ...

    def write(self, frame: Frame) -> bytes: ...


class Arrays:
    """Version 2: `[join_ref, ref, topic, event, payload]`."""

    def read(self, text: str) -> Frame:
        found = _json(text)
        if not isinstance(found, list) or len(cast(list[Any], found)) != 5:
            raise Malformed("a frame is an array of five: join_ref, ref, topic, event, payload")
        join_ref, ref, topic, event, payload = cast(list[Any], found)
        return _frame(join_ref, ref, topic, event, payload)

    def write(self, frame: Frame) -> bytes:
        return to_json([frame.join_ref, frame.ref, frame.topic, frame.event, frame.payload])


class Objects:
    """Version 1: an object that names each part, without `join_ref`."""

    def read(self, text: str) -> Frame:
        found = _json(text)
        if not isinstance(found, dict):
            raise Malformed("a frame is an object with topic, event, payload and ref")
        part = cast(dict[str, Any], found).get
        return _frame(part("join_ref"), part("ref"), part("topic"), part("event"), part("payload"))

    def write(self, frame: Frame) -> bytes:
        told = {"topic": frame.topic, "event": frame.event, "payload": frame.payload, "ref": frame.ref}
        return to_json(told)


def codec_for(version: str) -> Codec | None:
    """The format that a client names when it connects; none of the others is known."""
    match version.partition(".")[0]:
        case "2":
            return Arrays()
        case "1" | "":  # what clients spoke before they named a version
            return Objects()
        case _:
            return None


def without_payload(data: bytes) -> Frame:
    """The names in a binary push, so that it can be refused with an answer; `Malformed` when it is none."""
    if len(data) < 5 or data[0] != _PUSH:
        raise Malformed("a binary frame that is no push")
    parts: list[str] = []
    place = 5
    for length in data[1:5]:
        if len(data) < place + length:
            raise Malformed("a binary frame that ends too early")
        try:
            parts.append(data[place : place + length].decode())
        except UnicodeDecodeError:
            raise Malformed("a binary frame whose names are not UTF-8") from None
        place += length
    join_ref, ref, topic, event = parts
    return _frame(join_ref or None, ref or None, topic, event, {})


def _json(text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        raise Malformed("a frame is JSON") from None


def _frame(join_ref: Any, ref: Any, topic: Any, event: Any, payload: Any) -> Frame:
    for name in (join_ref, ref):
        if name is not None and not _is_name(name):
            raise Malformed("join_ref and ref are short texts or null")
    if not (_is_name(topic) and _is_name(event)):
        raise Malformed("topic and event are short texts")
    if not isinstance(payload, dict):
        raise Malformed("a payload is an object")
    return Frame(topic, event, cast(dict[str, Any], payload), ref, join_ref)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and len(name) <= MAX_NAME
