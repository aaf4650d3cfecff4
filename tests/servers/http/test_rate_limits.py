"""Buckets of tokens, the block of abusers, and what is believed of addresses."""

import pytest

from scrubjay.core.callers import OWNER, Caller
from scrubjay.servers.http import abuse as abuse_module
from scrubjay.servers.http import rate_limits as limits_module
from scrubjay.servers.http.abuse import Abuse, Blocked, Patience
from scrubjay.servers.http.client_address import UNKNOWN, Addresses, host_of, is_loopback
from scrubjay.servers.http.load_limits import Load
from scrubjay.servers.http.rate_limits import Limits, Rates, Standing, TooManyRequests
from scrubjay.servers.http.refusals import Overloaded

FAR = "203.0.113.7"


class Ticks:
    """A clock that goes when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_014_a_bucket_empties_and_fills_again_with_time() -> None:
    ticks = Ticks()
    limits = Limits(Rates(window_seconds=60, per_address=3), ticks)
    assert [limits.take(OWNER, FAR) for _ in range(3)] == [Standing(3, 2, 20), Standing(3, 1, 40), Standing(3, 0, 60)]
    with pytest.raises(TooManyRequests) as refused:
        limits.take(OWNER, FAR)
    assert refused.value.details == {"limit": 3, "window_seconds": 60, "retry_after_seconds": 20}
    assert limits.take(OWNER, "203.0.113.8") == Standing(3, 2, 20)
    ticks.now += 20
    assert limits.take(OWNER, FAR) == Standing(3, 0, 60)
    ticks.now += 10_000
    assert limits.take(OWNER, FAR) == Standing(3, 2, 20)


def test_014_a_key_has_a_bucket_of_its_own_wherever_it_is_used() -> None:
    limits = Limits(Rates(window_seconds=60, per_address=100, per_key=2), Ticks())
    ada = Caller("ada", key_id="key_1")
    assert limits.take(ada, FAR) == Standing(2, 1, 30)
    limits.take(ada, "203.0.113.8")
    with pytest.raises(TooManyRequests):
        limits.take(ada, "203.0.113.9")
    assert limits.take(None, "203.0.113.9") == Standing(100, 99, 1)
    assert Limits(Rates(per_loopback=0)).take(OWNER, "127.0.0.1") is None


def test_014_however_many_addresses_come_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "MOST_BUCKETS", 50)
    monkeypatch.setattr(abuse_module, "MOST_WATCHED", 50)
    limits, abuse = Limits(), Abuse()
    for number in range(500):
        limits.take(OWNER, f"10.0.{number // 250}.{number % 250}")
        abuse.note_wrong_key(f"10.0.{number // 250}.{number % 250}")
    assert (len(limits), len(abuse)) == (50, 50)
    assert host_of("2001:db8::1") == host_of("2001:db8::ffff:1") != host_of("2001:db8:0:1::1")


def test_014_who_tries_many_wrong_keys_is_blocked_for_a_while_but_never_this_machine() -> None:
    ticks = Ticks()
    abuse = Abuse(Patience(wrong_keys=3, refusals=2, window_seconds=10, block_seconds=100), ticks)
    assert [abuse.note_wrong_key(FAR) for _ in range(2)] == [False, False]
    ticks.now += 10
    assert [abuse.note_wrong_key(FAR) for _ in range(3)] == [False, False, True]
    with pytest.raises(Blocked) as refused:
        abuse.refuse_blocked(FAR)
    assert refused.value.details == {"retry_after_seconds": 100}
    abuse.refuse_blocked("203.0.113.8")
    ticks.now += 100
    abuse.refuse_blocked(FAR)
    assert [abuse.note_refusal(FAR) for _ in range(2)] == [False, True]
    for _ in range(100):
        assert not abuse.note_wrong_key("127.0.0.1")
        abuse.refuse_blocked("127.0.0.1")


@pytest.mark.parametrize(
    ("trusted", "peer", "told", "found"),
    [
        ([], "127.0.0.1", "203.0.113.7", "127.0.0.1"),
        (["10.0.0.0/8"], "127.0.0.1", "203.0.113.7", "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", "203.0.113.7", "203.0.113.7"),
        (["127.0.0.1"], "127.0.0.1", "127.0.0.1, 203.0.113.7", "203.0.113.7"),
        (["127.0.0.1", "10.0.0.0/8"], "127.0.0.1", "6.6.6.6, 203.0.113.7, 10.1.2.3", "203.0.113.7"),
        (["127.0.0.1"], "127.0.0.1", "203.0.113.7, nonsense", UNKNOWN),
        (["127.0.0.1"], "127.0.0.1", "127.0.0.1, unknown", UNKNOWN),
        (["127.0.0.1"], "127.0.0.1", "6.6.6.6, 203.0.113.7:4711", "203.0.113.7"),
        (["127.0.0.1"], "127.0.0.1", "[2001:db8::7]:443", "2001:db8::7"),
        (["127.0.0.1"], "127.0.0.1", "2001:db8::7", "2001:db8::7"),
        (["127.0.0.1"], "127.0.0.1", "203.0.113.7:99999999", UNKNOWN),
        (["127.0.0.1"], "127.0.0.1", ",,, ,", "127.0.0.1"),
        (["127.0.0.1", "10.0.0.0/8"], "10.0.0.5", "127.0.0.1", "10.0.0.5"),
        (["2001:db8::/32"], "2001:db8::1", "203.0.113.7, 2001:db8::2", "203.0.113.7"),
        (["127.0.0.1"], "::ffff:127.0.0.1", "203.0.113.7", "203.0.113.7"),
        (["127.0.0.1"], "127.0.0.1", "", "127.0.0.1"),
    ],
)
def test_014_a_forwarded_address_is_believed_of_trusted_proxies_only(
    trusted: list[str], peer: str, told: str, found: str
) -> None:
    headers = [(b"x-forwarded-for", told.encode()), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    addresses = Addresses(trusted)
    assert addresses.of(scope) == found
    believed = addresses.of({**scope, "headers": [(b"x-forwarded-for", FAR.encode())]}) == FAR
    assert addresses.scheme_of(scope) == ("https" if believed else None)


def test_014_nobody_who_comes_through_a_proxy_is_taken_for_one_host() -> None:
    addresses = Addresses(["10.0.0.0/8"])
    assert [addresses.is_of_one_host(one) for one in (FAR, "10.0.0.5", UNKNOWN)] == [True, False, False]


@pytest.mark.parametrize("mark", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
def test_013_a_proxy_that_nobody_named_is_noticed(mark: str) -> None:
    scope = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(mark.encode(), b"203.0.113.7")]}
    assert Addresses().came_by_a_stranger(scope)
    assert not Addresses(["127.0.0.1"]).came_by_a_stranger(scope)
    assert not Addresses().came_by_a_stranger({**scope, "headers": [(b"host", b"localhost")]})


def test_014_loopback_is_known_in_all_its_forms() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("203.0.113.7", "2001:db8::1", "localhost", "")))


def test_022_too_much_at_once_and_too_slow_is_refused_and_passes() -> None:
    ticks = Ticks()
    load = Load(most_at_once=1, slowest_ms=50, monotonic=ticks)
    began = load.begin()
    with pytest.raises(Overloaded):
        load.begin()
    load.end(began)
    for _ in range(9):
        began = load.begin()
        ticks.now += 0.06
        load.end(began)
    with pytest.raises(Overloaded) as refused:
        load.begin()
    assert refused.value.details["threshold_ms"] == 50
    ticks.now += 31
    load.begin()
