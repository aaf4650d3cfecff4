"""The routes of OpenAI's protocol and their lifespan."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from scrubjay.features.chat.exchange_recorder import ExchangeRecorder
from scrubjay.features.chat.memory_context import MemoryContextBuilder
from scrubjay.models.chat_proxy import ChatProxy, UnusableChatProxy
from scrubjay.servers.http.audit_middleware import AuditMiddleware
from scrubjay.servers.openai.chat import ChatEndpoint
from scrubjay.servers.openai.completion import Completions
from scrubjay.servers.openai.embeddings import EmbedderSource, EmbeddingsEndpoint
from scrubjay.servers.openai.error_middleware import ROOTS, OpenAIErrorMiddleware, OpenAINotFoundEndpoint
from scrubjay.servers.openai.from_memory import MemoryResponder
from scrubjay.servers.openai.json_endpoint import SURFACE, JsonEndpoint, RequestHandler
from scrubjay.servers.openai.model_list import ModelEndpoints
from scrubjay.servers.openai.responses import ResponsesEndpoint
from scrubjay.tooling.dispatcher import Dispatcher

# Seconds for which a stopping server waits until all exchanges are recorded.
DRAIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNames:
    """The names of the tools that this protocol calls."""

    recall: str
    record: str
    ask: str
    route: str
    search: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """The operator's settings."""

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
        embedder: EmbedderSource,
        options: OpenAIOptions,
        forwarder: ChatProxy | UnusableChatProxy | None,
    ) -> None:
        self._recorder = ExchangeRecorder(dispatcher, tools.record)
        self._forwarder = forwarder
        completions = Completions(
            MemoryContextBuilder(dispatcher, tools.recall, limit=options.recall_limit, tokens=options.recall_tokens),
            MemoryResponder(dispatcher, ask=tools.ask, route=tools.route, search=tools.search),
            forwarder,
            self._recorder if options.remember else None,
            any_model=options.any_model,
        )
        models = ModelEndpoints(completions, embedder)
        self.routes: Sequence[Route] = [
            _post("/v1/chat/completions", ChatEndpoint(completions)),
            _post("/v1/responses", ResponsesEndpoint(completions)),
            _post("/v1/embeddings", EmbeddingsEndpoint(embedder)),
            _get("/v1/models", models.list),
            _get("/v1/models/{id:path}", models.get),
            *(Route(f"{root}/{{path:path}}", OpenAINotFoundEndpoint()) for root in ROOTS),
        ]

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Keep the routes usable inside the context; at its end, record the exchanges that are still pending."""
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(DRAIN_SECONDS):
                await self._recorder.drain()
            if self._forwarder is not None:
                await self._forwarder.close()


def _post(path: str, answer: RequestHandler) -> Route:
    return Route(path, OpenAIErrorMiddleware(AuditMiddleware(JsonEndpoint(answer), SURFACE), ["POST"]))


def _get(path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        response = await answer(Request(scope, receive))
        await response(scope, receive, send)

    return Route(path, OpenAIErrorMiddleware(respond, ["GET", "HEAD"]))
