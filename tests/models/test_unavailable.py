"""A model that cannot be made here is unavailable, and says why."""

import pytest

from scrubjay.core.errors import Misconfigured, Unavailable
from scrubjay.models.unavailable import UnusableEmbedder


async def test_it_says_what_is_wrong_and_what_can_be_done() -> None:
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
