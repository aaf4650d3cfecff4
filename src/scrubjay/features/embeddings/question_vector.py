"""Embed a question with the active model."""

import asyncio

from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.features.embeddings.active_models import LoadedModel
from scrubjay.models.choices import IN_PROCESS
from scrubjay.models.failures import FailureReason, unavailable

# Timeout of a query for an in-process model, which may have to be loaded first.
LOCAL_TIMEOUT_SECONDS = 5.0
# Name prefix of static models, which sum the vectors of words without context.
STATIC_MODELS = "static-"


async def embed_query(query: str, model: LoadedModel) -> tuple[bytes, str | None]:
    """Return the vector of a question and None; an empty vector and the reason if the embedder fails or times out."""
    is_local = model.choice.provider in IN_PROCESS
    seconds = LOCAL_TIMEOUT_SECONDS if is_local else model.choice.pace.question_seconds
    try:
        with model.query_breaker.attempt():
            try:
                async with asyncio.timeout(seconds):  # five times faster than an anyio cancel scope
                    (vector,) = await model.embedder.embed([query])
                return vector, None
            except TimeoutError as error:
                message = f"{model.embedder.model} did not answer within {seconds:g} s"
                raise unavailable(FailureReason.TIMEOUT, message, hint="check that the service is up") from error
            except (Unavailable, InvalidRequest) as error:  # the embedder counts its own failures
                problem = error
    except Unavailable as error:
        problem = error
    return b"", f"searched by words only: {problem.message}"
