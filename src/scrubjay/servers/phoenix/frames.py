"""Phoenix's wire format, version 2 (arrays) and version 1 (objects)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from pydantic_core import from_json, to_json

JOIN, LEAVE, REPLY, CLOSE, ERROR = "phx_join", "phx_leave", "phx_reply", "phx_close", "phx_error"
HEARTBEAT = "heartbeat"
SOCKET_TOPIC = "phoenix"
"""The topic of the connection itself."""

# Maximum length of a name. Names are echoed, so they must be short; Phoenix allows 255 bytes in its binary frames.
MAX_NAME = 255
_PUSH = 0


class MalformedFrame(Exception):
    """A frame does not follow the wire format."""


@dataclass(frozen=True, slots=True)
class PhoenixFrame:
    """A message, in either direction."""

    topic: str
    event: str
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ref: str | None = None
    join_ref: str | None = None

    def reply(self, status: str, response: Mapping[str, Any]) -> "PhoenixFrame":
        """Return a reply to this message."""
        return PhoenixFrame(self.topic, REPLY, {"status": status, "response": response}, self.ref, self.join_ref)


class Codec(Protocol):
    """Reads and writes one version of the format."""

    def read(self, text: str) -> PhoenixFrame:
        """Parse a text frame; raise `MalformedFrame` when it is invalid."""
        ...

    def write(self, frame: PhoenixFrame) -> bytes: ...


class ArrayCodec:
    """Version 2: `[join_ref, ref, topic, event, payload]`."""

    def read(self, text: str) -> PhoenixFrame:
        found = _json(text)
        if not isinstance(found, list) or len(cast(list[Any], found)) != 5:
            raise MalformedFrame("a frame must be an array of five: join_ref, ref, topic, event, payload")
        join_ref, ref, topic, event, payload = cast(list[Any], found)
        return _frame(join_ref, ref, topic, event, payload)

    def write(self, frame: PhoenixFrame) -> bytes:
        return to_json([frame.join_ref, frame.ref, frame.topic, frame.event, frame.payload])


class ObjectCodec:
    """Version 1: an object with the keys `topic`, `event`, `payload` and `ref`."""

    def read(self, text: str) -> PhoenixFrame:
        found = _json(text)
        if not isinstance(found, dict):
            raise MalformedFrame("a frame must be an object with topic, event, payload and ref")
        get = cast(dict[str, Any], found).get
        return _frame(get("join_ref"), get("ref"), get("topic"), get("event"), get("payload"))

    def write(self, frame: PhoenixFrame) -> bytes:
        return to_json({"topic": frame.topic, "event": frame.event, "payload": frame.payload, "ref": frame.ref})


def codec_for(version: str) -> Codec | None:
    """Return the codec for the version that a client names when it connects; None for an unknown version."""
    match version.partition(".")[0]:
        case "2":
            return ArrayCodec()
        case "1" | "":  # clients of version 1 do not name it
            return ObjectCodec()
        case _:
            return None


def parse_binary_push(data: bytes) -> PhoenixFrame:
    """Return a binary push without its payload, so that it can be refused with a reply; raise `MalformedFrame`."""
    if len(data) < 5 or data[0] != _PUSH:
        raise MalformedFrame("the binary frame is not a push")
    parts: list[str] = []
    offset = 5
    for length in data[1:5]:
        if len(data) < offset + length:
            raise MalformedFrame("the binary frame is truncated")
        try:
            parts.append(data[offset : offset + length].decode())
        except UnicodeDecodeError:
            raise MalformedFrame("the names in the binary frame are not UTF-8") from None
        offset += length
    join_ref, ref, topic, event = parts
    return _frame(join_ref or None, ref or None, topic, event, {})


def _json(text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        raise MalformedFrame("a frame must be JSON") from None


def _frame(join_ref: Any, ref: Any, topic: Any, event: Any, payload: Any) -> PhoenixFrame:
    for name in (join_ref, ref):
        if name is not None and not _is_name(name):
            raise MalformedFrame(f"join_ref and ref must be null or strings of at most {MAX_NAME} characters")
    if not (_is_name(topic) and _is_name(event)):
        raise MalformedFrame(f"topic and event must be strings of at most {MAX_NAME} characters")
    if not isinstance(payload, dict):
        raise MalformedFrame("the payload must be an object")
    return PhoenixFrame(topic, event, cast(dict[str, Any], payload), ref, join_ref)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and len(name) <= MAX_NAME
