"""How WebSockets of all protocols are carried: with bounds that uvicorn itself does not keep."""

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# A peer that reads has its last messages by then; one that does not would keep its connection for ever.
LINGER_SECONDS: Final = 1.0
POLICY_VIOLATION: Final = 1008


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Lets go of peers who do not read, and of peers who send more at once than is asked for.

    Uvicorn closes a connection only when all that was written has been read, and does not heed `ws_max_queue`.
    """

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def shutdown(self) -> None:
        super().shutdown()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)

    def send_receive_event_to_app(self) -> None:
        if self.queue.qsize() < self.config.ws_max_queue or self.close_sent:
            super().send_receive_event_to_app()
        else:
            self.conn.send_close(POLICY_VIOLATION, "too many messages at once")
            self.handle_parser_exception()
