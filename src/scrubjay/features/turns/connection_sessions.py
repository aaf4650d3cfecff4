"""The session of a connection, as the feature `sessions` knows it."""

from typing import Protocol


class ConnectionSessions(Protocol):
    """Finds the session that a turn without a session id belongs to."""

    async def enter(self, project_id: str | None, client: str | None) -> str | None:
        """Return the id of the client's current session in this project, started if there is none.

        Return None for a client that the protocol does not identify.
        """
        ...
