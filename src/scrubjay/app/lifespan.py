"""How long an application lives, and when it is made."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from scrubjay.app.settings import Settings

if TYPE_CHECKING:
    from scrubjay.app.application import Application


@asynccontextmanager
async def deferred(settings: Settings, **options: Any) -> "AsyncGenerator[Callable[[], Application]]":
    """The application, made when first asked for: an agent's server greets before it has loaded anything.

    Everything started inside ends with it: jobs go back to the queue, counts are kept, the store is closed.
    """
    made: list[Application] = []
    failure: Exception | None = None
    try:
        async with anyio.create_task_group() as tasks:

            def application() -> "Application":
                if not made:
                    from scrubjay.app.application import Application

                    made.append(Application(settings, tasks, **options))
                return made[0]

            try:
                yield application
            except Exception as error:  # raised below: the task group would wrap it in a group of errors
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
    """The application, made at once."""
    async with deferred(settings, **options) as application:
        yield application()
