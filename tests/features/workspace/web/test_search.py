"""Web search with a service that has the API of Exa. Numbers are rows of the feature table."""

import json

import pytest
from pydantic import SecretStr

from scrubjay.core.errors import Unavailable
from scrubjay.features.workspace.web.search import WebHit, web_search
from tests.features.workspace.web.local_site import site


async def test_32_the_service_is_called_with_the_key_and_returns_pages() -> None:
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


async def test_32_a_missing_key_is_reported_by_name() -> None:
    with pytest.raises(Unavailable, match=r"^EXA_API_KEY not configured$"):
        await web_search("https://api.exa.ai", None, {"EXA_API_KEY": " "}).search("x", "web")


async def test_32_an_invalid_response_is_reported() -> None:
    with site() as served:
        search = web_search(f"{served.url}/text", None, {"EXA_API_KEY": "key"})
        with pytest.raises(Unavailable):
            await search.search("x", "web")
        await search.close()
