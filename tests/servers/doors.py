"""A door with the key of the settings, or none at all; no other key is kept."""

from collections.abc import Sequence

from scrubjay.core.callers import OWNER, Caller
from scrubjay.features.keys.authenticator import KeyDoorkeeper
from scrubjay.features.keys.models import KeptKey
from scrubjay.features.keys.store import Keyring


class NoKeys:
    """A store in which no key was ever kept."""

    async def prepare(self) -> None:
        pass

    def ring(self, known: int | None = None) -> Keyring | None:
        return None if known == 0 else Keyring(0, ())

    async def all(self) -> Sequence[KeptKey]:
        return ()


def doorkeeper(api_key: str | None, *, in_production: bool = False) -> KeyDoorkeeper:
    async def keys() -> NoKeys:
        return NoKeys()

    return KeyDoorkeeper(keys, settings_key=api_key, in_production=in_production)  # pyright: ignore[reportArgumentType]  # it is only looked at


class OpenDoor:
    """Lets everybody in, whatever key they show."""

    async def admit(self, key: str | None) -> Caller:
        return OWNER

    def is_welcome(self, caller: Caller) -> bool:
        return True
