"""Keyword search over tools."""

import math
from collections import Counter
from collections.abc import Sequence

from scrubjay.search_index.terms import query_terms, terms
from scrubjay.tooling.declaration import Tool
from scrubjay.tooling.registry import Registry
from scrubjay.tooling.remote_tools import ForeignTool

# A word in the name says more about a tool than one in its description.
NAME_WEIGHT = 3.0


def search(registry: Registry, query: str, family: str | None) -> Sequence[Tool]:
    """Return the tools that share words with the query, weighted by rarity; all tools for an empty query."""
    candidates = [tool for tool in registry if family is None or tool.family == family]
    wanted = query_terms(query)
    if not wanted:
        return candidates
    names = {tool.name: set(terms(f"{tool.name} {tool.family} {tool.title}")) for tool in registry}
    texts = {tool.name: names[tool.name] | set(terms(_description(tool))) for tool in registry}
    occurrences = Counter(term for found in texts.values() for term in found)

    def score(tool: Tool) -> float:
        return sum(
            math.log(1 + len(texts) / occurrences[term]) * (NAME_WEIGHT if term in names[tool.name] else 1.0)
            for term in wanted
            if term in texts[tool.name]
        )

    scores = {tool.name: score(tool) for tool in candidates}
    return sorted((tool for tool in candidates if scores[tool.name]), key=lambda tool: -scores[tool.name])


def _description(tool: Tool) -> str:
    if isinstance(tool, ForeignTool):
        return tool.description
    fields = (f"{name} {field.description or ''}" for name, field in tool.request.model_fields.items())
    return "\n".join([tool.description, *fields])
