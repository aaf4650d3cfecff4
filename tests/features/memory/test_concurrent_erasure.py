"""Memories erased while a summary or fact is derived from them do not reappear in the result."""

import json
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.features.facts.llm_facts import LlmFactExtractor
from scrubjay.features.facts.service import FactExtractor
from scrubjay.features.memory.models import Memory, MemoryFilter, MemoryKind
from scrubjay.features.summaries.llm_summaries import LlmSummariser
from scrubjay.features.summaries.models import Level
from scrubjay.features.summaries.service import Summariser, SummariseResult
from scrubjay.models.chat_completions import ChatCompleter, completer_for
from scrubjay.models.choices import CompletionChoice
from tests.features.facts.test_service import FROM, HERE
from tests.features.memory.test_erasure import QUIET, ErasureServices, files_containing
from tests.features.summaries.test_service import answer
from tests.models.service import Service, running_service

TIMEOUT_SECONDS = 20


class SlowModel:
    """A language model service whose responses a test can delay."""

    def __init__(self, llm_service: Service) -> None:
        self.request_received = threading.Event()
        self.is_blocking = False
        """If true, responses wait until `run_during_request` releases them."""
        self._released = threading.Event()
        self._service = llm_service
        llm_service.reply = self._answer

    @property
    def prompts(self) -> list[str]:
        return [request.body["messages"][-1]["content"] for request in self._service.requests]

    async def run_during_request(self, work: Callable[[], Any]) -> None:
        """Run `work` after the model has received a request and before it responds."""
        with anyio.fail_after(TIMEOUT_SECONDS):
            await anyio.to_thread.run_sync(self.request_received.wait, TIMEOUT_SECONDS)
        await work()
        self.is_blocking = False
        self._released.set()

    def _answer(self, body: Mapping[str, Any]) -> str:
        """Return a summary or a fact that quotes axolotls if the prompt mentions them."""
        prompt = body["messages"][-1]["content"]
        if self.is_blocking:
            self.request_received.set()
            self._released.wait(TIMEOUT_SECONDS)
        quotes = "axolotl" in prompt
        if "facts" in json.dumps(body.get("response_format", {})):
            fact = {"content": "I prefer axolotls over dogs.", "quote": "I prefer axolotls over dogs.", "turn": 1}
            more = {"kind": "preference", "category": "tooling", "subject": "pets of the user", "confidence": 1}
            return json.dumps({"facts": [fact | more] if quotes else []})
        about = "axolotls" if quotes else "plants"
        return answer(title=f"About {about}", summary=f"It was all about {about}.")


@pytest.fixture
def llm_service() -> Generator[Service]:
    with running_service() as running:
        yield running


@pytest.fixture
async def services(tmp_path: Path) -> AsyncGenerator[ErasureServices]:
    store = await SqliteStore.open(tmp_path)
    yield ErasureServices(store)
    await store.close()


@pytest.fixture
async def completer(llm_service: Service) -> AsyncGenerator[ChatCompleter]:
    completer = completer_for(CompletionChoice(base_url=llm_service.url, model="a-model"), {})
    yield completer
    await completer.close()


def make_summariser(services: ErasureServices, completer: ChatCompleter) -> Summariser:
    store = services.store
    return Summariser(
        store.summaries, store.memories, services.memories, LlmSummariser(completer), clock=services.clock
    )


async def stored_memories(services: ErasureServices, *kinds: MemoryKind) -> list[Memory]:
    return [*await services.page(HERE, MemoryFilter(kinds=kinds))]


