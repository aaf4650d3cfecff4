"""Places for requests and streams, shared fairly by those who send them."""

from collections import Counter
from collections.abc import Sequence

from scrubjay.core.callers import Caller
from scrubjay.core.errors import RateLimited
from scrubjay.servers.http.client_address import AddressResolver, host_of, is_loopback
from scrubjay.servers.http.refusals import Overloaded


class ShareExceeded(RateLimited):
    """The key or the address occupies its share of the places; other senders are still served."""


def senders_of(caller: Caller, address: str, addresses: AddressResolver) -> Sequence[str]:
    """Return the names under which a request is counted: its key, and its address.

    The clients of this machine and those behind a proxy have one address for all of them, so only keys count there. A
    local client without a key has no share: without keys, all local clients are the owner.
    """
    names = [] if caller.key_id is None else [f"key {caller.key_id}"]
    if not is_loopback(address) and addresses.is_single_host(address):
        names.append(f"address {host_of(address)}")
    return names


class Place:
    """A place that is occupied until it is released."""

    __slots__ = ("_amount", "_places", "_senders")

    def __init__(self, places: "Places", senders: Sequence[str], amount: int) -> None:
        self._places: Places | None = places
        self._senders = senders
        self._amount = amount

    def grow(self, amount: int) -> None:
        """Occupy more; raise like `Places.take`, and keep what is occupied."""
        if self._places is not None:
            self._places.add(self._senders, amount)
            self._amount += amount

    def release(self) -> None:
        """Free the place; a second call does nothing."""
        places, self._places = self._places, None
        if places is not None:
            places.remove(self._senders, self._amount)


class Places:
    """A number of places. A sender may occupy at most as many as are free, so no sender can occupy them all.

    A single sender gets half of the places, two get a third each, and a sender that comes later always finds some free.
    A fixed share would be too small for one busy agent, or several senders together could occupy everything. Switches
    divide their buffers in the same way (Choudhury and Hahne, "Dynamic queue length thresholds", 1998).
    """

    def __init__(self, total: int, name: str) -> None:
        """`name` says in errors what a place is for, in the plural. With a `total` of 0 there is no limit."""
        self._total = total
        self._name = name
        self._taken = 0
        self._taken_by: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        return self._taken

    def take(self, senders: Sequence[str], amount: int = 1) -> Place:
        """Occupy places; raise `Overloaded` when none is free, and `ShareExceeded` when a sender has its share."""
        self.add(senders, amount)
        return Place(self, senders, amount)

    def add(self, senders: Sequence[str], amount: int) -> None:
        if self._total and amount:
            self._check(senders, amount)
        self._taken += amount
        self._taken_by.update(dict.fromkeys(senders, amount))

    def remove(self, senders: Sequence[str], amount: int) -> None:
        self._taken -= amount
        for sender in senders:
            self._taken_by[sender] -= amount
            if not self._taken_by[sender]:
                del self._taken_by[sender]

    def _check(self, senders: Sequence[str], amount: int) -> None:
        free = self._total - self._taken
        if free < amount:
            raise Overloaded(
                f"the server has reached its limit of {self._total} {self._name}",
                hint="try again in a moment",
                details={"retry_after_seconds": 1},
            )
        for sender in senders:
            if (own := self._taken_by[sender]) + amount > free:
                raise ShareExceeded(
                    f"this {sender.split()[0]} has {own} of the server's {self._total} {self._name}, and {free} are "
                    "left for others",
                    hint="wait for the answers of earlier requests, and read them, before you send more",
                    details={"retry_after_seconds": 1},
                )
