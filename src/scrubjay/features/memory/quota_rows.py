"""How many memories come from each client, and the end of what one may keep."""

from scrubjay.core.policies import Allowance
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries

_SQL = load_queries(__file__, "quota_queries")


def kept_by(connection: Connection, client: str) -> int:
    """How many memories come from this client."""
    return connection.value(_SQL["kept"], {"client": client}) or 0


def refuse_beyond(connection: Connection, allowance: Allowance) -> None:
    """Raise `QuotaExceeded`, which undoes the transaction, when its writes are more than the client may keep.

    Asked after the writes and in their transaction, so that no other process comes between.
    """
    allowance.refuse_beyond(kept_by(connection, allowance.client))


def refuse_growth_beyond(connection: Connection, most: int) -> None:
    """Like `refuse_beyond`, for memories that replace others: raise when a client's memories grow beyond `most`."""
    for client, memories in connection.execute(_SQL["growth_beyond"], {"most": most}):
        Allowance(client, most).refuse_beyond(memories)
