"""How many memories come from each client, and the end of what one may keep."""

from recollect.domain.errors import QuotaExceeded
from recollect.domain.rules import Allowance
from recollect.storage.sqlite.connections import Connection
from recollect.storage.sqlite.named_queries import load_queries

_SQL = load_queries("quotas")


def kept_by(connection: Connection, client: str) -> int:
    """How many memories come from this client."""
    return connection.value(_SQL["kept"], {"client": client}) or 0


def refuse_beyond(connection: Connection, allowance: Allowance) -> None:
    """Raise `QuotaExceeded`, which undoes the transaction, when its writes are more than the client may keep.

    Asked after the writes and in their transaction, so that no other process comes between.
    """
    kept = kept_by(connection, allowance.client)
    if kept > allowance.most:
        raise QuotaExceeded(
            f"these would be {kept} memories of this client, and it may keep {allowance.most}",
            hint="forget what is not needed any more, or let the operator raise RECOLLECT_QUOTA_MEMORIES_PER_CLIENT",
            details={"most": allowance.most},
        )
