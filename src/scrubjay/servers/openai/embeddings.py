"""Embeddings with the active embedding model: `POST /v1/embeddings`."""

import base64
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from starlette.datastructures import Headers
from starlette.responses import Response

from scrubjay.core.lazy import lazy_module
from scrubjay.models.embedding import Embedder
from scrubjay.models.token_count import count_tokens
from scrubjay.servers.openai.completion import OWN_MODELS
from scrubjay.servers.openai.errors import InvalidField, unknown_model
from scrubjay.servers.openai.wire import EmbeddingEntry, Embeddings, EmbeddingsRequest, EmbeddingUsage, Json, parse
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.security_events import scope_error

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

MAX_TEXTS = 2_048
MAX_CHARACTERS = 100_000
FAMILY = "embeddings"

EmbedderSource = Callable[[], Awaitable[Embedder]]


class EmbeddingsEndpoint:
    """Returns the embeddings of texts."""

    def __init__(self, embedder: EmbedderSource) -> None:
        self._embedder = embedder

    async def __call__(self, body: Json, context: CallContext, headers: Headers) -> Response:
        if not context.caller.may_call(FAMILY, read_only=True):
            raise scope_error(
                context.caller, FAMILY, read_only=True, what="embeddings", surface=context.surface, **context.who
            )
        _refuse_tokens(body.get("input"))
        request = parse(EmbeddingsRequest, body)
        texts = [request.input] if isinstance(request.input, str) else request.input
        _check_texts(texts)
        embedder = await self._embedder()
        if request.model not in (*OWN_MODELS, embedder.model):
            raise unknown_model(request.model)
        if request.dimensions not in (None, embedder.dimensions):
            raise InvalidField(f"{embedder.model} supports only {embedder.dimensions} dimensions", "dimensions")
        vectors = await embedder.embed(texts)
        tokens = sum(await count_tokens(texts))
        answer = Embeddings(
            data=[
                EmbeddingEntry(
                    index=index, embedding=_encode(vector, embedder.dimensions, request.encoding_format == "base64")
                )
                for index, vector in enumerate(vectors)
            ],
            model=embedder.model,
            usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
        )
        return Response(answer.model_dump_json(), media_type="application/json")


def _refuse_tokens(given: Any) -> None:
    if isinstance(given, list) and any(isinstance(entry, int | list) for entry in cast(list[Any], given)):
        raise InvalidField("lists of tokens are not supported, because tokens depend on the model; send texts", "input")


def _check_texts(texts: list[str]) -> None:
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise InvalidField(f"input must have 1 to {MAX_TEXTS} texts", "input")
    if any(not text for text in texts):
        raise InvalidField("input contains an empty text", "input")
    if any(len(text) > MAX_CHARACTERS for text in texts):
        raise InvalidField(f"a text in input has more than {MAX_CHARACTERS} characters", "input")


def _encode(vector: bytes, dimensions: int, as_base64: bool) -> list[float] | str:
    """Return the vector as numbers or base64; zeros for a text in which the model knows no word."""
    numbers = np.frombuffer(vector, "<f2").astype("<f4") if vector else np.zeros(dimensions, "<f4")
    return base64.b64encode(numbers.tobytes()).decode() if as_base64 else [float(number) for number in numbers]
