"""Chat completions: `POST /v1/chat/completions`."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from starlette.datastructures import Headers
from starlette.responses import Response

from scrubjay.servers.http.requests import SESSION_HEADER, label_from_headers
from scrubjay.servers.openai.answers import DONE, CompletionAnswer, sse_event
from scrubjay.servers.openai.completion import Completions
from scrubjay.servers.openai.conversation import Conversation
from scrubjay.servers.openai.errors import error_body_of
from scrubjay.servers.openai.streaming import EventStreamResponse, stream_error
from scrubjay.servers.openai.wire import Json, Recalled
from scrubjay.tooling.context import CallContext

MEMORIES_HEADER = "Scrubjay-Memories"


class ChatEndpoint:
    """Answers chat completion requests, complete or streamed."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    async def __call__(self, body: Json, context: CallContext, headers: Headers) -> Response:
        conversation = Conversation(body, label_from_headers(headers, SESSION_HEADER))
        async with AsyncExitStack() as resources:
            answer = await resources.enter_async_context(self._completions.open(conversation, context))
            extra_headers = memory_headers(answer.recalled)
            if conversation.streams:
                return EventStreamResponse(_events(answer, context.request_id), resources.pop_all(), extra_headers)
            return Response(json.dumps(await answer.complete()), 200, extra_headers, "application/json")


def memory_headers(recalled: Recalled) -> dict[str, str]:
    return {MEMORIES_HEADER: ",".join(memory.id for memory in recalled.memories)}


async def _events(answer: CompletionAnswer, request_id: str) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.chunks():
            yield chunk.raw
    except Exception as error:  # the status has been sent, so the error becomes an event
        yield sse_event(error_body_of(stream_error(error, request_id)))
    else:
        yield DONE
