"""Memories beside code need the scope of memories, and code beside memories that of code."""

from typing import Any

from scrubjay.core.callers import Caller
from tests.features.code_links.repository import Repository, ToolClient

TEXT = "Signing turns the text around."


async def answer(client: ToolClient, scopes: str, tool: str, **arguments: Any) -> str:
    return str(await client.with_caller(Caller("key", frozenset(scopes.split())))(tool, **arguments))


async def test_15_memories_beside_code_need_the_scope_of_memories(client: ToolClient, repository: Repository) -> None:
    await client("remember", content=TEXT, about=["signing.py::sign"])
    index_id = (await client("ensure_repo_index", path=str(repository.root)))["index_id"]
    for tool, arguments in (
        ("semantic_code_search", {"query": "sign"}),
        ("search_repo", {"index_id": index_id, "query": "sign"}),
        ("get_symbols", {"file_path": "signing.py"}),
        ("search_repos", {"query": "sign", "index_ids": [index_id]}),
    ):
        assert TEXT not in await answer(client, "code projects", tool, **arguments), tool
        assert TEXT in await answer(client, "code projects memory:read", tool, **arguments), tool


async def test_15_the_difference_of_code_needs_the_scope_of_code(client: ToolClient, repository: Repository) -> None:
    stored = await client("remember", content=TEXT, about=["signing.py::sign"])
    repository.change("signing.py", "[::-1]", "[::-2]")
    for tool, arguments in (("recall", {"query": "signing"}), ("review_stale", {"action": "list"})):
        without = await answer(client, "memory", tool, **arguments)
        assert stored["id"] in without
        assert "'reason': 'changed'" in without
        assert "[::-2]" not in without
        assert "[::-2]" in await answer(client, "memory code:read", tool, **arguments)
