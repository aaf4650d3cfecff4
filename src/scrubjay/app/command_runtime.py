"""Settings, logging and an open store for commands."""

import logging
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from scrubjay.app.logs import start_logging
from scrubjay.app.settings import Settings, load_settings, secret_variables, unknown_variables
from scrubjay.core.environment import withdraw_variables
from scrubjay.core.errors import StoreUnusable
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.app import lost_store, sqlite_maintenance, sqlite_store, store_repair
    from scrubjay.app.store import Store
    from scrubjay.app.store_repair import RepairReport
    from scrubjay.db.database import CheckReport
else:
    lost_store = lazy_module("scrubjay.app.lost_store")
    sqlite_maintenance = lazy_module("scrubjay.app.sqlite_maintenance")
    sqlite_store = lazy_module("scrubjay.app.sqlite_store")
    store_repair = lazy_module("scrubjay.app.store_repair")

logger = logging.getLogger("scrubjay.app")

T = TypeVar("T")

# Seconds that a check or a repair waits for other processes.
BUSY_SECONDS = 10.0


def prepare_settings(default_log_level: str, **options: Any) -> Settings:
    """Load the settings, start logging, and warn about unknown SCRUBJAY_* variables."""
    settings = load_settings(**options)
    start_logging(settings.log, default_log_level)
    for name, nearest in unknown_variables(os.environ).items():
        logger.warning("unknown setting in the environment ignored", extra={"variable": name, "nearest": nearest})
    return settings


def prepare_server(default_log_level: str, **options: Any) -> Settings:
    """Like `prepare_settings`, for a process that serves callers: no other process can read its keys from then on."""
    settings = prepare_settings(default_log_level, **options)
    withdraw_variables(secret_variables(settings, os.environ))
    return settings


def check_store() -> "CheckReport":
    """Verify the store, also one that is too damaged to be migrated; raise `StoreUnusable` if nothing can be read."""
    home = prepare_settings("warning").home
    try:
        return run_with_store(lambda opened: opened.check())
    except StoreUnusable as error:
        if not lost_store.has_database(home, BUSY_SECONDS):
            raise
        database = home / sqlite_store.DATABASE
        report = sqlite_maintenance.check_store(database, home / sqlite_store.DERIVED, BUSY_SECONDS)
        if report.problems not in ([], [error.message]):
            return report
        raise


def repair_store(*, only_report: bool) -> "RepairReport":
    """Recover the readable rows of the store into a new database."""
    home = prepare_settings("warning").home
    return store_repair.repair_store(home, BUSY_SECONDS, only_report=only_report)


def run_with_store(work: "Callable[[Store], Awaitable[T]]", *, accepts_loss: bool = False) -> T:
    """Open the store, return the result of `work`, and close the store."""
    settings = prepare_settings("warning")

    async def run() -> T:
        store = await sqlite_store.SqliteStore.open(settings.home, accepts_loss=accepts_loss)
        try:
            return await work(store)
        finally:
            await store.close()

    return anyio.run(run)
