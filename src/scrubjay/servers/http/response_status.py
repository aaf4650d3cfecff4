"""Record the status of a response as it is sent."""

from starlette.types import Message, Send


class StatusRecorder:
    """Passes messages of a response on, and records its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None
        """None until the response starts."""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)
