"""Check of the memory quota, in the transaction of a write."""

from scrubjay.core.policies import StorageQuota
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries

_SQL = load_queries(__file__, "quota_queries")


def count_client_memories(connection: Connection, client: str) -> int:
    """Return the number of stored memories of this client."""
    return connection.value(_SQL["client_memories"], {"client": client}) or 0


def enforce_quota(connection: Connection, allowance: StorageQuota) -> None:
    """Raise `QuotaExceeded`, which rolls back the transaction, if the client now has more memories than allowed.

    Call it after the writes, in their transaction, so that no other process can write in between.
    """
    allowance.check_count(count_client_memories(connection, allowance.client))


def enforce_quota_on_growth(connection: Connection, most: int) -> None:
    """Like `enforce_quota`, for an exchange of all memories: raise if a client would grow beyond `most` memories."""
    for client, memories in connection.execute(_SQL["growth_beyond"], {"most": most}):
        StorageQuota(client, most).check_count(memories)
