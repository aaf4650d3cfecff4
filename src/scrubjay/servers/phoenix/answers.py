"""What a `result` tells of an answer: Mimo's `store`, `query` and `results`, and all else that the tool tells."""

from collections.abc import Mapping
from typing import Any

from scrubjay.core.errors import ScrubjayError
from scrubjay.tooling.job_view import ErrorView


def answer_data(query: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with what all stores found as one list, that of the store which the question belongs to first."""
    primary: str = answer["router_decision"]["primary_store"]
    by_store: Mapping[str, list[dict[str, Any]] | None] = answer["results"]
    stores = sorted(by_store, key=lambda store: store != primary)
    found = [{"store": store, **one} for store in stores for one in by_store[store] or ()]
    return {**answer, "store": primary, "query": query, "results": found}


def error_data(error: ScrubjayError) -> dict[str, Any]:
    return ErrorView.of(error.record).model_dump(mode="json")
