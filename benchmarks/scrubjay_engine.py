"""Scrubjay's code index as an engine: its public tools, called through the dispatcher."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from benchmarks.code_engine import RESULT_LIMIT, Hit, own_cpu
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext


class ScrubjayEngine:
    """Implements `CodeEngine` with one running application, as in a server."""

    def __init__(self, root: Path, home: Path, installed: Path) -> None:
        self._path = {"path": str(root)}
        self._settings = Settings(home=home)
        self._lifetime = AsyncExitStack()
        self._index_id = ""

    async def open(self) -> None:
        self._application = await self._lifetime.enter_async_context(running(self._settings))

    async def index(self) -> None:
        self._index_id = (await self._call("build_repo_index", self._path))["result"]["index_id"]
        # Importance of files and symbols is computed on first use and is part of a complete index.
        await self._call("repo_map", {"index_id": self._index_id})

    async def check_unchanged(self) -> None:
        state = (await self._call("ensure_repo_index", self._path))["state"]
        if state != "completed":
            raise RuntimeError(f"nothing changed, but the index is {state}")

    async def refresh(self) -> None:
        await self._call("build_repo_index", self._path)

    async def search(self, query: str) -> list[Hit]:
        arguments = {"index_id": self._index_id, "query": query, "k": RESULT_LIMIT, "context_lines": 0}
        found = await self._call("search_repo", arguments)
        return [Hit(one["path"], *one["lines"]) for one in found["results"]]

    async def symbol(self, name: str) -> list[Hit]:
        return await self.search(name)

    def cpu(self) -> float:
        return own_cpu()

    async def close(self) -> None:
        await self._lifetime.aclose()

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await self._application.dispatcher.call(tool, arguments, CallContext(surface="python"))
        return answer.model_dump()
