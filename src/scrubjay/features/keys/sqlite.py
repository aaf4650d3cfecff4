"""Keys in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from scrubjay.core.errors import Conflict
from scrubjay.db.sqlite.columns import (
    json_text,
    json_value,
    microseconds,
    moment,
    optional_microseconds,
    optional_moment,
)
from scrubjay.db.sqlite.connections import Connection
from scrubjay.db.sqlite.named_queries import load_queries
from scrubjay.db.sqlite.threads import Readers, Writer
from scrubjay.features.keys.models import KeyUses, StoredKey
from scrubjay.features.keys.store import KeyRing
from scrubjay.tooling.jobs.sqlite import cancel_jobs_of_ended_keys

_SQL = load_queries(__file__)

EPOCH = moment(0)


class SqliteKeys:
    """Implements `KeyStore`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers

    async def prepare(self) -> None:
        await self._readers.open_inline()

    def ring(self, known: int | None = None) -> KeyRing | None:
        def read(connection: Connection) -> KeyRing | None:
            revision: int = connection.value(_SQL["revision"])
            return None if revision == known else KeyRing(revision, _all(connection))

        # The revision alone is one statement, and it is almost always unchanged.
        if known is not None and known == self._readers.read_inline_now(_revision, is_one_statement=True):
            return None
        return self._readers.read_inline_now(read)

    async def all(self) -> Sequence[StoredKey]:
        return await self._readers.read(_all)

    async def add(self, key: StoredKey) -> None:
        def work(connection: Connection) -> None:
            if connection.value(_SQL["active"], {"name": key.name, "now": microseconds(key.created_at)}):
                raise Conflict(
                    f"an active key named {key.name!r} already exists",
                    hint="choose another name, rotate that key, or revoke it first",
                )
            connection.execute(_SQL["add"], _values(key))

        await self._writer.write(work)

    async def replace(self, name: str, key: StoredKey, ends_at: datetime) -> StoredKey | None:
        def work(connection: Connection) -> StoredKey | None:
            rows = connection.execute(_SQL["current"], {"name": name})
            if not rows:
                return None
            replaced = _key_from(rows[0])
            connection.execute(_SQL["end"], {"id": replaced.id, "ends_at": microseconds(ends_at)})
            connection.execute(_SQL["add"], _values(key))
            return replaced

        return await self._writer.write(work)

    async def revoke(self, name: str, now: datetime) -> int:
        values = {"name": name, "now": microseconds(now)}
        return len(await self._writer.write(lambda connection: connection.execute(_SQL["revoke"], values)))

    async def delete_ended(self, name: str, now: datetime) -> int:
        def work(connection: Connection) -> int:
            cancel_jobs_of_ended_keys(connection, microseconds(now))  # while their keys are known
            return len(connection.execute(_SQL["delete_ended"], {"name": name, "now": microseconds(now)}))

        return await self._writer.erase(work)

    async def add_uses(self, uses: KeyUses) -> None:
        rows = [
            {"id": key_id, "uses": use.uses, "last_used_at": microseconds(use.last_used_at)}
            for key_id, use in uses.items()
        ]
        if rows:
            await self._writer.write(lambda connection: connection.execute_each(_SQL["add_use"], rows))


def _revision(connection: Connection) -> int:
    return connection.value(_SQL["revision"])


def _all(connection: Connection) -> list[StoredKey]:
    damaged: int = connection.value(_SQL["damaged"])
    return [_key_from(row) for row in connection.execute(_SQL["all"])] + [*map(_damaged_key, range(damaged))]


def _damaged_key(number: int) -> StoredKey:
    """Return a revoked key in place of a damaged one: a store with keys is not open to callers without a key."""
    return StoredKey(
        id=f"damaged-{number}", name="damaged", digest=b"", scopes=frozenset(), created_at=EPOCH, revoked_at=EPOCH
    )


def _values(key: StoredKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "digest": key.digest,
        "scopes": json_text(sorted(key.scopes)),
        "created_at": microseconds(key.created_at),
        "expires_at": optional_microseconds(key.expires_at),
        "revoked_at": optional_microseconds(key.revoked_at),
    }


def _key_from(row: Sequence[Any]) -> StoredKey:
    key_id, name, digest, scopes, created_at, expires_at, revoked_at, last_used_at, uses = row
    return StoredKey(
        id=key_id,
        name=name,
        digest=bytes(digest),
        scopes=frozenset(json_value(scopes)),
        created_at=moment(created_at),
        expires_at=optional_moment(expires_at),
        revoked_at=optional_moment(revoked_at),
        last_used_at=optional_moment(last_used_at),
        uses=uses,
    )
