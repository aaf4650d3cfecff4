"""The routes of OpenAI's protocol, and what lives as long as they do."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from scrubjay.features.chat.exchange_recorder import Keeper
from scrubjay.features.chat.recall_context import Recall
from scrubjay.models.chat_proxy import Forwarder, UnusableForwarder
from scrubjay.servers.http.audit_middleware import AuditMiddleware
from scrubjay.servers.openai.chat import Chat
from scrubjay.servers.openai.completion import Completions
from scrubjay.servers.openai.connection import SURFACE, Answering, Endpoint
from scrubjay.servers.openai.embeddings import EmbedderNow, EmbeddingAnswers
from scrubjay.servers.openai.error_shape import ROOTS, NotFoundEndpoint, OpenAIErrors
from scrubjay.servers.openai.from_memory import FromMemory
from scrubjay.servers.openai.model_list import Models
from scrubjay.servers.openai.responses import Responses
from scrubjay.tooling.dispatcher import Dispatcher

# How long a server that stops waits for exchanges to be written.
FINISH_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNames:
    """The tools that this protocol is made of."""

    recall: str
    keep: str
    ask: str
    route: str
    search: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the operator chose."""

    recall_tokens: int
    recall_limit: int
    remember: bool
    any_model: bool


class OpenAIRoutes:
    """Chat completions, responses, embeddings and models."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        tools: ToolNames,
        embedder: EmbedderNow,
        wishes: Wishes,
        forwarder: Forwarder | UnusableForwarder | None,
    ) -> None:
        self._keeper = Keeper(dispatcher, tools.keep)
        self._forwarder = forwarder
        completions = Completions(
            Recall(dispatcher, tools.recall, limit=wishes.recall_limit, tokens=wishes.recall_tokens),
            FromMemory(dispatcher, ask=tools.ask, route=tools.route, search=tools.search),
            forwarder,
            self._keeper if wishes.remember else None,
            any_model=wishes.any_model,
        )
        models = Models(completions, embedder)
        self.routes: Sequence[Route] = [
            _post("/v1/chat/completions", Chat(completions)),
            _post("/v1/responses", Responses(completions)),
            _post("/v1/embeddings", EmbeddingAnswers(embedder)),
            _get("/v1/models", models.list),
            _get("/v1/models/{id:path}", models.get),
            *(Route(f"{root}/{{path:path}}", NotFoundEndpoint()) for root in ROOTS),
        ]

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Inside, requests are answered; at the end what is to be remembered is written."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(FINISH_SECONDS):
                await self._keeper.finish()
            if self._forwarder is not None:
                await self._forwarder.close()


def _post(path: str, answer: Answering) -> Route:
    return Route(path, OpenAIErrors(AuditMiddleware(Endpoint(answer), SURFACE), ["POST"]))


def _get(path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        response = await answer(Request(scope, receive))
        await response(scope, receive, send)

    return Route(path, OpenAIErrors(respond, ["GET", "HEAD"]))
