"""Estimate token counts with the bundled model's tokenizer."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import anyio.to_thread

from scrubjay.models.static_model import EmbeddingTable

if TYPE_CHECKING:
    from tokenizers import Tokenizer


async def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text; an estimate for other models, whose tokenizers differ."""
    return await anyio.to_thread.run_sync(_count, texts)


def _count(texts: Sequence[str]) -> list[int]:
    return [len(_tokenizer().encode(text, add_special_tokens=False).ids) for text in texts]


@cache
def _tokenizer() -> "Tokenizer":
    tokenizer = EmbeddingTable().tokenizer
    tokenizer.no_truncation()  # count the whole text, though the model reads only the beginning
    return tokenizer
