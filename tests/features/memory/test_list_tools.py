"""The tool that lists memories."""

from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest
from scrubjay.tooling.context import CallContext


async def test_4_memories_are_listed_newest_first_in_pages(tmp_path: Path) -> None:
    context = CallContext(surface="python", client="c")
    async with running(Settings.model_validate({"home": tmp_path})) as application:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            return (await application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

        async def list_contents(**arguments: Any) -> list[str]:
            return [memory["content"] for memory in (await call("list_memories", **arguments))["memories"]]

        for number in range(3):
            day = f"2026-01-0{number + 1}T00:00:00Z"
            await call("remember", content=f"fact {number}", occurred_at=day, category=f"c{number % 2}", tags=["a"])
        await call("remember", content="mine", scope="session", session_id="s", fact_type="preference", tags=["a", "b"])
        assert await list_contents() == ["fact 2", "fact 1", "fact 0"]
        assert await list_contents(limit=1, offset=1) == ["fact 1"]
        assert (await call("list_memories", limit=1))["total"] == 3
        assert await list_contents(category="c0") == ["fact 2", "fact 0"]
        assert await list_contents(session_id="s", kinds=["preference"]) == ["mine"]
        assert await list_contents(session_id="s", tags=["b", "a"]) == ["mine"]
        assert await list_contents(session_id="s", from_session="s") == ["mine"]
        assert await list_contents(session_id="s", scope="global") == ["fact 2", "fact 1", "fact 0"]
        with pytest.raises(InvalidRequest):
            await list_contents(limit=201)
