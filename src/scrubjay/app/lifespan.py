"""Context managers that create an application, at once or on first use, and close it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from scrubjay.app.settings import Settings
from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    from scrubjay.app import application as application_module
    from scrubjay.app.application import Application
else:
    application_module = lazy_module("scrubjay.app.application")


@asynccontextmanager
async def deferred(settings: Settings, **options: Any) -> "AsyncGenerator[Callable[[], Application]]":
    """Yield a function that creates the application on its first call and then returns the same one.

    So an MCP server can answer `initialize` before features are imported. On exit, jobs go back to the queue, counts
    are written and the store is closed.
    """
    made: list[Application] = []
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:

            def application() -> "Application":
                if not made:
                    made.append(application_module.Application(settings, tasks, **options))
                return made[0]

            try:
                yield application
            except Exception as error:  # raised below: the task group would wrap it in an exception group
                failure = error
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            for application_made in made:
                await application_made.close()
    if failure is not None:
        raise failure


@asynccontextmanager
async def running(settings: Settings, **options: Any) -> "AsyncGenerator[Application]":
    """Yield an application; like `deferred`, but created at once."""
    async with deferred(settings, **options) as application:
        yield application()
