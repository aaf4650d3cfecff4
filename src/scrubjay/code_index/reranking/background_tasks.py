"""Tasks that continue after their caller stops waiting, so that paid requests are not wasted."""

import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio

from scrubjay.core.error_location import error_fields
from scrubjay.core.errors import ScrubjayError
from scrubjay.models.failures import FailureReason, unavailable

logger = logging.getLogger("scrubjay.code_index")

T = TypeVar("T")


class BackgroundTask(Generic[T]):
    """Work with a model, run in its own task."""

    def __init__(self, model: str, seconds: float, work: Callable[[], Awaitable[T]]) -> None:
        """`seconds` is the waiting time named in the timeout error."""
        self._model = model
        self._seconds = seconds
        self._work = work
        self._ended = anyio.Event()
        self._outcome: list[T] = []
        self._failure: ScrubjayError | None = None

    async def run(self) -> None:
        try:
            self._outcome.append(await self._work())
        except ScrubjayError as error:
            self._failure = error
        except Exception as error:  # a bug: it must not end the server
            logger.error("using the embedding model failed unexpectedly", extra=error_fields(error))
            self._failure = unavailable(
                FailureReason.FAILING,
                f"using {self._model} failed ({type(error).__name__})",
                hint="this is a bug; see the log",
            )
        finally:
            self._ended.set()

    async def result_by(self, deadline: float) -> T:
        """Return the result; raise `Unavailable` when it is not ready by `deadline` (event loop time)."""
        with anyio.CancelScope(deadline=deadline):
            await self._ended.wait()
        if self._failure is not None:
            raise self._failure
        if not self._outcome:
            raise unavailable(
                FailureReason.TIMEOUT,
                f"{self._model} did not answer within {self._seconds:g} s",
                hint="check that the service is up, or raise SCRUBJAY_CODE_EMBEDDING_SECONDS",
            )
        return self._outcome[0]
