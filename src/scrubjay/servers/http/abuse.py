"""Blocks addresses for a while after repeated wrong keys or repeated requests beyond the limits."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from scrubjay.core.errors import RateLimited
from scrubjay.servers.http.client_address import host_of, is_loopback

MAX_TRACKED_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True)
class AbuseLimits:
    """Thresholds at which an address is blocked; 0 never blocks."""

    wrong_keys: int = 20
    refusals: int = 200
    """Requests refused by a rate limit."""
    window_seconds: float = 300
    block_seconds: float = 3600


class AddressBlocked(RateLimited):
    """The client's address is blocked for a while."""


@dataclass(slots=True)
class _AddressRecord:
    wrong_keys: deque[float] = field(default_factory=deque[float])
    refusals: deque[float] = field(default_factory=deque[float])
    blocked_until: float = 0.0


class AbuseTracker:
    """Counts wrong keys and refusals per address. Loopback is never blocked, so that the owner is not locked out."""

    def __init__(self, limits: AbuseLimits | None = None, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits or AbuseLimits()
        self._monotonic = monotonic
        self._records: OrderedDict[str, _AddressRecord] = OrderedDict()

    def __len__(self) -> int:
        return len(self._records)

    def refuse_blocked(self, address: str) -> None:
        """Raise `AddressBlocked` while the address is blocked."""
        if not self._records or (record := self._records.get(host_of(address))) is None:
            return
        left = record.blocked_until - self._monotonic()
        if left > 0:
            raise AddressBlocked(
                "this address is blocked after too many refused requests",
                hint="wait before you try again; the operator finds the reason in the log",
                details={"retry_after_seconds": max(1, round(left))},
            )

    def record_wrong_key(self, address: str) -> bool:
        """Count a wrong key; return True when it blocks the address."""
        record = self._record_of(address)
        return record is not None and self._add(record, record.wrong_keys, self._limits.wrong_keys)

    def record_refusal(self, address: str) -> bool:
        """Count a request beyond a limit; return True when it blocks the address."""
        record = self._record_of(address)
        return record is not None and self._add(record, record.refusals, self._limits.refusals)

    def _record_of(self, address: str) -> _AddressRecord | None:
        if is_loopback(address):
            return None
        host = host_of(address)
        record = self._records.setdefault(host, _AddressRecord())
        self._records.move_to_end(host)
        if len(self._records) > MAX_TRACKED_ADDRESSES:
            self._records.popitem(last=False)
        return record

    def _add(self, record: _AddressRecord, times: deque[float], limit: int) -> bool:
        """Append the current time; block the address and return True when `limit` times lie within the window."""
        if not limit:
            return False
        now = self._monotonic()
        times.append(now)
        while len(times) > limit or times[0] <= now - self._limits.window_seconds:
            times.popleft()
        if len(times) < limit:
            return False
        times.clear()
        record.blocked_until = now + self._limits.block_seconds
        return True
