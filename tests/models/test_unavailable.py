"""A model that cannot be created is unavailable, with a reason."""

import pytest

from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.models.unavailable import UnusableEmbedder


async def test_the_error_has_a_reason_and_a_hint() -> None:
    embedder = UnusableEmbedder("openai/m", 8, Misconfigured("a key is needed", hint="put it into K"))
    with pytest.raises(Unavailable) as caught:
        await embedder.embed(["text"])
    assert (caught.value.message, caught.value.hint, caught.value.details) == (
        "a key is needed",
        "put it into K",
        {"reason": "misconfigured"},
    )
    assert (embedder.model, embedder.dimensions) == ("openai/m", 8)
    await embedder.close()
