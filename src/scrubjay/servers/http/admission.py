"""Letting callers in: who they are, whether they ask too much, and whether they have to stay outside for a while."""

from collections.abc import Collection
from contextlib import suppress

from starlette.types import Scope

from scrubjay.core.callers import OWNER, STRANGER, Caller, Doorkeeper
from scrubjay.core.errors import Unauthenticated
from scrubjay.servers.http.abuse import Abuse
from scrubjay.servers.http.bearer import HINT, MISSING, key_in
from scrubjay.servers.http.client_address import Addresses, is_loopback
from scrubjay.servers.http.rate_limits import Limits, Standing, TooManyRequests
from scrubjay.servers.http.request_metadata import header_of
from scrubjay.tooling.security_events import security_event

# A browser cannot send a key with the first request of a page. The page tells nothing and asks for the key itself.
OPEN_PATHS = frozenset({"/health", "/docs"})
SANDBOX_HEADER = b"x-mimo-sandbox"


class Admission:
    """The same for every protocol, whether the key comes with a request or is shown over a socket that is open."""

    def __init__(
        self,
        doorkeeper: Doorkeeper,
        limits: Limits,
        abuse: Abuse,
        addresses: Addresses,
        *,
        keys_asked_later: Collection[str],
        keys_always_sent: tuple[str, ...],
    ) -> None:
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._abuse = abuse
        self._addresses = addresses
        self._keys_asked_later = keys_asked_later
        self._keys_always_sent = keys_always_sent

    async def of_request(self, scope: Scope, address: str) -> Standing | None:
        """Find out who calls, and count the call. Whoever is refused is counted too."""
        self._abuse.refuse_blocked(address)
        try:
            caller = await self._of_headers(scope, address)
        except Unauthenticated as error:
            self._note_wrong_key(error, address)
            raise
        standing = self.count(caller, address)
        scope["state"]["caller"] = _as_wished(caller, scope)
        return standing

    async def of_key(self, key: str | None, scope: Scope, address: str) -> Caller:
        """Who shows this key over a socket that was opened without one."""
        self._abuse.refuse_blocked(address)
        try:
            caller = await self._known(key, scope, address)
        except Unauthenticated as error:
            self._note_wrong_key(error, address)
            raise
        self.count(caller, address)
        return _as_wished(caller, scope)

    def of_stranger(self, address: str) -> Standing | None:
        """Count a request that needs no key."""
        self._abuse.refuse_blocked(address)
        return self.count(STRANGER, address)

    def count(self, caller: Caller | None, address: str) -> Standing | None:
        """Count one request; `TooManyRequests` beyond the limits, and whoever heeds none of these is blocked."""
        try:
            return self._limits.take(caller, address)
        except TooManyRequests:
            if self._addresses.is_of_one_host(address) and self._abuse.note_refusal(address):
                security_event("blocked", reason="too many requests beyond the limits", address=address)
            raise

    async def _of_headers(self, scope: Scope, address: str) -> Caller:
        """Who sends this; a stranger where everybody may come, or is asked later."""
        is_websocket = scope["type"] == "websocket"
        if not is_websocket and scope["path"] in OPEN_PATHS:
            return STRANGER
        key = key_in(scope)
        if key is None and is_websocket and scope["path"] in self._keys_asked_later:
            return STRANGER
        return await self._known(key, scope, address)

    async def _known(self, key: str | None, scope: Scope, address: str) -> Caller:
        caller = await self._admitted(key, scope["path"])
        # Through a proxy others reach this machine too, and whoever works on it needs none.
        if caller is OWNER and (not is_loopback(address) or self._addresses.came_by_a_stranger(scope)):
            raise Unauthenticated("this server needs a key", hint=HINT, details={"reason": MISSING})
        return caller

    async def _admitted(self, key: str | None, path: str) -> Caller:
        """Who holds the key; where clients send one whether it is asked for or not, whoever needs none."""
        try:
            return await self._doorkeeper.admit(key)
        except Unauthenticated:
            if key is not None and path.startswith(self._keys_always_sent):
                with suppress(Unauthenticated):
                    return await self._doorkeeper.admit(None)
            raise

    def _note_wrong_key(self, error: Unauthenticated, address: str) -> None:
        self.count(None, address)
        is_wrong = error.details.get("reason") != MISSING and self._addresses.is_of_one_host(address)
        if is_wrong and self._abuse.note_wrong_key(address):
            security_event("blocked", reason="too many wrong keys", address=address)


def _as_wished(caller: Caller, scope: Scope) -> Caller:
    """The caller, who may say with the first request to want only to read."""
    return caller.only_reading() if header_of(scope, SANDBOX_HEADER) is not None else caller
