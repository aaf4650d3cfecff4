"""Responses that are not stored: `POST /v1/responses`."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

from starlette.datastructures import Headers
from starlette.responses import Response

from scrubjay.servers.http.requests import SESSION_HEADER, label_from_headers
from scrubjay.servers.openai.answers import CompletionAnswer
from scrubjay.servers.openai.chat import memory_headers
from scrubjay.servers.openai.completion import OWN_MODELS, Completions
from scrubjay.servers.openai.conversation import Conversation
from scrubjay.servers.openai.errors import error_body_of
from scrubjay.servers.openai.response_input import chat_body
from scrubjay.servers.openai.response_output import ResponseBuilder
from scrubjay.servers.openai.streaming import EventStreamResponse, stream_error
from scrubjay.servers.openai.wire import Json, ResponsesRequest, parse
from scrubjay.tooling.context import CallContext


class ResponsesEndpoint:
    """Answers requests of the Responses API by chat completions."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    async def __call__(self, body: Json, context: CallContext, headers: Headers) -> Response:
        request = parse(ResponsesRequest, body)
        conversation = Conversation(chat_body(request, body), label_from_headers(headers, SESSION_HEADER))
        async with AsyncExitStack() as resources:
            answer = await resources.enter_async_context(self._completions.open(conversation, context))
            extra_headers = memory_headers(answer.recalled)
            builder = ResponseBuilder(request, body, answer.recalled, conversation.model or OWN_MODELS[0])
            if conversation.streams:
                return EventStreamResponse(
                    _events(answer, builder, context.request_id), resources.pop_all(), extra_headers
                )
            for _ in builder.add(await answer.complete()):
                pass
            for _ in builder.finish():
                pass
            return Response(json.dumps(builder.response), 200, extra_headers, "application/json")


async def _events(answer: CompletionAnswer, builder: ResponseBuilder, request_id: str) -> AsyncIterator[bytes]:
    for event in builder.start():
        yield event
    try:
        async for chunk in answer.chunks():
            if chunk.data is not None and (error := chunk.data.get("error")):
                yield builder.fail(_upstream_error(error))
                return
            for event in builder.add(chunk.data) if chunk.data is not None else ():
                yield event
    except Exception as error:  # the status has been sent, so the error becomes an event
        yield builder.fail(error_body_of(stream_error(error, request_id))["error"])
    else:
        for event in builder.finish():
            yield event


def _upstream_error(error: Any) -> Json:
    """Return the fields of an error that the language model's service sent within the stream."""
    fields = cast(Json, error) if isinstance(error, dict) else {"message": error}
    return {"message": str(fields.get("message")), "code": fields.get("code"), "param": fields.get("param")}
