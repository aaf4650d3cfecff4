"""Hooks, answers and chat prompts warn about memories whose linked code has changed."""

import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.features.chat.memory_context import MemoryContextBuilder
from scrubjay.features.hooks.models import HookCall, HookEvent
from scrubjay.tooling.context import CallContext
from tests.features.code_links.repository import Repository

CONTEXT = CallContext(surface="python", client="stale-warnings")
QUESTION = "How does signing work?"
WARNING = "may be out of date: signing.py::sign has changed"


@pytest.fixture
async def stale(tmp_path: Path) -> AsyncGenerator[Application]:
    """An application whose active project has one memory, which is linked to changed code."""
    repository = Repository(tmp_path / "apollo")
    async with running(Settings(home=tmp_path / "home")) as application:

        async def call(tool: str, **arguments: Any) -> None:
            await application.dispatcher.call(tool, arguments, CONTEXT)

        await call("set_project", path=str(repository.root))
        await call("build_repo_index", path=str(repository.root))
        await call("remember", content="Signing works by turning the password around.", about=["signing.py::sign"])
        repository.change("signing.py", "[::-1]", "[::-2]")
        yield application


async def test_a_hook_warns_before_a_stale_memory(stale: Application, tmp_path: Path) -> None:
    response = await stale.answer_hook(
        HookCall(
            event=HookEvent.USER_PROMPT_SUBMIT,
            prompt=QUESTION,
            folders=(str(tmp_path / "apollo"),),
            session_id="s",
        )
    )
    assert response.context is not None
    assert f"- [{WARNING}] Signing works by turning the password around." in response.context


async def test_an_answer_notes_that_its_source_is_stale(stale: Application) -> None:
    answer: Any = await stale.dispatcher.call("ask_mimo", {"query": QUESTION}, CONTEXT)
    assert f"[1] {WARNING}" in answer.notes
    (found,) = answer.results.episodic
    assert found.stale.reason == "changed"


async def test_a_chat_prompt_marks_a_stale_memory(stale: Application) -> None:
    context = await MemoryContextBuilder(stale.dispatcher, "recall", limit=5, tokens=500)(QUESTION, CONTEXT)
    assert context.text is not None
    assert ", may be out of date: sign has changed) Signing works by turning" in context.text


async def test_a_chat_prompt_shows_a_memory_without_code_as_it_is(stale: Application) -> None:
    await stale.dispatcher.call("remember", {"content": "Ada maintains the signing service."}, CONTEXT)
    context = await MemoryContextBuilder(stale.dispatcher, "recall", limit=5, tokens=500)("Who is Ada?", CONTEXT)
    assert context.text is not None
    assert re.search(r"\(\d{4}-\d\d-\d\d\) Ada maintains the signing service\.", context.text)
