"""Whether an embedder works, tried with a real text."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.errors import ErrorRecord, RecollectError
from recollect.domain.identifiers import new_id
from recollect.inference.embedding import Embedder

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
    except RecollectError as problem:
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
