"""The payload of `result` events: Mimo's `store`, `query` and `results`, and all fields of the tool's result."""

from collections.abc import Mapping
from typing import Any

from scrubjay.core.errors import ScrubjayError
from scrubjay.tooling.job_view import ErrorView


def result_payload(query: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer with the results of all stores as one list, those of the primary store first."""
    primary: str = answer["router_decision"]["primary_store"]
    by_store: Mapping[str, list[dict[str, Any]] | None] = answer["results"]
    stores = sorted(by_store, key=lambda store: store != primary)
    found = [{"store": store, **one} for store in stores for one in by_store[store] or ()]
    return {**answer, "store": primary, "query": query, "results": found}


def error_payload(error: ScrubjayError) -> dict[str, Any]:
    return ErrorView.of(error.record).model_dump(mode="json")
