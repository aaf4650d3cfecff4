"""The tool `extract_facts`, called in applications with and without a language model."""

import json
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import LlmSettings, Settings
from scrubjay.core.errors import NotFound
from scrubjay.tooling.context import CallContext
from tests.models.service import running_service

TURN = {"prompt": "I prefer tabs over spaces.", "thought": "", "response": "Noted.", "sessionId": "s1"}


async def call(app: Application, tool: str, /, **arguments: Any) -> dict[str, Any]:
    return (await app.dispatcher.call(tool, arguments, CallContext(surface="python"))).model_dump(mode="json")


async def test_057_the_extraction_job_returns_ids_without_content(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        turn = (await call(app, "add_memory", **TURN))["id"]
        done = await call(app, "extract_facts", sessionId="s1")
        (fact,) = (await call(app, "recall", query="tabs or spaces?", kinds=["preference"]))["memories"]
        assert (done["state"], done["result"]) == (
            "completed",
            {
                "sessionId": "s1",
                "turns": 1,
                "facts": [
                    {
                        "id": fact["id"],
                        "fact_type": "preference",
                        "turns": [turn],
                        "superseded": [],
                        "conflicts": [],
                    }
                ],
                "restated": [],
                "dropped": 0,
                "method": "extractive",
                "problem": None,
            },
        )
        assert fact["provenance"] == {
            "tool": "extract_facts",
            "surface": "python",
            "job": done["job_id"],
            "method": "extractive",
            "from": [turn],
        }
        with pytest.raises(NotFound):
            await call(app, "extract_facts", sessionId="s2")


async def test_057_facts_of_a_language_model_over_http_are_validated(tmp_path: Path) -> None:
    claimed = {"kind": "preference", "category": "preferences", "turn": 1, "quote": "I prefer tabs", "confidence": 1}
    contents = ["The user prefers tabs over spaces.", "The user hates spaces."]
    with running_service() as service:
        service.reply = lambda body: json.dumps({"facts": [{**claimed, "content": content} for content in contents]})
        settings = Settings(home=tmp_path, llm=LlmSettings(base_url=service.url, model="mine", retries=0))
        async with running(settings) as app:
            await call(app, "add_memory", **TURN)
            done = (await call(app, "extract_facts", sessionId="s1"))["result"]
            found = (await call(app, "recall", query="tabs or spaces?", kinds=["preference"]))["memories"]
        assert (done["method"], done["dropped"], done["problem"]) == ("llm", 1, None)
        assert [memory["content"] for memory in found] == ["The user prefers tabs over spaces."]
        assert [request.path for request in service.requests] == ["/v1/chat/completions"]
