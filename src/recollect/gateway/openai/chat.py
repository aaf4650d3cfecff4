"""Chat completions: `POST /v1/chat/completions`."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from starlette.datastructures import Headers
from starlette.responses import Response

from recollect.gateway.openai.answers import DONE, Answer, event
from recollect.gateway.openai.completing import Completions
from recollect.gateway.openai.connection import SESSION_HEADER, label_of
from recollect.gateway.openai.conversation import Conversation
from recollect.gateway.openai.errors import body_of
from recollect.gateway.openai.streaming import EventStream, foreseen
from recollect.gateway.openai.wire import Json, Recalled
from recollect.toolkit.context import CallContext

MEMORIES_HEADER = "Recollect-Memories"


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
