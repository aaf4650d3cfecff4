"""Hooks over HTTP: `POST /v1/hooks/{event}` with the agent's JSON, answered in the agent's format."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from scrubjay.core.errors import Forbidden, ScrubjayError, Unauthenticated
from scrubjay.features.hooks.models import HookAnswer, HookCall, HookEvent
from scrubjay.features.monitoring.audit.verdicts import verdict_of
from scrubjay.servers.hooks.formats import format_answer, format_undecided, parse_call, parse_event
from scrubjay.servers.http.callers import caller_of
from scrubjay.servers.http.errors import error_response
from scrubjay.servers.http.refusals import AnsweredRefusal, RefusalFormat
from scrubjay.servers.http.request_metadata import request_id_of
from scrubjay.servers.http.requests import parse_object, read_body, requester_fields_of, requester_of
from scrubjay.tooling.events import PermissionDecided
from scrubjay.tooling.process_events import PROCESS_EVENTS
from scrubjay.tooling.security_events import scope_error

SURFACE: Final = "hook-http"
PATH: Final = "/v1/hooks/{event}"
# Tool family whose read scope allows reading tasks and goals.
PLANS: Final = "planning"
# The scopes that a caller needs for each event: the families of the tools that do the same, and whether they only read.
_FAMILIES = {
    HookEvent.PERMISSION: [("permissions", True)],
    HookEvent.SESSION_START: [("sessions", False), ("memory", True)],
    HookEvent.USER_PROMPT_SUBMIT: [("memory", True), ("turns", False)],
    HookEvent.POST_TOOL_USE: [("sessions", False)],
    HookEvent.STOP: [("turns", False)],
}


logger = logging.getLogger("scrubjay.hooks")


def answer_refusal(error: ScrubjayError, _: int, __: str) -> AnsweredRefusal | None:
    """Answer `ask` to a permission call that the server refuses before reading it, except for a missing or wrong key.

    An agent takes every other status than 200 for a hook without an opinion, and makes the call.
    """
    if isinstance(error, Unauthenticated | Forbidden):
        return None
    return AnsweredRefusal(format_undecided(b"", error.message))


REFUSAL_FORMATS: Final[Mapping[str, RefusalFormat]] = {PATH.format(event=HookEvent.PERMISSION): answer_refusal}


class HookEndpoint:
    """Parses the call of a hook, checks the caller's scopes and passes the call to `answer`."""

    def __init__(self, answer: Callable[[HookCall], Awaitable[HookAnswer]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive)
        if body is None:
            return
        try:
            event = parse_event(scope["path_params"]["event"])
            _check_scopes(scope, event)
            response = JSONResponse(await self._answer_event(event, scope, body))
        except ScrubjayError as error:
            response = error_response(error, request_id_of(scope))
        await response(scope, receive, send)

    async def _answer_event(self, event: HookEvent, scope: Scope, body: bytes) -> dict[str, Any]:
        """Return the answer in the agent's format; `ask` for a permission that cannot be decided for any reason."""
        try:
            caller = caller_of(scope)
            call = parse_call(event, parse_object(body))
            call = replace(call, with_plans=caller.may_read(PLANS), code_reader=caller)
            answer = await self._answer(call)
            if verdict := verdict_of(call, answer):
                decided = PermissionDecided(**verdict._asdict(), surface=SURFACE, requester=requester_of(scope))
                PROCESS_EVENTS.publish(decided)
            return format_answer(call, answer)
        except Exception as error:
            if event is not HookEvent.PERMISSION:
                raise
            if isinstance(error, ScrubjayError):
                return format_undecided(body, error.message)
            logger.error("a permission was not decided", extra={"problem": type(error).__name__})
            return format_undecided(body, f"the server failed unexpectedly ({type(error).__name__})")


def _check_scopes(scope: Scope, event: HookEvent) -> None:
    caller = caller_of(scope)
    for family, read_only in _FAMILIES[event]:
        if not caller.may_call(family, read_only=read_only):
            raise scope_error(
                caller,
                family,
                read_only=read_only,
                what=f"the hook {event}",
                surface=SURFACE,
                **requester_fields_of(scope),
            )
