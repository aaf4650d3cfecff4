"""Streams for libraries that open and close what they read and write."""

from types import TracebackType
from typing import Self


class BorrowedStream:
    """Base of a stream whose pipe belongs to its owner: leaving or closing the stream leaves the pipe open."""

    async def aclose(self) -> None:
        """Do nothing: the owner closes the pipe."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()
