"""Knows who holds which key, for all protocols, and notices at once when another process changes that."""

import hmac
from collections.abc import Awaitable, Callable, Mapping

from scrubjay.core.callers import EVERYTHING, OWNER, Caller, NoKeyConfigured
from scrubjay.core.clock import Clock, system_clock
from scrubjay.core.errors import ScrubjayError, Unauthenticated
from scrubjay.features.keys.models import KeptKey, KeyState, KeyUse, digest_of
from scrubjay.features.keys.scopes import OPEN_TO_ALL
from scrubjay.features.keys.store import KeyStore

ENVIRONMENT_KEY = Caller("SCRUBJAY_API_KEY", key_id="environment")
"""Who holds the key of the settings, which opens everything."""

MISSING, INVALID = "Missing Authorization header", "Invalid API key"
_NOBODY = b"\0" * 32
_HINT = "send the header Authorization: Bearer KEY"


class KeyDoorkeeper:
    """Satisfies `domain.callers.Doorkeeper`: the keys that are kept, and the one of the settings.

    Who sends no key is the owner while no key was ever made; on a server that others can reach nobody is.
    """

    def __init__(
        self,
        keys: Callable[[], Awaitable[KeyStore]],
        *,
        settings_key: str | None = None,
        open_without_keys: bool = True,
        in_production: bool = False,
        clock: Clock = system_clock,
    ) -> None:
        self._open_store = keys
        self._settings_digest = digest_of(settings_key) if settings_key else None
        self._open_without_keys = open_without_keys and not in_production
        self._in_production = in_production
        self._clock = clock
        self._store: KeyStore | None = None
        self._revision: int | None = None
        self._by_digest: Mapping[bytes, KeptKey] = {}
        self._by_id: Mapping[str, KeptKey] = {}
        self._uses: dict[str, KeyUse] = {}

    async def admit(self, key: str | None) -> Caller:
        await self._prepare()
        self._look()
        if key is None:
            return self._without_key()
        digest = digest_of(key)
        if self._settings_digest is not None and hmac.compare_digest(digest, self._settings_digest):
            return ENVIRONMENT_KEY
        found = self._by_digest.get(digest)
        # The comparison takes the same time for a key that there is not. What is compared are hashes, so how long it
        # takes to look one up tells nothing of the key.
        if not hmac.compare_digest(digest, found.digest if found is not None else _NOBODY) or found is None:
            if self._in_production and not self.has_keys:
                raise _no_key()
            raise Unauthenticated("this key is not valid here", hint=_HINT, details={"reason": INVALID})
        self._refuse_ended(found)
        self._count(found.id)
        scopes = found.scopes if EVERYTHING in found.scopes else found.scopes | OPEN_TO_ALL
        return Caller(found.name, scopes, found.id)

    def is_welcome(self, caller: Caller) -> bool:
        if caller.key_id == ENVIRONMENT_KEY.key_id:
            return self._settings_digest is not None
        try:
            self._look()
        except ScrubjayError:  # who cannot be looked up is not let in
            return False
        if caller.key_id is None:
            return self._is_open
        found = self._by_id.get(caller.key_id)
        return found is not None and found.state(self._clock()) is KeyState.ACTIVE

    async def has_active_key(self) -> bool:
        """Whether anybody could come in by a key now."""
        await self._prepare()
        self._look()
        now = self._clock()
        kept = any(key.state(now) is KeyState.ACTIVE for key in self._by_id.values())
        return kept or self._settings_digest is not None

    @property
    def has_keys(self) -> bool:
        """Whether a key was ever made, as far as this process has looked."""
        return self._settings_digest is not None or bool(self._by_id)

    async def keep_uses(self) -> None:
        """Keep what was counted since the last time; what cannot be kept now is kept next time."""
        if self._store is None or not self._uses:
            return
        taken, self._uses = self._uses, {}
        try:
            await self._store.add_uses(taken)
        except Exception:
            for key_id, use in taken.items():
                self._add(key_id, use)
            raise

    async def _prepare(self) -> None:
        if self._store is None:
            store = await self._open_store()
            await store.prepare()
            self._store = store

    def _look(self) -> None:
        """See what other processes have changed."""
        ring = self._store.ring(self._revision) if self._store is not None else None
        if ring is not None:
            self._by_digest = {key.digest: key for key in ring.keys}
            self._by_id = {key.id: key for key in ring.keys}
            self._revision = ring.revision

    @property
    def _is_open(self) -> bool:
        return self._open_without_keys and not self.has_keys

    def _without_key(self) -> Caller:
        if self._is_open:
            return OWNER
        if self._in_production and not self.has_keys:
            raise _no_key()
        raise Unauthenticated("this server needs a key", hint=_HINT, details={"reason": MISSING})

    def _refuse_ended(self, key: KeptKey) -> None:
        match key.state(self._clock()):
            case KeyState.EXPIRED:
                ended = key.expires_at.isoformat(timespec="seconds") if key.expires_at else ""
                raise Unauthenticated(
                    f"this key expired at {ended}",
                    hint="ask for a new one: `scrubjay keys rotate` makes it",
                    details={"reason": "API key has expired", "expired_at": ended},
                )
            case KeyState.REVOKED:
                raise Unauthenticated(
                    "this key was revoked", hint="ask for a new one", details={"reason": "API key was revoked"}
                )
            case KeyState.ACTIVE:
                pass

    def _count(self, key_id: str) -> None:
        self._add(key_id, KeyUse(1, self._clock()))

    def _add(self, key_id: str, use: KeyUse) -> None:
        known = self._uses.get(key_id)
        if known is not None:
            use = KeyUse(known.uses + use.uses, max(known.last_used_at, use.last_used_at))
        self._uses[key_id] = use


def _no_key() -> NoKeyConfigured:
    return NoKeyConfigured(
        "this server is in production and has no key",
        hint="make one with `scrubjay keys create`, or set SCRUBJAY_API_KEY",
        details={"security": "API key required in production"},
    )
