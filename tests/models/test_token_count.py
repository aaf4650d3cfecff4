"""Token counts of texts."""

import pytest

from scrubjay.models.token_count import count_tokens


@pytest.mark.parametrize("text", ["word " * 2_000, "[1] " + "word " * 2_000, "灯台" * 1_000])
async def test_all_tokens_of_a_long_text_are_counted(text: str) -> None:
    once, twice = await count_tokens([text, text + text])
    assert once >= 2_000
    assert twice == 2 * once
