"""Whether an embedder works, tried with a real text."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scrubjay.core.errors import ErrorRecord, ScrubjayError, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.models.choices import IN_PROCESS, EmbeddingChoice
from scrubjay.models.embedding import Embedder
from scrubjay.models.providers import known_dimensions

_SAMPLE_LENGTH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was found."""

    available: bool
    model: str
    dimensions: int
    milliseconds: float
    """From the question to the answer."""
    sample: Sequence[float]
    """The first numbers of the vector; none when there was no vector."""
    error: ErrorRecord | None


async def examine(embedder: Embedder) -> Examination:
    """Embed a text that was never embedded before, so that no cache can answer for a model that does not."""
    import numpy as np

    error: ErrorRecord | None = None
    sample: list[float] = []
    begun = time.perf_counter()
    try:
        (vector,) = await embedder.embed([f"Does this model understand the test {new_id('test')}?"])
    except ScrubjayError as problem:
        error = problem.record
    else:
        sample = [float(number) for number in np.frombuffer(vector, "<f2")[:_SAMPLE_LENGTH]]
    return Examination(
        available=error is None,
        model=embedder.model,
        dimensions=embedder.dimensions,
        milliseconds=(time.perf_counter() - begun) * 1000,
        sample=sample,
        error=error,
    )


async def measured(choice: EmbeddingChoice, make: Callable[[EmbeddingChoice], Embedder]) -> EmbeddingChoice:
    """The choice with the length of its vectors; of a model that is not known, that is found out by asking."""
    if known_dimensions(choice) or choice.provider in IN_PROCESS:
        return choice
    guessed = replace(choice, dimensions=1)
    embedder = make(guessed)
    try:
        await embedder.embed(["How long is the vector of this text?"])
    except Unavailable as error:
        if (found := error.details.get("found")) is None:
            raise
        return replace(choice, dimensions=found)
    finally:
        await embedder.close()
    return guessed
