"""Export of sessions (feature 94)."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.scopes import Scope
from scrubjay.features.sessions import export as session_export
from scrubjay.features.sessions.export import ExportedSession, SessionExporter
from scrubjay.features.sessions.models import ClientCall, ToolCall
from scrubjay.features.sessions.service import SessionService
from tests.contracts.samples import NOW, ManualClock, write


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    opened = await SqliteStore.open(tmp_path / "home", clock=ManualClock())
    yield opened
    await opened.close()


async def _do_nothing() -> None:
    pass


async def test_094_an_export_has_the_calls_and_memories_of_one_session_and_reports_truncation(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = SessionService(store.sessions, _do_nothing)
    exporter = SessionExporter(sessions, store.memories, clock=lambda: NOW)
    apollo = await store.projects.ensure("/apollo", None)
    gemini = await store.projects.ensure("/gemini", None)
    writes = [
        write("first", scope=Scope.PROJECT, project_id=apollo.id, session_id="standup"),
        write("private", scope=Scope.SESSION, project_id=apollo.id, session_id="standup"),
        write("of another session", scope=Scope.PROJECT, project_id=apollo.id, session_id="other"),
        write("of another project", scope=Scope.PROJECT, project_id=gemini.id, session_id="standup"),
    ]
    await store.memories.put(writes)
    await sessions.start(apollo, "ada", "standup")
    calls = [
        ToolCall(tool=name, arguments={}, result="", success=True, milliseconds=0, called_at=NOW)
        for name in ("remember", "recall")
    ]
    await store.sessions.add_calls([ClientCall("ada", call) for call in calls], apollo.id)
    session = await sessions.get(apollo.id, "standup", None)

    assert await exporter.export(session) == ExportedSession(
        calls=calls, memories=[writes[0].memory, writes[1].memory], complete=True, exported_at=NOW
    )
    monkeypatch.setattr(session_export, "MAX_EXPORTED", 1)
    assert await exporter.export(session) == ExportedSession(
        calls=calls[:1], memories=[writes[0].memory], complete=False, exported_at=NOW
    )