async def test_098_a_summary_is_rewritten_without_a_turn_that_was_erased_during_the_run(
    services: ErasureServices, llm_service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await services.turn("Build the axolotl aquarium.", "I built it.")
    await services.turn("Add plants to it.", "I added plants.")
    model, summariser, results = SlowModel(llm_service), make_summariser(services, completer), list[SummariseResult]()

    async def summarise() -> None:
        results.append(await summariser.summarise_session("s1", HERE, FROM, QUIET))

    async with anyio.create_task_group() as tasks:
        model.is_blocking = True
        tasks.start_soon(summarise)
        await model.run_during_request(lambda: services.forget(turn))
    assert ["axolotl" in prompt for prompt in model.prompts] == [True, False]
    (summary,) = results[0].sessions
    assert (summary.details["title"], summary.details["method"], summary.details["turns"]) == ("About plants", "llm", 2)
    assert [memory.id for memory in await stored_memories(services, MemoryKind.SUMMARY)] == [summary.id]
    assert files_containing(tmp_path, "axolotl") == []


async def test_098_a_session_without_turns_gets_no_summary(
    services: ErasureServices, llm_service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await services.turn("Build the axolotl aquarium.", "I built it.")
    model, summariser, results = SlowModel(llm_service), make_summariser(services, completer), list[SummariseResult]()

    async def summarise() -> None:
        results.append(await summariser.summarise_all(HERE, FROM, QUIET))

    async with anyio.create_task_group() as tasks:
        model.is_blocking = True
        tasks.start_soon(summarise)
        await model.run_during_request(lambda: services.forget(turn))
    assert (results[0].sessions, results[0].failed) == ([], [])
    assert files_containing(tmp_path, "axolotl") == []


async def test_057_a_day_summary_omits_a_session_summary_erased_during_the_run(
    services: ErasureServices, llm_service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await services.turn("Build the axolotl aquarium.", "I built it.")
    await services.turn("Add plants to the garden.", "I added plants.", session="s2")
    model, summariser, results = SlowModel(llm_service), make_summariser(services, completer), list[SummariseResult]()
    for session in ("s1", "s2"):
        await summariser.summarise_session(session, HERE, FROM, QUIET)
    services.clock.now += timedelta(days=1)

    async def summarise() -> None:
        results.append(await summariser.summarise_all(HERE, FROM, QUIET))

    async with anyio.create_task_group() as tasks:
        model.is_blocking = True
        tasks.start_soon(summarise)
        await model.run_during_request(lambda: services.forget(turn))
    (day,) = [memory for memory in results[0].periods if memory.details["level"] == Level.DAY]
    (other,) = [memory for memory in await stored_memories(services, MemoryKind.SUMMARY) if memory.key == "summary:s2"]
    assert (day.provenance["from"], results[0].failed) == ([other.id], [])
    assert files_containing(tmp_path, "axolotl") == []


async def test_057_a_fact_of_a_turn_erased_during_extraction_is_not_stored(
    services: ErasureServices, llm_service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await services.turn("I prefer axolotls over dogs.")
    await services.turn("My name is Ada.")
    store = services.store
    extractor = FactExtractor(store.summaries, store.memories, services.memories, LlmFactExtractor(completer))
    model = SlowModel(llm_service)

    async with anyio.create_task_group() as tasks:
        model.is_blocking = True
        tasks.start_soon(services.extract, "s1", extractor)
        await model.run_during_request(lambda: services.forget(turn))
    assert (await services.facts(), files_containing(tmp_path, "axolotl")) == ([], [])
    assert (await services.extract("s1", extractor)).turns == 1, "the other turn is read again"


async def test_memories_derived_during_the_erasure_are_erased_too(
    services: ErasureServices, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A summary is stored after the eraser has searched for summaries and before it erases."""
    turn = await services.turn("I prefer axolotls over dogs. Build the aquarium.", "I built the axolotl aquarium.")
    delete = services.store.memories.delete

    async def erase_before(*arguments: Any) -> Any:
        monkeypatch.undo()
        await services.summariser.summarise_session("s1", HERE, FROM, QUIET)
        return await delete(*arguments)

    monkeypatch.setattr(services.store.memories, "delete", erase_before)
    done = await services.forget(turn)
    assert (len(done.derived), files_containing(tmp_path, "axolotl")) == (2, [])
