"""What is forgotten while something is made of it does not come back with that: a real language model is at work."""

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
from scrubjay.features.facts.llm_facts import FactReader
from scrubjay.features.facts.service import FactExtractor
from scrubjay.features.memory.models import Kind, Memory, MemoryFilter
from scrubjay.features.summaries.llm_summaries import Composer
from scrubjay.features.summaries.models import Level
from scrubjay.features.summaries.service import Summarised, Summariser
from scrubjay.models.chat_completions import ChatCompleter, completer_for
from scrubjay.models.choices import CompletionChoice
from tests.features.facts.test_service import FROM, HERE
from tests.features.memory.test_erasure import QUIET, Office, anywhere
from tests.features.summaries.test_service import answer
from tests.models.service import Service, running_service

PATIENCE_SECONDS = 20


class SlowModel:
    """A service whose answers wait, from the moment on at which somebody wants them to, until they are let go."""

    def __init__(self, service: Service) -> None:
        self.asked = threading.Event()
        self.waits = False
        """From now on."""
        self._go_on = threading.Event()
        self._service = service
        service.says = self._say

    @property
    def prompts(self) -> list[str]:
        return [request.body["messages"][-1]["content"] for request in self._service.requests]

    async def while_it_thinks(self, work: Callable[[], Any]) -> None:
        """Do this when the model has been asked and has not answered."""
        with anyio.fail_after(PATIENCE_SECONDS):
            await anyio.to_thread.run_sync(self.asked.wait, PATIENCE_SECONDS)
        await work()
        self.waits = False
        self._go_on.set()

    def _say(self, body: Mapping[str, Any]) -> str:
        """A summary, or a fact, that quotes all that it was shown of axolotls."""
        told = body["messages"][-1]["content"]
        if self.waits:
            self.asked.set()
            self._go_on.wait(PATIENCE_SECONDS)
        quotes = "axolotl" in told
        if "facts" in json.dumps(body.get("response_format", {})):
            fact = {"content": "I prefer axolotls over dogs.", "quote": "I prefer axolotls over dogs.", "turn": 1}
            more = {"kind": "preference", "category": "tooling", "subject": "pets of the user", "confidence": 1}
            return json.dumps({"facts": [fact | more] if quotes else []})
        about = "axolotls" if quotes else "plants"
        return answer(title=f"About {about}", summary=f"It was all about {about}.")


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        yield running


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[Office]:
    store = await SqliteStore.open(tmp_path)
    yield Office(store)
    await store.close()


@pytest.fixture
async def completer(service: Service) -> AsyncGenerator[ChatCompleter]:
    completer = completer_for(CompletionChoice(base_url=service.url, model="a-model"), {})
    yield completer
    await completer.close()


def summariser_of(house: Office, completer: ChatCompleter) -> Summariser:
    store = house.store
    return Summariser(store.summaries, store.memories, house.memories, Composer(completer), clock=house.clock)


async def all_kept(house: Office, *kinds: Kind) -> list[Memory]:
    return [*await house.kept(HERE, MemoryFilter(kinds=kinds))]


async def test_098_a_summary_is_made_anew_without_a_turn_that_was_forgotten_meanwhile(
    house: Office, service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await house.turn("Build the axolotl aquarium.", "I built it.")
    await house.turn("Add plants to it.", "I added plants.")
    model, summariser, made = SlowModel(service), summariser_of(house, completer), list[Summarised]()

    async def summarise() -> None:
        made.append(await summariser.summarise_session("s1", HERE, FROM, QUIET))

    async with anyio.create_task_group() as tasks:
        model.waits = True
        tasks.start_soon(summarise)
        await model.while_it_thinks(lambda: house.forget(turn))
    assert ["axolotl" in prompt for prompt in model.prompts] == [True, False]
    (summary,) = made[0].sessions
    assert (summary.details["title"], summary.details["method"], summary.details["turns"]) == ("About plants", "llm", 2)
    assert [memory.id for memory in await all_kept(house, Kind.SUMMARY)] == [summary.id]
    assert anywhere(tmp_path, "axolotl") == []


async def test_098_a_session_that_was_forgotten_whole_gets_no_summary(
    house: Office, service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await house.turn("Build the axolotl aquarium.", "I built it.")
    model, summariser, made = SlowModel(service), summariser_of(house, completer), list[Summarised]()

    async def summarise() -> None:
        made.append(await summariser.summarise_all(HERE, FROM, QUIET))

    async with anyio.create_task_group() as tasks:
        model.waits = True
        tasks.start_soon(summarise)
        await model.while_it_thinks(lambda: house.forget(turn))
    assert (made[0].sessions, made[0].failed) == ([], [])
    assert anywhere(tmp_path, "axolotl") == []


async def test_057_a_day_is_not_told_of_a_session_whose_summary_went_meanwhile(
    house: Office, service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await house.turn("Build the axolotl aquarium.", "I built it.")
    await house.turn("Add plants to the garden.", "I added plants.", session="s2")
    model, summariser, made = SlowModel(service), summariser_of(house, completer), list[Summarised]()
    for session in ("s1", "s2"):
        await summariser.summarise_session(session, HERE, FROM, QUIET)
    house.clock.now += timedelta(days=1)

    async def summarise() -> None:
        made.append(await summariser.summarise_all(HERE, FROM, QUIET))

    async with anyio.create_task_group() as tasks:
        model.waits = True
        tasks.start_soon(summarise)
        await model.while_it_thinks(lambda: house.forget(turn))
    (day,) = [memory for memory in made[0].periods if memory.details["level"] == Level.DAY]
    (other,) = [memory for memory in await all_kept(house, Kind.SUMMARY) if memory.key == "summary:s2"]
    assert (day.provenance["from"], made[0].failed) == ([other.id], [])
    assert anywhere(tmp_path, "axolotl") == []


async def test_057_a_fact_of_a_turn_that_was_forgotten_meanwhile_is_not_kept(
    house: Office, service: Service, completer: ChatCompleter, tmp_path: Path
) -> None:
    turn = await house.turn("I prefer axolotls over dogs.")
    await house.turn("My name is Ada.")
    store = house.store
    extractor = FactExtractor(store.summaries, store.memories, house.memories, FactReader(completer))
    model = SlowModel(service)

    async with anyio.create_task_group() as tasks:
        model.waits = True
        tasks.start_soon(house.extract, "s1", extractor)
        await model.while_it_thinks(lambda: house.forget(turn))
    assert (await house.facts(), anywhere(tmp_path, "axolotl")) == ([], [])
    assert (await house.extract("s1", extractor)).turns == 1, "the other turn is read again"


async def test_what_is_kept_of_it_just_before_it_goes_goes_too(
    house: Office, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A summary is kept after the eraser has looked for summaries, and before it erases."""
    turn = await house.turn("I prefer axolotls over dogs. Build the aquarium.", "I built the axolotl aquarium.")
    delete = house.store.memories.delete

    async def just_before(*arguments: Any) -> Any:
        monkeypatch.undo()
        await house.summariser.summarise_session("s1", HERE, FROM, QUIET)
        return await delete(*arguments)

    monkeypatch.setattr(house.store.memories, "delete", just_before)
    done = await house.forget(turn)
    assert (len(done.also), anywhere(tmp_path, "axolotl")) == (2, [])
