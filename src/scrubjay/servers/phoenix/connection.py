"""A WebSocket of a Phoenix client: reads frames, routes them to joined channels, and enforces limits."""

import logging

import anyio
from starlette.types import Message, Receive

from scrubjay.core.callers import Authenticator
from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import RateLimited, ScrubjayError, Unauthenticated
from scrubjay.servers.http.callers import SocketGuard
from scrubjay.servers.http.token_bucket import TokenBucket
from scrubjay.servers.http.websockets import GOING_AWAY, POLICY, WebSocketConnection
from scrubjay.servers.phoenix.channel import Channel, SynapseState, agent_of
from scrubjay.servers.phoenix.credentials import key_in
from scrubjay.servers.phoenix.frames import (
    ERROR,
    HEARTBEAT,
    JOIN,
    LEAVE,
    SOCKET_TOPIC,
    Codec,
    MalformedFrame,
    PhoenixFrame,
    parse_binary_push,
)
from scrubjay.servers.phoenix.messages import WORK_EVENTS, EventRefused

logger = logging.getLogger("scrubjay.synapse")


class PhoenixConnection(WebSocketConnection):
    """The connection of one client; all its work ends with it."""

    def __init__(
        self,
        state: SynapseState,
        authenticator: Authenticator,
        guard: SocketGuard,
        codec: Codec,
        key: str | None,
        address: str | None,
    ) -> None:
        limits = state.limits
        super().__init__(
            outbox_bytes=limits.outbox_bytes,
            outbox_messages=limits.outbox_messages,
            slow_seconds=limits.slow_seconds,
        )
        self.address = address
        self.open_work = 0
        self._state = state
        self._limits = limits
        self._authenticator = authenticator
        self._guard = guard
        self._codec = codec
        self._key = key
        self._channels: dict[str, Channel] = {}
        self._bucket = TokenBucket(limits.messages_per_second, anyio.current_time)
        self._opened_at = self._last_message_at = anyio.current_time()
        self.has_joined = False
        self._dropped = self._malformed = self._wrong_keys = self._over_limit = 0

    def on_closed(self) -> None:
        for channel in self._channels.values():
            channel.close()

    def send(self, frame: PhoenixFrame, *, droppable: bool = False) -> None:
        """Queue a frame. A client that does not read loses droppable frames first, then its connection."""
        self._dropped += self.enqueue(self._codec.write(frame), droppable=droppable)

    def close_unjoined(self) -> None:
        """Close this connection to make room for another one."""
        self.end(GOING_AWAY, "no topic was joined, and the server is full")

    def take_dropped(self) -> int:
        dropped, self._dropped = self._dropped, 0
        return dropped

    # -- reading and limits --------------------------------------------------------------------------

    def on_tick(self) -> None:
        now = anyio.current_time()
        quiet_since = self._last_message_at if self.has_joined else self._opened_at
        if now - quiet_since > self._limits.idle_seconds:
            self.end(GOING_AWAY, "the client was idle" if self.has_joined else "no topic was joined in time")
        for channel in self._channels.values():
            channel.push_presence()

    def is_authorized(self) -> bool:
        return all(self._authenticator.is_authorized(channel.caller) for channel in self._channels.values())

    async def read(self, receive: Receive) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            self._last_message_at = anyio.current_time()
            try:
                frame = self._read_frame(message)
            except MalformedFrame as problem:
                self._refuse_malformed(problem)
            else:
                if self._bucket.take():
                    self._over_limit = 0
                    await self._handle_frame(frame)
                else:
                    self._refuse_over_limit(frame)
            if self.has_ended:
                return

    def _read_frame(self, message: Message) -> PhoenixFrame:
        if (text := message.get("text")) is not None:
            return self._codec.read(text)
        frame = parse_binary_push(message["bytes"])
        self.send(frame.reply("error", {"reason": "binary payloads are not accepted"}))
        raise MalformedFrame("payloads are JSON")

    def _refuse_malformed(self, problem: MalformedFrame) -> None:
        self._malformed += 1
        self.send(PhoenixFrame(SOCKET_TOPIC, ERROR, {"reason": "malformed frame", "message": str(problem)}))
        if self._malformed > self._limits.malformed:
            self.end(POLICY, "too many malformed frames")

    def _refuse_over_limit(self, frame: PhoenixFrame) -> None:
        self._over_limit += 1
        self.send(frame.reply("error", {"reason": "rate_limited"}))
        if self._over_limit > self._limits.messages_per_second:
            self.end(POLICY, "too many messages")

    def _end_if_revoked(self, channel: Channel) -> bool:
        """Return True when the channel's key is no longer valid; the connection is closed then."""
        if self._authenticator.is_authorized(channel.caller):
            return False
        self.end(POLICY, "the key is no longer valid")
        return True

    # -- frames --------------------------------------------------------------------------------------

    async def _handle_frame(self, frame: PhoenixFrame) -> None:
        channel = self._channels.get(frame.topic)
        if channel is not None and frame.join_ref not in (None, channel.join_ref) and frame.event != JOIN:
            channel = None  # the frame belongs to an earlier join
        if frame.topic == SOCKET_TOPIC:
            known = frame.event == HEARTBEAT
            self.send(frame.reply("ok", {}) if known else frame.reply("error", {"reason": "unknown event"}))
        elif frame.event == JOIN:
            await self._join(frame, channel)
        elif frame.event == LEAVE:
            self._leave(frame, channel)
        elif channel is None:
            self.send(frame.reply("error", {"reason": "unmatched topic"}))
        elif not self._end_if_revoked(channel):
            self._handle_event(frame, channel)

    def _handle_event(self, frame: PhoenixFrame, channel: Channel) -> None:
        try:
            if frame.event in WORK_EVENTS:
                self._guard.count(channel.caller)
            self.send(frame.reply("ok", channel.handle(frame.event, frame.payload)))
        except EventRefused as refusal:
            self.send(frame.reply("error", refusal.response))
        except RateLimited as error:
            self.send(frame.reply("error", {"reason": error.code, "message": error.message, **error.details}))
        except Exception as error:  # a bug: the client gets phx_error, and joins again
            logger.error("a channel failed unexpectedly", extra=error_fields(error))
            self._close(channel)
            self.send(channel.closing_frame(ERROR))

    async def _join(self, frame: PhoenixFrame, earlier: Channel | None) -> None:
        if earlier is not None:
            self._close(earlier)
            self.send(earlier.closing_frame())
        agent = agent_of(frame.topic)
        key = key_in(frame.payload) or self._key
        try:
            if agent is None:
                raise EventRefused("unmatched topic", "topics are cortex:AGENT")
            if len(self._channels) >= self._limits.topics_per_connection:
                raise EventRefused("too many topics")
            caller = await self._guard.authenticate(key)
        except EventRefused as refusal:
            self.send(frame.reply("error", refusal.response))
        except Unauthenticated:
            self.send(frame.reply("error", {"reason": "unauthorized" if key else "api_key required"}))
            self._wrong_keys += 1
            if self._wrong_keys >= self._limits.wrong_keys:
                self.end(POLICY, "too many wrong keys")
        except ScrubjayError as error:
            self.send(frame.reply("error", {"reason": error.code, "message": error.message}))
        else:
            self.has_joined = True
            channel = Channel(self._state, self, frame, agent, caller)
            self._channels[frame.topic] = channel
            self.send(frame.reply("ok", {"agent_id": agent}))
            channel.open()

    def _leave(self, frame: PhoenixFrame, channel: Channel | None) -> None:
        if channel is not None:
            self._close(channel)
        self.send(frame.reply("ok", {}))
        if channel is not None:
            self.send(channel.closing_frame())

    def _close(self, channel: Channel) -> None:
        del self._channels[channel.topic]
        channel.close()
