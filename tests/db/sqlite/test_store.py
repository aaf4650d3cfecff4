"""The SQLite store as a whole."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from scrubjay.app import sqlite_store as store_module
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.app.store import Store
from scrubjay.core.errors import StoreUnusable
from scrubjay.db.database import StoreInfo
from scrubjay.db.sqlite import mounts
from scrubjay.db.sqlite.schema import load_migrations
from tests.contracts.samples import vector, write
from tests.db.sqlite.conftest import ROOT, names_in


async def test_a_new_home_is_private_and_holds_the_database_and_the_lock(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    store: Store = await SqliteStore.open(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {"scrubjay.db", "scrubjay.lock"} <= set(names_in(home))
    assert [path.name for path in home.glob("*") if stat.S_IMODE(path.stat().st_mode) != 0o600] == []
    info = await store.info()
    assert info == StoreInfo("sqlite", str(home), len(load_migrations()), info.bytes)
    await store.close()


async def test_closing_leaves_one_database_file_without_a_log(store: SqliteStore, home: Path) -> None:
    await store.memories.put([write("x", vector=vector(1, 0))])
    await store.close()
    assert names_in(home) == ["scrubjay.db", "scrubjay.lock"]


async def test_a_home_on_a_network_file_system_is_refused_before_anything_is_created(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text("1 0 0:1 / / rw - nfs4 server:/ rw\n")
    monkeypatch.setattr(mounts, "MOUNT_TABLE", table)
    with pytest.raises(StoreUnusable, match="network file system"):
        await SqliteStore.open(home)
    assert "home" not in names_in(tmp_path)


async def test_an_old_sqlite_is_refused_before_anything_is_created(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module.apsw, "sqlite_lib_version", lambda: "3.40.1")
    with pytest.raises(StoreUnusable, match=r"3\.40\.1"):
        await SqliteStore.open(home)
    assert "home" not in names_in(tmp_path)


def test_numpy_is_imported_by_the_first_search(tmp_path: Path) -> None:
    script = """
import asyncio, sys
from pathlib import Path
from scrubjay.app.sqlite_store import SqliteStore
from tests.contracts.samples import query, search, vector, write

async def main():
    loaded = []
    store = await SqliteStore.open(Path(sys.argv[1]))
    await store.memories.put([write("x", vector=vector(1, 0))])
    await store.check()
    loaded.append("numpy" in sys.modules)
    await search(store, query("x"))
    loaded.append("numpy" in sys.modules)
    await store.close()
    print(loaded)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "home")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[False, True]\n"
