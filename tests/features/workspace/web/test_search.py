"""Searching the web by a service that speaks as Exa does. Numbers are rows of the feature table."""

import json

import pytest
from pydantic import SecretStr

from scrubjay.core.errors import Unavailable
from scrubjay.features.workspace.web.search import WebHit, web_search
from tests.features.workspace.web.serving import site


async def test_32_pages_are_found_by_the_service_with_the_key() -> None:
    with site() as served:
        search = web_search(served.url, SecretStr("the-key"), {})
        assert await search.search("elixir", "web") == [
            WebHit("T", "https://e.com", "words", 0.5),
            WebHit("", "https://f.com", "", None),
        ]
        await search.search("elixir", "code")
        await search.close()
        first, second = served.requests
        assert first.headers["x-api-key"] == "the-key"
        assert json.loads(first.body) == {
            "query": "elixir",
            "numResults": 10,
            "type": "neural",
            "contents": {"text": True},
        }
        assert json.loads(second.body)["query"] == "elixir programming code documentation tutorial"


async def test_32_without_a_key_it_is_told_which_is_missing() -> None:
    with pytest.raises(Unavailable, match=r"^EXA_API_KEY not configured$"):
        await web_search("https://api.exa.ai", None, {"EXA_API_KEY": " "}).search("x", "web")


async def test_32_an_answer_that_is_none_is_told() -> None:
    with site() as served:
        search = web_search(f"{served.url}/text", None, {"EXA_API_KEY": "key"})
        with pytest.raises(Unavailable):
            await search.search("x", "web")
        await search.close()
