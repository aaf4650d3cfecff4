"""Test an embedder with a real request."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.core.errors import ErrorRecord, ScrubjayError, Unavailable
from scrubjay.core.ids import new_id
from scrubjay.core.lazy import lazy_module
from scrubjay.models.choices import IN_PROCESS, EmbeddingChoice
from scrubjay.models.embedding import Embedder
from scrubjay.models.providers import known_dimensions

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

_SAMPLE_LENGTH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of a test request."""

    available: bool
    model: str
    dimensions: int
    milliseconds: float
    """Time from the request to the response."""
    sample: Sequence[float]
    """The first numbers of the vector; empty without a vector."""
    error: ErrorRecord | None


async def probe(embedder: Embedder) -> ProbeResult:
    """Embed a unique text, so that no cache can answer for a model that does not work."""
    error: ErrorRecord | None = None
    sample: list[float] = []
    begun = time.perf_counter()
    try:
        (vector,) = await embedder.embed([f"Does this model understand the test {new_id('test')}?"])
    except ScrubjayError as problem:
        error = problem.record
    else:
        sample = [float(number) for number in np.frombuffer(vector, "<f2")[:_SAMPLE_LENGTH]]
    return ProbeResult(
        available=error is None,
        model=embedder.model,
        dimensions=embedder.dimensions,
        milliseconds=(time.perf_counter() - begun) * 1000,
        sample=sample,
        error=error,
    )


async def with_dimensions(choice: EmbeddingChoice, make: Callable[[EmbeddingChoice], Embedder]) -> EmbeddingChoice:
    """Return the choice with the length of its vectors, which for an unknown model takes a request."""
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
