"""Texts of a million characters are remembered whole, and recalled as the passage that answers (feature 60)."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.errors import InvalidRequest
from scrubjay.features.memory.tools import MAX_CONTENT
from scrubjay.tooling.context import CallContext
from tests.features.memory.test_passages import CRANE, LIGHTHOUSE, filler

Call = Callable[..., Awaitable[Any]]

BOOK = filler(500_000) + CRANE + "\n" + filler(450_000, seed=1) + LIGHTHOUSE + " " + filler(100_000, seed=2)
WHO, PRICE = "Who inspects the harbour crane?", "How much did she buy the lighthouse for?"


@pytest.fixture
async def call(tmp_path: Path) -> AsyncGenerator[Call]:
    async with running(Settings.model_validate({"home": tmp_path, "transfer": {"folders": [tmp_path]}})) as application:

        async def call(tool: str, **arguments: Any) -> Any:
            return await application.dispatcher.call(tool, arguments, CallContext(surface="python"))

        yield call


async def test_060_a_million_characters_are_remembered_and_recalled_as_a_passage(call: Call) -> None:
    book = await call("remember", content=BOOK, key="book")
    await call("remember", content="The staging database runs on host otter.")
    for question, sentence in ((WHO, CRANE), (PRICE, LIGHTHOUSE)):
        found = await call("recall", query=question)
        (hit,) = [memory for memory in found.memories if memory.id == book.id]
        assert found.memories[0].id == book.id
        assert sentence in hit.content
        assert BOOK[hit.passage.start : hit.passage.end] == hit.content
        assert hit.passage.first_line == BOOK[: hit.passage.start].count("\n") + 1
        assert hit.passage.length == len(BOOK)
        assert found.tokens < 500
    within = await call("recall", query=WHO, token_budget=400)
    assert within.memories[0].id == book.id
    # A text with every word somewhere does not come before the memory that answers.
    first = (await call("recall", query="Which host does the staging database run on?")).memories[0]
    assert first.content == "The staging database runs on host otter."
    assert first.passage is None


async def test_060_a_long_text_is_read_whole_or_in_part_by_its_id(call: Call) -> None:
    book = (await call("remember", content=BOOK)).id
    whole = (await call("read_memory", id=book)).memory
    assert (whole.content, whole.passage) == (BOOK, None)
    part = (await call("read_memory", id=book, start=500_000, length=300)).memory
    assert part.content == BOOK[500_000:500_300]
    assert (part.passage.start, part.passage.end, part.passage.length) == (500_000, 500_300, len(BOOK))
    (listed,) = (await call("list_memories")).memories
    assert BOOK.startswith(listed.content)
    assert len(listed.content) < 2_000


async def test_060_a_long_text_is_corrected_and_erased_as_a_whole(call: Call) -> None:
    book = (await call("remember", content=BOOK)).id
    corrected = await call("correct", what_was_wrong="Olga Brandt", what_is_right="Ida Holm")
    assert [(memory.id, len(memory.content) < 2_000) for memory in corrected.corrected] == [(book, True)]
    assert (await call("read_memory", id=book)).memory.content == BOOK.replace("Olga Brandt", "Ida Holm")
    hits = {memory.id: memory for memory in (await call("recall", query=WHO)).memories}
    assert "Ida Holm" in hits[book].content
    assert len((await call("forget", id=book)).forgotten.content) < 2_000
    assert book not in {memory.id for memory in (await call("recall", query=WHO)).memories}


async def test_060_two_copies_of_a_long_text_are_folded_and_two_different_ones_are_not(call: Call) -> None:
    text = filler(30_000) + CRANE
    await call("remember_many", memories=[{"content": text}, {"content": text}, {"content": f"{text} {LIGHTHOUSE}"}])
    found = (await call("recall", query=WHO)).memories
    assert sorted(len(memory.duplicates) for memory in found) == [0, 1]


async def test_060_a_longer_text_than_the_limit_is_refused(call: Call) -> None:
    with pytest.raises(InvalidRequest, match="2000000"):
        await call("remember", content="x" * (MAX_CONTENT + 1))


async def test_060_a_turn_may_be_long_and_is_found_by_the_passage(call: Call) -> None:
    await call("add_memory", prompt=BOOK[:900_000], thought="", response="Thanks.", sessionId="s")
    (turn,) = (await call("query_raw_memories", query=WHO)).results
    assert CRANE in turn.prompt
    assert len(turn.prompt) < 2_000
    (whole,) = (await call("get_session_memories", sessionId="s")).memories
    assert whole.prompt == BOOK[:900_000]


async def test_060_a_long_text_survives_export_and_import(call: Call, tmp_path: Path) -> None:
    book = (await call("remember", content=BOOK)).id
    await call("export_database", path=str(tmp_path / "all.jsonl"))
    await call("forget", id=book)
    await call("import_database", file=str(tmp_path / "all.jsonl"))
    assert (await call("read_memory", id=book)).memory.content == BOOK


WRITER = """
import anyio, sys
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

async def main():
    async with running(Settings.model_validate({"home": sys.argv[1]})) as application:
        print("ready", flush=True)
        while True:
            text = "A long report. " * 60_000
            await application.dispatcher.call("remember", {"content": text}, CallContext(surface="python"))
            print("stored", flush=True)

anyio.run(main)
"""


def killed_after_one_write(home: Path) -> int:
    """Start a process that writes long texts, kill it during a write, and return the number of confirmed ones."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(home)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(2)]
        os.kill(child.pid, signal.SIGKILL)
        lines += child.stdout.readlines()
    return lines.count("stored\n")


async def test_060_a_killed_process_leaves_a_long_text_whole_or_not_at_all(tmp_path: Path) -> None:
    confirmed = killed_after_one_write(tmp_path)
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        listed: Any = await application.dispatcher.call("list_memories", {}, CallContext(surface="python"))
        health: Any = await application.dispatcher.call("health_check", {}, CallContext(surface="python"))
        lengths = {memory.passage.length for memory in listed.memories}
    assert confirmed <= listed.total <= confirmed + 1
    assert lengths == {15 * 60_000}
    assert health.status == "healthy"
