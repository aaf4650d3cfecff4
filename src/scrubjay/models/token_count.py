"""About how many tokens a text has, as the bundled model's tokenizer counts them."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import anyio.to_thread

from scrubjay.models.static_model import Table

if TYPE_CHECKING:
    from tokenizers import Tokenizer


async def count_tokens(texts: Sequence[str]) -> list[int]:
    """Of each text, however long. Other models cut words otherwise, so it is an estimate for them."""
    return await anyio.to_thread.run_sync(_count, texts)


def _count(texts: Sequence[str]) -> list[int]:
    return [len(_tokenizer().encode(text, add_special_tokens=False).ids) for text in texts]


@cache
def _tokenizer() -> "Tokenizer":
    tokenizer = Table().tokenizer
    tokenizer.no_truncation()  # the model reads no more than the beginning, but there is more
    return tokenizer
