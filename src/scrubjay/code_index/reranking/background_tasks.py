"""Work that goes on when nobody waits for it any longer: what was asked for, and paid, is kept."""

import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio

from scrubjay.core.error_location import place_of
from scrubjay.core.errors import ScrubjayError
from scrubjay.models.failures import Reason, unavailable

logger = logging.getLogger("scrubjay.code_index")

T = TypeVar("T")


class Begun(Generic[T]):
    """Some work with a model, to be run in a task of its own."""

    def __init__(self, model: str, seconds: float, work: Callable[[], Awaitable[T]]) -> None:
        """`seconds` is how long whoever waits is said to have waited."""
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
            logger.error("hearing the embedding model broke", extra=place_of(error))
            self._failure = unavailable(
                Reason.FAILING,
                f"hearing {self._model} failed ({type(error).__name__})",
                hint="this is a bug; see the log",
            )
        finally:
            self._ended.set()

    async def by(self, deadline: float) -> T:
        """What it came to, if it does so in time; `Unavailable` when not."""
        with anyio.CancelScope(deadline=deadline):
            await self._ended.wait()
        if self._failure is not None:
            raise self._failure
        if not self._outcome:
            raise unavailable(
                Reason.TIMEOUT,
                f"{self._model} did not answer within {self._seconds:g} s",
                hint="see whether the service is up, or raise SCRUBJAY_CODE_EMBEDDING_SECONDS",
            )
        return self._outcome[0]
