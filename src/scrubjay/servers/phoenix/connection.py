"""One WebSocket: what comes in, what goes out, the topics that are joined on it, and when it has to end."""

import logging

import anyio
from starlette.types import Message, Receive

from scrubjay.core.callers import Doorkeeper
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import RateLimited, ScrubjayError, Unauthenticated
from scrubjay.servers.http.callers import Visit
from scrubjay.servers.http.token_bucket import Bucket
from scrubjay.servers.http.websockets import GOING_AWAY, POLICY, Socket
from scrubjay.servers.phoenix.channel import Channel, Shared, agent_of
from scrubjay.servers.phoenix.credentials import key_of
from scrubjay.servers.phoenix.frames import (
    ERROR,
    HEARTBEAT,
    JOIN,
    LEAVE,
    SOCKET_TOPIC,
    Codec,
    Frame,
    Malformed,
    without_payload,
)
from scrubjay.servers.phoenix.messages import WORK, Refused

logger = logging.getLogger("scrubjay.synapse")


class Connection(Socket):
    """Lives for as long as its socket; all that was asked over it ends with it."""

    def __init__(
        self,
        shared: Shared,
        doorkeeper: Doorkeeper,
        visit: Visit,
        codec: Codec,
        key: str | None,
        address: str | None,
    ) -> None:
        limits = shared.limits
        super().__init__(
            outbox_bytes=limits.outbox_bytes,
            outbox_messages=limits.outbox_messages,
            slow_seconds=limits.slow_seconds,
        )
        self.address = address
        self.open_work = 0
        self._shared = shared
        self._limits = limits
        self._doorkeeper = doorkeeper
        self._visit = visit
        self._codec = codec
        self._key = key
        self._channels: dict[str, Channel] = {}
        self._bucket = Bucket(limits.messages_per_second, anyio.current_time)
        self._began_at = self._heard_at = anyio.current_time()
        self.has_joined = False
        self._dropped = self._malformed = self._wrong_keys = self._over_limit = 0

    def closed(self) -> None:
        for channel in self._channels.values():
            channel.close()

    def send(self, frame: Frame, *, droppable: bool = False) -> None:
        """Put it into the outbox. A client who does not read loses thoughts first, then its connection."""
        self._dropped += self.put(self._codec.write(frame), droppable=droppable)

    def make_room(self) -> None:
        """End, because somebody else wants the place."""
        self.end(GOING_AWAY, "nothing was joined, and others wait for the place")

    def take_dropped(self) -> int:
        dropped, self._dropped = self._dropped, 0
        return dropped

    # -- what goes on while it is open ---------------------------------------------------------------

    def tend(self) -> None:
        now = anyio.current_time()
        quiet_since = self._heard_at if self.has_joined else self._began_at
        if now - quiet_since > self._limits.idle_seconds:
            self.end(GOING_AWAY, "nothing was heard" if self.has_joined else "nothing was joined")
        for channel in self._channels.values():
            channel.tend()

    def is_welcome(self) -> bool:
        return all(self._doorkeeper.is_welcome(channel.caller) for channel in self._channels.values())

    async def read(self, receive: Receive) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            self._heard_at = anyio.current_time()
            try:
                frame = self._frame_in(message)
            except Malformed as problem:
                self._refuse_malformed(problem)
            else:
                if self._bucket.take():
                    self._over_limit = 0
                    await self._answer(frame)
                else:
                    self._refuse_haste(frame)
            if self.has_ended:
                return

    def _frame_in(self, message: Message) -> Frame:
        if (text := message.get("text")) is not None:
            return self._codec.read(text)
        frame = without_payload(message["bytes"])
        self.send(frame.reply("error", {"reason": "binary payloads are not accepted"}))
        raise Malformed("payloads are JSON")

    def _refuse_malformed(self, problem: Malformed) -> None:
        self._malformed += 1
        self.send(Frame(SOCKET_TOPIC, ERROR, {"reason": "malformed frame", "message": str(problem)}))
        if self._malformed > self._limits.malformed:
            self.end(POLICY, "too many malformed frames")

    def _refuse_haste(self, frame: Frame) -> None:
        self._over_limit += 1
        self.send(frame.reply("error", {"reason": "rate_limited"}))
        if self._over_limit > self._limits.messages_per_second:
            self.end(POLICY, "too many messages")

    def _refuse_revoked(self, channel: Channel) -> bool:
        """Whether the key of this channel is not valid any more; the connection ends with it."""
        if self._doorkeeper.is_welcome(channel.caller):
            return False
        self.end(POLICY, "the key is not valid any more")
        return True

    # -- what clients say ----------------------------------------------------------------------------

    async def _answer(self, frame: Frame) -> None:
        channel = self._channels.get(frame.topic)
        if channel is not None and frame.join_ref not in (None, channel.join_ref) and frame.event != JOIN:
            channel = None  # meant for an earlier join
        if frame.topic == SOCKET_TOPIC:
            known = frame.event == HEARTBEAT
            self.send(frame.reply("ok", {}) if known else frame.reply("error", {"reason": "unknown event"}))
        elif frame.event == JOIN:
            await self._join(frame, channel)
        elif frame.event == LEAVE:
            self._leave(frame, channel)
        elif channel is None:
            self.send(frame.reply("error", {"reason": "unmatched topic"}))
        elif not self._refuse_revoked(channel):
            self._handle(frame, channel)

    def _handle(self, frame: Frame, channel: Channel) -> None:
        try:
            if frame.event in WORK:
                self._visit.count(channel.caller)
            self.send(frame.reply("ok", channel.handle(frame.event, frame.payload)))
        except Refused as refusal:
            self.send(frame.reply("error", refusal.response))
        except RateLimited as error:
            self.send(frame.reply("error", {"reason": error.code, "message": error.message, **error.details}))
        except Exception as error:  # a bug: the client is told, and joins again
            logger.error("a channel broke", extra=place_of(error))
            self._close(channel)
            self.send(channel.closing_frame(ERROR))

    async def _join(self, frame: Frame, earlier: Channel | None) -> None:
        if earlier is not None:
            self._close(earlier)
            self.send(earlier.closing_frame())
        agent = agent_of(frame.topic)
        key = key_of(frame.payload) or self._key
        try:
            if agent is None:
                raise Refused("unmatched topic", "topics are cortex:AGENT")
            if len(self._channels) >= self._limits.topics_per_connection:
                raise Refused("too many topics")
            caller = await self._visit.show(key)
        except Refused as refusal:
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
            channel = Channel(self._shared, self, frame, agent, caller)
            self._channels[frame.topic] = channel
            self.send(frame.reply("ok", {"agent_id": agent}))
            channel.open()

    def _leave(self, frame: Frame, channel: Channel | None) -> None:
        if channel is not None:
            self._close(channel)
        self.send(frame.reply("ok", {}))
        if channel is not None:
            self.send(channel.closing_frame())

    def _close(self, channel: Channel) -> None:
        del self._channels[channel.topic]
        channel.close()
