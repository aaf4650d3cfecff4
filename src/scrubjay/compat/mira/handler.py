"""One address under `/api`: answers while its client stays, and refuses in Mira's form."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from scrubjay.compat.mira.clients import default_client
from scrubjay.compat.mira.envelope import failure
from scrubjay.compat.mira.event_wire import Json
from scrubjay.core.error_location import place_of
from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import unforeseen
from scrubjay.servers.http.requests import body_of, context_of, object_of, while_connected
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.validation import printable

logger = logging.getLogger("scrubjay.mira")

SURFACE: Final = "mira"
# A job that takes longer is handed back.
PATIENCE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it was sent."""

    body: Json
    query: QueryParams
    path: Mapping[str, str]
    headers: Headers
    context: CallContext


Answering = Callable[[Asked], Awaitable[Response]]


class Door:
    """Answers at one address, by the method of the request."""

    def __init__(self, answers: Mapping[str, Answering]) -> None:
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answers.get(scope["method"])
        if answer is None:
            await self._refuse_method(scope)(scope, receive, send)
            return
        body = await body_of(receive)
        if body is not None:
            await while_connected(receive, self._respond(answer, body, scope, receive, send))

    async def _respond(self, answer: Answering, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await answer(_asked(scope, body))
        except ScrubjayError as error:
            response = failure(error)
        except Exception as error:  # a bug: its message may quote the request, so only the place is logged
            request_id = request_id_of(scope)
            logger.error("a request broke", extra={"request_id": request_id, **place_of(error)})
            response = failure(unforeseen(error, request_id))
        await response(scope, receive, send)

    def _refuse_method(self, scope: Scope) -> Response:
        allowed = ", ".join(sorted(self._answers))
        path, method = printable(scope["path"]), printable(scope["method"])
        response = failure(InvalidRequest(f"{path} does not take {method}", hint=f"it takes {allowed}"), 405)
        response.headers["Allow"] = allowed
        return response


class Nowhere:
    """Answers where there is nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = NotFound(f"there is nothing at {printable(scope['path'])}", hint="/docs shows what there is")
        await failure(refusal, 404)(scope, receive, send)


def _asked(scope: Scope, body: bytes) -> Asked:
    client = default_client(caller_of(scope))
    return Asked(
        body=object_of(body),
        query=QueryParams(scope["query_string"]),
        path=scope.get("path_params", {}),
        headers=Headers(scope=scope),
        context=context_of(scope, surface=SURFACE, patience=PATIENCE_SECONDS, client=client),
    )
