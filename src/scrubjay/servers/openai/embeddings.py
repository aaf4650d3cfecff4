"""Embeddings by the model in use: `POST /v1/embeddings`."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any, cast

from starlette.datastructures import Headers
from starlette.responses import Response

from scrubjay.models.embedding import Embedder
from scrubjay.models.token_count import count_tokens
from scrubjay.servers.openai.completion import OWN_MODELS
from scrubjay.servers.openai.errors import WrongField, unknown_model
from scrubjay.servers.openai.wire import EmbeddingEntry, Embeddings, EmbeddingsRequest, EmbeddingUsage, Json, read
from scrubjay.tooling.context import CallContext
from scrubjay.tooling.security_events import closed

MAX_TEXTS = 2_048
MAX_CHARACTERS = 100_000
FAMILY = "embeddings"

EmbedderNow = Callable[[], Awaitable[Embedder]]


class EmbeddingAnswers:
    """Tells what texts mean."""

    def __init__(self, embedder: EmbedderNow) -> None:
        self._embedder = embedder

    async def __call__(self, body: Json, context: CallContext, headers: Headers) -> Response:
        if not context.caller.may_call(FAMILY, read_only=True):
            raise closed(
                context.caller, FAMILY, read_only=True, what="embeddings", surface=context.surface, **context.who
            )
        _refuse_tokens(body.get("input"))
        request = read(EmbeddingsRequest, body)
        texts = [request.input] if isinstance(request.input, str) else request.input
        _check(texts)
        embedder = await self._embedder()
        if request.model not in (*OWN_MODELS, embedder.model):
            raise unknown_model(request.model)
        if request.dimensions not in (None, embedder.dimensions):
            raise WrongField(f"{embedder.model} has {embedder.dimensions} dimensions and no others", "dimensions")
        vectors = await embedder.embed(texts)
        tokens = sum(await count_tokens(texts))
        answer = Embeddings(
            data=[
                EmbeddingEntry(
                    index=index, embedding=_written(vector, embedder.dimensions, request.encoding_format == "base64")
                )
                for index, vector in enumerate(vectors)
            ],
            model=embedder.model,
            usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
        )
        return Response(answer.model_dump_json(), media_type="application/json")


def _refuse_tokens(given: Any) -> None:
    if isinstance(given, list) and any(isinstance(entry, int | list) for entry in cast(list[Any], given)):
        raise WrongField("lists of tokens are not taken here, as each model has its own; send texts", "input")


def _check(texts: list[str]) -> None:
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise WrongField(f"input must have 1 to {MAX_TEXTS} texts", "input")
    if any(not text for text in texts):
        raise WrongField("input has an empty text", "input")
    if any(len(text) > MAX_CHARACTERS for text in texts):
        raise WrongField(f"a text of input has more than {MAX_CHARACTERS} characters", "input")


def _written(vector: bytes, dimensions: int, packed: bool) -> list[float] | str:
    """The numbers; zeros for a text that means nothing to the model."""
    import numpy as np

    numbers = np.frombuffer(vector, "<f2").astype("<f4") if vector else np.zeros(dimensions, "<f4")
    return base64.b64encode(numbers.tobytes()).decode() if packed else [float(number) for number in numbers]
