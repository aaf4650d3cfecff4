"""Hooks over HTTP: `POST /v1/hooks/{event}` with what an agent tells, answered as the agent wants it."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from recollect.domain.callers import Caller
from recollect.domain.errors import Forbidden, RecollectError
from recollect.domain.hooks import HookAnswer, HookCall, HookEvent
from recollect.gateway.callers import caller_of
from recollect.gateway.circumstances import address_of
from recollect.gateway.edge import request_id_of
from recollect.gateway.hooks.formats import event_named, read_call, written
from recollect.gateway.http_errors import error_response
from recollect.gateway.requests import body_of, object_of
from recollect.monitoring.audit.entry import CALLS
from recollect.monitoring.audit.verdicts import verdict_told

logger = logging.getLogger(CALLS)

PATH: Final = "/v1/hooks/{event}"
# What a caller needs to be allowed for each moment: the families of tools that do the same.
_FAMILIES = {
    HookEvent.PERMISSION: [("permissions", True)],
    HookEvent.SESSION_START: [("sessions", False), ("memory", True)],
    HookEvent.USER_PROMPT_SUBMIT: [("memory", True), ("turns", False)],
    HookEvent.POST_TOOL_USE: [("sessions", False)],
    HookEvent.STOP: [("turns", False)],
}


class HttpHooks:
    """Answers hooks by what it is given to answer them with."""

    def __init__(self, answer: Callable[[HookCall], Awaitable[HookAnswer]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(scope, receive)
        if body is None:
            return
        try:
            event = event_named(scope["path_params"]["event"])
            _refuse(caller_of(scope), event)
            call = read_call(event, object_of(body))
            answer = await self._answer(call)
            if told := verdict_told(call, answer, "hook-http"):
                logger.info("verdict", extra=told | _who(scope))
            response = JSONResponse(written(call, answer))
        except RecollectError as error:
            response = error_response(error, request_id_of(scope))
        await response(scope, receive, send)


def _who(scope: Scope) -> dict[str, str]:
    caller = caller_of(scope)
    known = {"caller": caller.name, "key_id": caller.key_id, "address": address_of(scope)}
    return {"request_id": request_id_of(scope)} | {name: value for name, value in known.items() if value is not None}


def _refuse(caller: Caller, event: HookEvent) -> None:
    for family, read_only in _FAMILIES[event]:
        if not caller.may_call(family, read_only=read_only):
            raise Forbidden(f"the key {caller.name!r} does not open the hook {event}", hint=f"it needs {family}")
