"""Authenticators for tests: with the key of the settings, with no key, or accepting any key."""

from collections.abc import Sequence

from scrubjay.core.callers import OWNER, Caller
from scrubjay.features.keys.authenticator import KeyAuthenticator
from scrubjay.features.keys.models import StoredKey
from scrubjay.features.keys.store import KeyRing


class NoKeys:
    """A key store without keys."""

    async def prepare(self) -> None:
        pass

    def ring(self, known: int | None = None) -> KeyRing | None:
        return None if known == 0 else KeyRing(0, ())

    async def all(self) -> Sequence[StoredKey]:
        return ()


def authenticator(api_key: str | None, *, in_production: bool = False) -> KeyAuthenticator:
    """Return an authenticator that knows only the key of the settings, if any."""

    async def keys() -> NoKeys:
        return NoKeys()

    return KeyAuthenticator(keys, settings_key=api_key, in_production=in_production)  # pyright: ignore[reportArgumentType]  # only these methods are used


class AcceptAnyKey:
    """Accepts every key, and requests without one."""

    async def authenticate(self, key: str | None) -> Caller:
        return OWNER

    def is_authorized(self, caller: Caller) -> bool:
        return True
