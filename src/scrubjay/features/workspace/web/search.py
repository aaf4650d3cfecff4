"""Web search with a service that has the API of Exa."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from pydantic import SecretStr

from scrubjay.core.errors import Unavailable
from scrubjay.models.breakers import BreakerRegistry
from scrubjay.models.endpoint import ServiceEndpoint, find_key, web_address
from scrubjay.models.failures import FailureReason, unavailable
from scrubjay.models.http_client import Upstream

PROVIDER = "exa"
KEY_VARIABLE = "EXA_API_KEY"
SECONDS = 30.0
RETRIES = 2
RESULTS = 10
# Appended to the query of the operation `code`.
CODE_WORDS = " programming code documentation tutorial"
MAX_TEXT_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class WebHit:
    """A search result."""

    title: str
    url: str
    text: str
    score: float | None
    """Score of the service; None if the service returns none."""


@dataclass(frozen=True, slots=True)
class WebSearch:
    """The configured search service."""

    upstream: Upstream | None
    """None if no key is configured; then `search` raises `Unavailable`."""

    async def search(self, query: str, operation: Literal["web", "code"]) -> list[WebHit]:
        if self.upstream is None:
            raise Unavailable(
                f"{KEY_VARIABLE} not configured",
                hint=f"the operator can set {KEY_VARIABLE}, or SCRUBJAY_WEB_SEARCH_KEY",
                details={"reason": "not_configured"},
            )
        body = {"query": query + CODE_WORDS if operation == "code" else query}
        return await self.upstream.ask(body, _hits, within_seconds=SECONDS)

    async def close(self) -> None:
        if self.upstream is not None:
            await self.upstream.close()


def web_search(
    base_url: str, key: SecretStr | None, environment: Mapping[str, str], breakers: BreakerRegistry | None = None
) -> WebSearch:
    """Return the search service at this URL; its key comes from the setting or from the environment."""
    found = find_key(key, KEY_VARIABLE, environment)
    if found is None:
        return WebSearch(None)
    endpoint = ServiceEndpoint(
        provider=PROVIDER,
        url=f"{web_address(base_url)}/search",
        fields={"numResults": RESULTS, "type": "neural", "contents": {"text": True}},
        key=found,
        key_header="x-api-key",
        key_prefix="",
        key_hint=f"check {KEY_VARIABLE}",
        not_found_hint="check SCRUBJAY_WEB_SEARCH_URL",
        refused_hint="change the query",
    )
    breaker = breakers.of("web_search", PROVIDER, endpoint.label) if breakers is not None else None
    return WebSearch(Upstream(endpoint, timeout_seconds=SECONDS, retries=RETRIES, concurrency=8, breaker=breaker))


def _hits(content: bytes) -> list[WebHit]:
    try:
        results = cast(list[dict[str, Any]], json.loads(content)["results"])
        return [
            WebHit(
                str(result.get("title") or ""),
                str(result["url"]),
                str(result.get("text") or "")[:MAX_TEXT_CHARACTERS],
                None if result.get("score") is None else float(result["score"]),
            )
            for result in results
        ]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise unavailable(
            FailureReason.BROKEN_ANSWER, "the response of the search service is invalid", hint="try again later"
        ) from error
