"""Which session a client is in, and what was done in it (features 53, 94)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import NotFound
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.service import SessionService


@dataclass
class House:
    store: SqliteStore
    sessions: SessionService
    apollo: Project
    gemini: Project
    written: list[str] = field(default_factory=list[str])


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    store = await SqliteStore.open(tmp_path / "home")
    written: list[str] = []

    async def write_noted() -> None:
        written.append("noted")

    apollo, gemini = await store.projects.ensure("/apollo", None), await store.projects.ensure("/gemini", None)
    yield House(store, SessionService(store.sessions, write_noted), apollo, gemini, written)
    await store.close()


async def test_094_every_answer_has_what_was_noted_before(house: House) -> None:
    session, _ = await house.sessions.start(house.apollo, "ada", None)
    await house.sessions.current(house.apollo.id, "ada")
    await house.sessions.get(house.apollo.id, session.id, None)
    await house.sessions.list(house.apollo.id, 5)
    assert len(house.written) == 4


async def test_094_the_session_of_another_project_is_not_the_clients_session_here(house: House) -> None:
    session, _ = await house.sessions.start(house.apollo, "ada", None)
    assert await house.sessions.current(house.apollo.id, "ada") == session
    assert await house.sessions.current(house.gemini.id, "ada") is None
    assert await house.sessions.current(None, "ada") is None
    assert await house.sessions.current(house.apollo.id, None) is None
    with pytest.raises(NotFound, match="in no session"):
        await house.sessions.get(house.gemini.id, None, "ada")
    with pytest.raises(NotFound, match="no session"):
        await house.sessions.get(house.gemini.id, session.id, "ada")


async def test_094_a_mistyped_id_is_answered_with_the_nearest_of_the_same_project(house: House) -> None:
    await house.sessions.start(house.apollo, "ada", "release-2")
    with pytest.raises(NotFound) as caught:
        await house.sessions.get(house.apollo.id, "relase-2", "ada")
    assert caught.value.hint == "did you mean release-2?"
    with pytest.raises(NotFound) as caught:
        await house.sessions.get(house.gemini.id, "relase-2", "ada")
    assert caught.value.hint == "list_sessions shows those there are"


async def test_053_a_client_that_is_gone_leaves_its_session_unless_another_is_in_it(house: House) -> None:
    await house.sessions.start(house.apollo, "ada", "alone")
    await house.sessions.leave("ada")
    await house.sessions.leave("ada")
    await house.sessions.leave("nobody")
    alone = await house.sessions.get(house.apollo.id, "alone", None)
    assert alone.ended_at is not None
    await house.sessions.start(house.apollo, "ada", "together")
    await house.sessions.start(house.apollo, "bob", "together")
    await house.sessions.leave("ada")
    assert (await house.sessions.get(house.apollo.id, "together", None)).ended_at is None
