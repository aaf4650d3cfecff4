"""Store contract: API keys."""

from datetime import timedelta

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict
from scrubjay.features.keys.models import KeyUse, StoredKey, digest_of
from scrubjay.features.keys.store import KeyRing
from tests.contracts.samples import NOW

HOUR = timedelta(hours=1)


def key(number: int, name: str = "ada", **more: object) -> StoredKey:
    fields = {"scopes": frozenset({"memory", "code:read"}), "created_at": NOW + timedelta(seconds=number), **more}
    return StoredKey(id=f"key_{number}", name=name, digest=digest_of(f"sjk_{number}"), **fields)  # pyright: ignore[reportArgumentType]


async def test_013_other_processes_notice_changes_of_keys_at_once(store: Store, other: Store) -> None:
    await other.keys.prepare()
    empty = other.keys.ring()
    assert empty is not None
    assert empty.keys == []
    await store.keys.add(key(1, expires_at=NOW + HOUR))
    ring = other.keys.ring(empty.revision)
    assert ring == KeyRing(empty.revision + 1, [key(1, expires_at=NOW + HOUR)])
    assert ring is not None
    assert other.keys.ring(ring.revision) is None
    await store.keys.add_uses({"key_1": KeyUse(3, NOW)})
    assert other.keys.ring(ring.revision) is None
    await store.keys.add_uses({"key_1": KeyUse(2, NOW - HOUR), "key_9": KeyUse(1, NOW)})
    assert await other.keys.all() == [key(1, expires_at=NOW + HOUR, uses=5, last_used_at=NOW)]
    assert await store.keys.revoke("ada", NOW) == 1
    changed = other.keys.ring(ring.revision)
    assert changed is not None
    assert changed.keys[0].revoked_at == NOW


async def test_013_a_name_can_be_reused_once_its_key_has_ended(store: Store) -> None:
    await store.keys.add(key(1, expires_at=NOW + HOUR))
    with pytest.raises(Conflict, match="an active key named 'ada' already exists"):
        await store.keys.add(key(2))
    late = key(3, created_at=NOW + HOUR)
    await store.keys.add(late)
    assert await store.keys.revoke("ada", NOW + HOUR) == 2
    assert await store.keys.revoke("ada", NOW + HOUR) == 0
    assert await store.keys.delete_ended("ada", NOW + HOUR) == 2
    assert await store.keys.all() == []


async def test_013_a_replaced_key_ends_at_the_given_time(store: Store) -> None:
    assert await store.keys.replace("ada", key(1), NOW) is None
    assert await store.keys.all() == []
    await store.keys.add(key(1))
    assert await store.keys.replace("ada", key(2), NOW + HOUR) == key(1)
    assert await store.keys.all() == [key(1, revoked_at=NOW + HOUR), key(2)]
    assert await store.keys.delete_ended("ada", NOW) == 0
    assert await store.keys.revoke("ada", NOW) == 2
