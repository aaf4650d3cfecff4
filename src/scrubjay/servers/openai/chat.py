"""Chat completions: `POST /v1/chat/completions`."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from starlette.datastructures import Headers
from starlette.responses import Response

from scrubjay.servers.http.requests import SESSION_HEADER, label_of
from scrubjay.servers.openai.answers import DONE, Answer, event
from scrubjay.servers.openai.completion import Completions
from scrubjay.servers.openai.conversation import Conversation
from scrubjay.servers.openai.errors import body_of
from scrubjay.servers.openai.streaming import EventStream, foreseen
from scrubjay.servers.openai.wire import Json, Recalled
from scrubjay.tooling.context import CallContext

MEMORIES_HEADER = "Scrubjay-Memories"


class Chat:
    """Continues conversations."""

    def __init__(self, completions: Completions) -> None:
        self._completions = completions

    async def __call__(self, body: Json, context: CallContext, headers: Headers) -> Response:
        conversation = Conversation(body, label_of(headers, SESSION_HEADER))
        async with AsyncExitStack() as needs:
            answer = await needs.enter_async_context(self._completions.open(conversation, context))
            told = headers_of(answer.recalled)
            if conversation.streams:
                return EventStream(_events(answer, context.request_id), needs.pop_all(), told)
            return Response(json.dumps(await answer.whole()), 200, told, "application/json")


def headers_of(recalled: Recalled) -> dict[str, str]:
    return {MEMORIES_HEADER: ",".join(memory.id for memory in recalled.memories)}


async def _events(answer: Answer, request_id: str) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.chunks():
            yield chunk.raw
    except Exception as error:  # the status is sent already, so the stream itself must tell
        yield event(body_of(foreseen(error, request_id)))
    else:
        yield DONE
