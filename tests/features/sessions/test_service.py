"""Finding, starting and ending sessions (features 53, 94)."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import NotFound
from scrubjay.features.projects.models import Project
from scrubjay.features.sessions.service import SessionService


@dataclass
class SessionFixture:
    store: SqliteStore
    sessions: SessionService
    apollo: Project
    gemini: Project
    flushes: list[str] = field(default_factory=list[str])


@pytest.fixture
async def fixture(tmp_path: Path) -> AsyncGenerator[SessionFixture]:
    store = await SqliteStore.open(tmp_path / "home")
    flushes: list[str] = []

    async def flush() -> None:
        flushes.append("flushed")

    apollo, gemini = await store.projects.ensure("/apollo", None), await store.projects.ensure("/gemini", None)
    yield SessionFixture(store, SessionService(store.sessions, flush), apollo, gemini, flushes)
    await store.close()


async def test_094_buffered_calls_are_written_before_each_read(fixture: SessionFixture) -> None:
    session, _ = await fixture.sessions.start(fixture.apollo, "ada", None)
    await fixture.sessions.current(fixture.apollo.id, "ada")
    await fixture.sessions.get(fixture.apollo.id, session.id, None)
    await fixture.sessions.list(fixture.apollo.id, 5)
    assert len(fixture.flushes) == 4


async def test_094_a_session_of_another_project_is_not_the_current_one(fixture: SessionFixture) -> None:
    session, _ = await fixture.sessions.start(fixture.apollo, "ada", None)
    assert await fixture.sessions.current(fixture.apollo.id, "ada") == session
    assert await fixture.sessions.current(fixture.gemini.id, "ada") is None
    assert await fixture.sessions.current(None, "ada") is None
    assert await fixture.sessions.current(fixture.apollo.id, None) is None
    with pytest.raises(NotFound, match="no current session"):
        await fixture.sessions.get(fixture.gemini.id, None, "ada")
    with pytest.raises(NotFound, match="no session"):
        await fixture.sessions.get(fixture.gemini.id, session.id, "ada")


async def test_094_a_mistyped_id_suggests_the_nearest_one_of_the_project(fixture: SessionFixture) -> None:
    await fixture.sessions.start(fixture.apollo, "ada", "release-2")
    with pytest.raises(NotFound) as caught:
        await fixture.sessions.get(fixture.apollo.id, "relase-2", "ada")
    assert caught.value.hint == "did you mean release-2?"
    with pytest.raises(NotFound) as caught:
        await fixture.sessions.get(fixture.gemini.id, "relase-2", "ada")
    assert caught.value.hint == "list_sessions shows the existing ones"


async def test_053_a_disconnected_client_ends_its_session_unless_another_client_uses_it(
    fixture: SessionFixture,
) -> None:
    await fixture.sessions.start(fixture.apollo, "ada", "alone")
    await fixture.sessions.leave("ada")
    await fixture.sessions.leave("ada")
    await fixture.sessions.leave("unknown")
    alone = await fixture.sessions.get(fixture.apollo.id, "alone", None)
    assert alone.ended_at is not None
    await fixture.sessions.start(fixture.apollo, "ada", "together")
    await fixture.sessions.start(fixture.apollo, "bob", "together")
    await fixture.sessions.leave("ada")
    assert (await fixture.sessions.get(fixture.apollo.id, "together", None)).ended_at is None
