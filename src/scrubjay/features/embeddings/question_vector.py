"""The vector of a question, from the model that answers now."""

import asyncio

from scrubjay.core.errors import InvalidRequest, Unavailable
from scrubjay.features.embeddings.active_models import ModelInUse
from scrubjay.models.choices import IN_PROCESS
from scrubjay.models.failures import Reason, unavailable

# A question waits no longer than this for a model of this machine, which may have to be loaded.
LOCAL_PATIENCE_SECONDS = 5.0
# What the names of models begin with that add up words without reading them in their context.
STATIC_MODELS = "static-"


async def meaning_of(query: str, model: ModelInUse) -> tuple[bytes, str | None]:
    """The question's vector; none, and why not, when the embedder fails or takes too long."""
    is_local = model.choice.provider in IN_PROCESS
    seconds = LOCAL_PATIENCE_SECONDS if is_local else model.choice.pace.question_seconds
    try:
        with model.questions.attempt():
            try:
                async with asyncio.timeout(seconds):  # which costs a fifth of a scope of anyio's
                    (vector,) = await model.embedder.embed([query])
                return vector, None
            except TimeoutError as error:
                message = f"{model.embedder.model} did not answer within {seconds:g} s"
                raise unavailable(Reason.TIMEOUT, message, hint="see whether the service is up") from error
            except (Unavailable, InvalidRequest) as error:  # which it counts itself
                problem = error
    except Unavailable as error:
        problem = error
    return b"", f"searched by words only: {problem.message}"
