"""Responses that are not stored: `POST /v1/responses`."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

from starlette.datastructures import Headers
from starlette.responses import Response

from scrubjay.servers.http.requests import SESSION_HEADER, label_of
from scrubjay.servers.openai.answers import Answer
from scrubjay.servers.openai.chat import headers_of
from scrubjay.servers.openai.completion import OWN_MODELS, Completions
from scrubjay.servers.openai.conversation import Conversation
from scrubjay.servers.openai.errors import body_of
from scrubjay.servers.openai.response_input import chat_body
from scrubjay.servers.openai.response_output import ResponseInTheMaking
from scrubjay.servers.openai.streaming import EventStream, foreseen
from scrubjay.servers.openai.wire import Json, ResponsesRequest, read
from scrubjay.tooling.context import CallContext


class Responses:
    """Answers by chat completions, told in the form of responses."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    async def __call__(self, body: Json, context: CallContext, headers: Headers) -> Response:
        request = read(ResponsesRequest, body)
        conversation = Conversation(chat_body(request, body), label_of(headers, SESSION_HEADER))
        async with AsyncExitStack() as needs:
            answer = await needs.enter_async_context(self._completions.open(conversation, context))
            told = headers_of(answer.recalled)
            making = ResponseInTheMaking(request, body, answer.recalled, conversation.model or OWN_MODELS[0])
            if conversation.streams:
                return EventStream(_events(answer, making, context.request_id), needs.pop_all(), told)
            for _ in making.take(await answer.whole()):
                pass
            for _ in making.end():
                pass
            return Response(json.dumps(making.response), 200, told, "application/json")


async def _events(answer: Answer, making: ResponseInTheMaking, request_id: str) -> AsyncIterator[bytes]:
    for event in making.begin():
        yield event
    try:
        async for chunk in answer.chunks():
            if chunk.data is not None and (error := chunk.data.get("error")):
                yield making.fail(_failure_in(error))
                return
            for event in making.take(chunk.data) if chunk.data is not None else ():
                yield event
    except Exception as error:  # the status is sent already, so the stream itself must tell
        yield making.fail(body_of(foreseen(error, request_id))["error"])
    else:
        for event in making.end():
            yield event


def _failure_in(error: Any) -> Json:
    """What the language model's service says of its failure on the way."""
    fields = cast(Json, error) if isinstance(error, dict) else {"message": error}
    return {"message": str(fields.get("message")), "code": fields.get("code"), "param": fields.get("param")}
