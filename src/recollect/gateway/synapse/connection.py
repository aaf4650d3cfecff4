"""One WebSocket: what comes in, what goes out, the topics that are joined on it, and when it has to end."""

import logging
from contextlib import suppress

import anyio
import anyio.abc
from starlette.types import Message, Receive, Send

from recollect.domain.breakage import place_of
from recollect.domain.callers import Doorkeeper
from recollect.domain.errors import RecollectError, Unauthenticated
from recollect.gateway.synapse.channel import Channel, Shared, agent_of
from recollect.gateway.synapse.credentials import key_of
from recollect.gateway.synapse.frames import (
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
from recollect.gateway.synapse.limits import Bucket
from recollect.gateway.synapse.messages import Refused
from recollect.gateway.synapse.outbox import Outbox, ReaderTooSlow

logger = logging.getLogger("recollect.synapse")

# How often it is looked whether the key is still valid and the client still there, and told what clients do.
TEND_SECONDS = 1.0
# How long the last word may take to be written.
FAREWELL_SECONDS = 1.0

_GOING_AWAY, _POLICY, _BROKEN = 1001, 1008, 1011


class Connection:
    """Lives for as long as its socket; all that was asked over it ends with it."""

    def __init__(
        self, shared: Shared, doorkeeper: Doorkeeper, codec: Codec, key: str | None, address: str | None
    ) -> None:
        limits = shared.limits
        self.address = address
        self.tasks: anyio.abc.TaskGroup = anyio.create_task_group()
        self.open_work = 0
        self._shared = shared
        self._limits = limits
        self._doorkeeper = doorkeeper
        self._codec = codec
        self._key = key
        self._outbox = Outbox(most_bytes=limits.outbox_bytes, most_messages=limits.outbox_messages)
        self._channels: dict[str, Channel] = {}
        self._bucket = Bucket(limits.messages_per_second, anyio.current_time)
        self._began_at = self._heard_at = anyio.current_time()
        self._has_joined = False
        self._dropped = self._malformed = self._wrong_keys = self._over_limit = 0
        self._farewell: tuple[int, str] | None = None

    async def serve(self, receive: Receive, send: Send) -> None:
        """Read and write until either side ends it. Nothing goes on when this returns."""
        try:
            async with self.tasks:
                self.tasks.start_soon(self._write, send)
                self.tasks.start_soon(self._tend)
                await self._read(receive)
                self.tasks.cancel_scope.cancel()
        except ExceptionGroup as bugs:
            logger.error("a connection broke", extra=place_of(bugs.exceptions[0]))
            self._farewell = (_BROKEN, "internal error")
        finally:
            for channel in self._channels.values():
                channel.close()
        if self._farewell is not None:
            code, reason = self._farewell
            # A reader who does not read blocks this too; the transport then lets go of it.
            with anyio.move_on_after(FAREWELL_SECONDS), suppress(OSError, RuntimeError):
                await send({"type": "websocket.close", "code": code, "reason": reason})

    def send(self, frame: Frame, *, droppable: bool = False) -> None:
        """Put it into the outbox. A client who does not read loses thoughts first, then its connection."""
        try:
            self._dropped += self._outbox.put(self._codec.write(frame), droppable=droppable)
        except ReaderTooSlow:
            self.end(_POLICY, "the client does not read")

    def take_dropped(self) -> int:
        dropped, self._dropped = self._dropped, 0
        return dropped

    def end(self, code: int, reason: str) -> None:
        if self._farewell is None:
            self._farewell = (code, reason)
            logger.info("a connection is ended", extra={"code": code, "reason": reason})
        self.tasks.cancel_scope.cancel()

    # -- what goes on while it is open ---------------------------------------------------------------

    async def _write(self, send: Send) -> None:
        while True:
            text = (await self._outbox.take()).decode()
            with anyio.move_on_after(self._limits.slow_seconds) as patience:
                try:
                    await send({"type": "websocket.send", "text": text})
                except OSError:  # it has gone, as reading will tell
                    return
            if patience.cancelled_caught:
                self.end(_POLICY, "the client does not read")

    async def _tend(self) -> None:
        while True:
            await anyio.sleep(TEND_SECONDS)
            now = anyio.current_time()
            quiet_since = self._heard_at if self._has_joined else self._began_at
            if now - quiet_since > self._limits.idle_seconds:
                self.end(_GOING_AWAY, "nothing was heard" if self._has_joined else "nothing was joined")
            for channel in self._channels.values():
                self._refuse_revoked(channel)
                channel.tend()

    async def _read(self, receive: Receive) -> None:
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
            if self._farewell is not None:
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
            self.end(_POLICY, "too many malformed frames")

    def _refuse_haste(self, frame: Frame) -> None:
        self._over_limit += 1
        self.send(frame.reply("error", {"reason": "rate_limited"}))
        if self._over_limit > self._limits.messages_per_second:
            self.end(_POLICY, "too many messages")

    def _refuse_revoked(self, channel: Channel) -> bool:
        """Whether the key of this channel is not valid any more; the connection ends with it."""
        if self._doorkeeper.is_welcome(channel.caller):
            return False
        self.end(_POLICY, "the key is not valid any more")
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
            self.send(frame.reply("ok", channel.handle(frame.event, frame.payload)))
        except Refused as refusal:
            self.send(frame.reply("error", refusal.response))
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
            caller = await self._doorkeeper.admit(key)
        except Refused as refusal:
            self.send(frame.reply("error", refusal.response))
        except Unauthenticated:
            self.send(frame.reply("error", {"reason": "unauthorized" if key else "api_key required"}))
            self._wrong_keys += 1
            if self._wrong_keys >= self._limits.wrong_keys:
                self.end(_POLICY, "too many wrong keys")
        except RecollectError as error:
            self.send(frame.reply("error", {"reason": error.code, "message": error.message}))
        else:
            self._has_joined = True
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
