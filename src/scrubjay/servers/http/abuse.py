"""Turns away, for a while, addresses that try one wrong key after the other or never keep within the limits."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from scrubjay.core.errors import RateLimited
from scrubjay.servers.http.client_address import host_of, is_loopback

MOST_WATCHED = 10_000


@dataclass(frozen=True, slots=True)
class Patience:
    """How much is borne of one address; 0 bears everything."""

    wrong_keys: int = 20
    refusals: int = 200
    """Requests beyond a limit."""
    window_seconds: float = 300
    block_seconds: float = 3600


class Blocked(RateLimited):
    """This address is not listened to for a while."""


@dataclass(slots=True)
class _Watched:
    wrong_keys: deque[float] = field(default_factory=deque[float])
    refusals: deque[float] = field(default_factory=deque[float])
    blocked_until: float = 0.0


class Abuse:
    """Watches addresses, but never this machine's own: it is the owner's, who must not be locked out."""

    def __init__(self, patience: Patience | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience or Patience()
        self._monotonic = monotonic
        self._watched: OrderedDict[str, _Watched] = OrderedDict()

    def __len__(self) -> int:
        return len(self._watched)

    def refuse_blocked(self, address: str) -> None:
        if not self._watched or (known := self._watched.get(host_of(address))) is None:
            return
        left = known.blocked_until - self._monotonic()
        if left > 0:
            raise Blocked(
                "there were too many refused requests from this address",
                hint="stop asking for a while; the operator can see why in the log",
                details={"retry_after_seconds": max(1, round(left))},
            )

    def note_wrong_key(self, address: str) -> bool:
        """One more wrong key; True when this blocks the address."""
        known = self._known(address)
        return known is not None and self._note(known, known.wrong_keys, self._patience.wrong_keys)

    def note_refusal(self, address: str) -> bool:
        """One more request beyond a limit; True when this blocks the address."""
        known = self._known(address)
        return known is not None and self._note(known, known.refusals, self._patience.refusals)

    def _known(self, address: str) -> _Watched | None:
        if is_loopback(address):
            return None
        host = host_of(address)
        known = self._watched.setdefault(host, _Watched())
        self._watched.move_to_end(host)
        if len(self._watched) > MOST_WATCHED:
            self._watched.popitem(last=False)
        return known

    def _note(self, known: _Watched, moments: deque[float], most: int) -> bool:
        if not most:
            return False
        now = self._monotonic()
        moments.append(now)
        while len(moments) > most or moments[0] <= now - self._patience.window_seconds:
            moments.popleft()
        if len(moments) < most:
            return False
        moments.clear()
        known.blocked_until = now + self._patience.block_seconds
        return True
