"""About how many tokens a text has, as the bundled model's tokenizer counts them."""

from collections.abc import Sequence
from functools import cache

import anyio.to_thread

from recollect.inference.static_model import Table


async def count_tokens(texts: Sequence[str]) -> list[int]:
    """Of each text. Other models cut words otherwise, so it is an estimate for them."""
    return await anyio.to_thread.run_sync(_count, texts)


def _count(texts: Sequence[str]) -> list[int]:
    return [len(_table().ids(text)) for text in texts]


@cache
def _table() -> Table:
    return Table()
