"""Hooks over HTTP: `POST /v1/hooks/{event}` with what an agent tells, answered as the agent wants it."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import ScrubjayError
from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent
from scrubjay.features.monitoring.audit.verdicts import permission_event
from scrubjay.servers.hooks.formats import event_named, read_call, written
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.edge import request_id_of
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.requests import body_of, object_of, requester_of, who_of
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import closed

SURFACE: Final = "hook-http"
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
        body = await body_of(receive)
        if body is None:
            return
        try:
            event = event_named(scope["path_params"]["event"])
            _refuse(scope, event)
            call = read_call(event, object_of(body))
            answer = await self._answer(call)
            if decided := permission_event(call, answer, SURFACE, requester_of(scope)):
                PROCESS_EVENTS.publish(decided)
            response = JSONResponse(written(call, answer))
        except ScrubjayError as error:
            response = error_response(error, request_id_of(scope))
        await response(scope, receive, send)


def _refuse(scope: Scope, event: HookEvent) -> None:
    caller = caller_of(scope)
    for family, read_only in _FAMILIES[event]:
        if not caller.may_call(family, read_only=read_only):
            raise closed(
                caller, family, read_only=read_only, what=f"the hook {event}", surface=SURFACE, **who_of(scope)
            )
