"""Searching the web by a service that speaks as Exa does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import SecretStr

from scrubjay.core.errors import Unavailable
from scrubjay.models.breakers import Breakers
from scrubjay.models.endpoint import Endpoint, find_key, web_address
from scrubjay.models.failures import Reason, unavailable
from scrubjay.models.http_client import Upstream

PROVIDER = "exa"
KEY_VARIABLE = "EXA_API_KEY"
SECONDS = 30.0
RETRIES = 2
RESULTS = 10
# What is looked for with code in mind.
CODE_WORDS = " programming code documentation tutorial"
LONGEST_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class WebHit:
    """A page that was found."""

    title: str
    url: str
    text: str
    score: float | None
    """As the service gives it; it gives none to some."""


@dataclass(frozen=True, slots=True)
class WebSearch:
    """A service that searches, if there is a key for it."""

    upstream: Upstream | None

    async def search(self, query: str, operation: Literal["web", "code"]) -> list[WebHit]:
        if self.upstream is None:
            raise Unavailable(
                f"{KEY_VARIABLE} not configured",
                hint=f"the operator can set {KEY_VARIABLE}, or SCRUBJAY_WEB_SEARCH_KEY",
                details={"reason": "not_configured"},
            )
        asked = {"query": query + CODE_WORDS if operation == "code" else query}
        return await self.upstream.ask(asked, _hits, within_seconds=SECONDS)

    async def close(self) -> None:
        if self.upstream is not None:
            await self.upstream.close()


def web_search(
    base_url: str, key: SecretStr | None, environment: Mapping[str, str], breakers: Breakers | None = None
) -> WebSearch:
    """The service at this address; none without a key."""
    found = find_key(key, KEY_VARIABLE, environment)
    if found is None:
        return WebSearch(None)
    endpoint = Endpoint(
        provider=PROVIDER,
        url=f"{web_address(base_url)}/search",
        fields={"numResults": RESULTS, "type": "neural", "contents": {"text": True}},
        key=found,
        key_header="x-api-key",
        key_prefix="",
        key_hint=f"see whether {KEY_VARIABLE} is right",
        not_found_hint="see whether SCRUBJAY_WEB_SEARCH_URL is right",
        refused_hint="ask otherwise",
    )
    breaker = breakers.of("web_search", PROVIDER, endpoint.place) if breakers is not None else None
    return WebSearch(Upstream(endpoint, timeout_seconds=SECONDS, retries=RETRIES, concurrency=8, breaker=breaker))


def _hits(content: bytes) -> list[WebHit]:
    try:
        results = cast(list[dict[str, Any]], json.loads(content)["results"])
        return [
            WebHit(
                str(one.get("title") or ""),
                str(one["url"]),
                str(one.get("text") or "")[:LONGEST_TEXT],
                None if one.get("score") is None else float(one["score"]),
            )
            for one in results
        ]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise unavailable(
            Reason.BROKEN_ANSWER, "the search service's answer is not understood", hint="try again later"
        ) from error
