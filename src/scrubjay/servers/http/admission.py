"""Authentication, rate limits and blocked addresses for requests and sockets."""

from collections.abc import Collection
from contextlib import suppress

from starlette.types import Scope

from scrubjay.core.callers import ANONYMOUS, OWNER, Authenticator, Caller
from scrubjay.core.errors import Unauthenticated
from scrubjay.servers.http.abuse import AbuseTracker
from scrubjay.servers.http.bearer import HINT, MISSING, key_of
from scrubjay.servers.http.client_address import AddressResolver, is_loopback
from scrubjay.servers.http.rate_limits import RateLimiter, RateLimitStatus, TooManyRequests
from scrubjay.servers.http.request_metadata import header_of
from scrubjay.tooling.security_events import security_event

# A browser cannot send a key when it opens a page. The page contains no data and prompts for the key itself.
OPEN_PATHS = frozenset({"/health", "/docs"})
SANDBOX_HEADER = b"x-mimo-sandbox"


class Admission:
    """Authenticates and counts callers of every protocol, for requests and for messages on open sockets."""

    def __init__(
        self,
        authenticator: Authenticator,
        limits: RateLimiter,
        abuse: AbuseTracker,
        addresses: AddressResolver,
        *,
        late_key_paths: Collection[str],
        optional_key_prefixes: tuple[str, ...],
    ) -> None:
        self._authenticator = authenticator
        self._limits = limits
        self._abuse = abuse
        self._addresses = addresses
        self._late_key_paths = late_key_paths
        self._optional_key_prefixes = optional_key_prefixes

    async def admit_request(self, scope: Scope, address: str) -> RateLimitStatus | None:
        """Authenticate and count a request; refused requests count too. Stores the caller in the scope's state."""
        self._abuse.refuse_blocked(address)
        try:
            caller = await self._authenticate_request(scope, address)
        except Unauthenticated as error:
            self._record_wrong_key(error, address)
            raise
        status = self.count(caller, address)
        scope["state"]["caller"] = _restricted(caller, scope)
        return status

    async def authenticate_key(self, key: str | None, scope: Scope, address: str) -> Caller:
        """Return the caller for a key sent over a socket that was opened without one."""
        self._abuse.refuse_blocked(address)
        try:
            caller = await self._caller_of_key(key, scope, address)
        except Unauthenticated as error:
            self._record_wrong_key(error, address)
            raise
        self.count(caller, address)
        return _restricted(caller, scope)

    def admit_anonymous(self, address: str) -> RateLimitStatus | None:
        """Count a request that needs no key."""
        self._abuse.refuse_blocked(address)
        return self.count(ANONYMOUS, address)

    def count(self, caller: Caller | None, address: str) -> RateLimitStatus | None:
        """Count one request; raise `TooManyRequests` beyond the limits. Repeated violations block the address."""
        try:
            return self._limits.take(caller, address)
        except TooManyRequests:
            if self._addresses.is_single_host(address) and self._abuse.record_refusal(address):
                security_event("blocked", reason="too many requests beyond the limits", address=address)
            raise

    async def _authenticate_request(self, scope: Scope, address: str) -> Caller:
        """Return the caller of a request; anonymous on public paths and where authentication comes later."""
        is_websocket = scope["type"] == "websocket"
        if not is_websocket and scope["path"] in OPEN_PATHS:
            return ANONYMOUS
        key = key_of(scope)
        if key is None and is_websocket and scope["path"] in self._late_key_paths:
            return ANONYMOUS
        return await self._caller_of_key(key, scope, address)

    async def _caller_of_key(self, key: str | None, scope: Scope, address: str) -> Caller:
        caller = await self._authenticate(key, scope["path"])
        # Remote clients may arrive through a local proxy; only truly local callers need no key.
        if caller is OWNER and (not is_loopback(address) or self._addresses.is_from_untrusted_proxy(scope)):
            raise Unauthenticated("this server requires a key", hint=HINT, details={"reason": MISSING})
        return caller

    async def _authenticate(self, key: str | None, path: str) -> Caller:
        """Return the holder of the key; on paths where clients always send one, fall back to no key."""
        try:
            return await self._authenticator.authenticate(key)
        except Unauthenticated:
            if key is not None and path.startswith(self._optional_key_prefixes):
                with suppress(Unauthenticated):
                    return await self._authenticator.authenticate(None)
            raise

    def _record_wrong_key(self, error: Unauthenticated, address: str) -> None:
        self.count(None, address)
        is_wrong = error.details.get("reason") != MISSING and self._addresses.is_single_host(address)
        if is_wrong and self._abuse.record_wrong_key(address):
            security_event("blocked", reason="too many wrong keys", address=address)


def _restricted(caller: Caller, scope: Scope) -> Caller:
    """Return the caller, limited to read-only calls when the request has the sandbox header."""
    return caller.as_read_only() if header_of(scope, SANDBOX_HEADER) is not None else caller
