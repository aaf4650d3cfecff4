"""The changes of a job as a stream of server-sent events."""

import logging

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.requests import cancel_when_disconnected
from scrubjay.tooling.job_view import job_view
from scrubjay.tooling.jobs.models import Job
from scrubjay.tooling.jobs.service import JobService

logger = logging.getLogger("scrubjay.rest")

# Shorter than the idle timeouts of common proxies.
KEEP_ALIVE_SECONDS = 15.0


class JobEventStream(Response):
    """Sends one event for each change of a job until it ends. Disconnecting does not stop the job."""

    media_type = "text/event-stream"

    def __init__(self, jobs: JobService, job_id: str) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers()
        self._jobs = jobs
        self._job_id = job_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:

            async def keep_alive() -> None:
                while True:
                    await anyio.sleep(KEEP_ALIVE_SECONDS)
                    await _send_text(send, ": still here\n\n")

            tasks.start_soon(cancel_when_disconnected, receive, tasks.cancel_scope)
            tasks.start_soon(keep_alive)
            await self._send_events(send)
            tasks.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_events(self, send: Send) -> None:
        number = 0
        try:
            async for job in self._jobs.watch(self._job_id):
                number += 1
                await _send_text(send, _event(number, job))
        except ScrubjayError as error:  # the status has been sent, so all that is left is to end the stream
            logger.warning("a job can no longer be watched", extra={"job_id": self._job_id, "outcome": error.code})


def _event(number: int, job: Job) -> str:
    return f"event: job\nid: {number}\ndata: {job_view(job).model_dump_json()}\n\n"


async def _send_text(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
