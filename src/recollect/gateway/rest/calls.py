"""Calling a tool by `POST /v1/tools/{name}`: the hot path, so it is plain ASGI."""

import re
from typing import Any, cast

from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.gateway.requests import body_of, context_of, object_of, while_connected
from recollect.toolkit.dispatcher import Dispatcher
from recollect.toolkit.jobview import JobView

# Proxies and clients give up on a silent request after about a minute; the job goes on and can be asked for.
MAX_WAIT_SECONDS = 60

_WAIT = re.compile(r"(?:^|,)\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?=[,;]|$)", re.ASCII | re.IGNORECASE)


class ToolCalls:
    """Answers calls of all tools, listed or not, for as long as their clients stay connected."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(scope, receive)
        if body is None:
            return
        name: str = scope["path_params"]["name"]
        wait = _wait(Headers(scope=scope))
        context = context_of(scope, surface="rest", patience=wait or 0)
        answer = await while_connected(receive, self._dispatcher.call(name, object_of(body), context))
        if answer is not None:
            await self._respond(name, answer, wait)(scope, receive, send)

    def _respond(self, name: str, answer: BaseModel, wait: int | None) -> Response:
        status = 200
        headers: dict[str, str] = {}
        if self._dispatcher.registry.get(name).runs_as_job:
            job = cast(JobView[Any], answer)
            if not job.state.ended:
                status = 202
                headers["Location"] = f"/v1/jobs/{job.job_id}"
            if wait is not None:
                headers["Preference-Applied"] = f"wait={wait}"
        return Response(answer.model_dump_json(by_alias=True), status, headers, "application/json")


def _wait(headers: Headers) -> int | None:
    """The seconds that `Prefer: wait=…` asks for, at most the limit; a preference not understood is none (RFC 7240)."""
    asked = _WAIT.search(", ".join(headers.getlist("prefer")))
    return min(int(asked[1]), MAX_WAIT_SECONDS) if asked else None
