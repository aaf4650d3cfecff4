"""Rate limits, blocked addresses, client addresses behind proxies, and load limits."""

import pytest

from scrubjay.core.callers import OWNER, Caller
from scrubjay.servers.http import abuse as abuse_module
from scrubjay.servers.http import rate_limits as limits_module
from scrubjay.servers.http.abuse import AbuseLimits, AbuseTracker, AddressBlocked
from scrubjay.servers.http.client_address import UNKNOWN, AddressResolver, host_of, is_loopback
from scrubjay.servers.http.load_limits import LoadShedder
from scrubjay.servers.http.rate_limits import RateLimiter, RateLimits, RateLimitStatus, TooManyRequests
from scrubjay.servers.http.refusals import Overloaded

FAR = "203.0.113.7"


class ManualClock:
    """A clock that moves only when its `now` is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_014_a_bucket_refills_with_time() -> None:
    clock = ManualClock()
    limits = RateLimiter(RateLimits(window_seconds=60, per_address=3), clock)
    assert [limits.take(OWNER, FAR) for _ in range(3)] == [
        RateLimitStatus(3, 2, 20),
        RateLimitStatus(3, 1, 40),
        RateLimitStatus(3, 0, 60),
    ]
    with pytest.raises(TooManyRequests) as refused:
        limits.take(OWNER, FAR)
    assert refused.value.details == {"limit": 3, "window_seconds": 60, "retry_after_seconds": 20}
    assert limits.take(OWNER, "203.0.113.8") == RateLimitStatus(3, 2, 20)
    clock.now += 20
    assert limits.take(OWNER, FAR) == RateLimitStatus(3, 0, 60)
    clock.now += 10_000
    assert limits.take(OWNER, FAR) == RateLimitStatus(3, 2, 20)


def test_014_a_key_has_one_bucket_over_all_addresses() -> None:
    limits = RateLimiter(RateLimits(window_seconds=60, per_address=100, per_key=2), ManualClock())
    ada = Caller("ada", key_id="key_1")
    assert limits.take(ada, FAR) == RateLimitStatus(2, 1, 30)
    limits.take(ada, "203.0.113.8")
    with pytest.raises(TooManyRequests):
        limits.take(ada, "203.0.113.9")
    assert limits.take(None, "203.0.113.9") == RateLimitStatus(100, 99, 1)
    assert RateLimiter(RateLimits(per_loopback=0)).take(OWNER, "127.0.0.1") is None


def test_014_the_number_of_tracked_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "MAX_BUCKETS", 50)
    monkeypatch.setattr(abuse_module, "MAX_TRACKED_ADDRESSES", 50)
    limits, abuse = RateLimiter(), AbuseTracker()
    for number in range(500):
        limits.take(OWNER, f"10.0.{number // 250}.{number % 250}")
        abuse.record_wrong_key(f"10.0.{number // 250}.{number % 250}")
    assert (len(limits), len(abuse)) == (50, 50)
    assert host_of("2001:db8::1") == host_of("2001:db8::ffff:1") != host_of("2001:db8:0:1::1")


def test_014_repeated_wrong_keys_block_an_address_for_a_while_but_never_loopback() -> None:
    clock = ManualClock()
    abuse = AbuseTracker(AbuseLimits(wrong_keys=3, refusals=2, window_seconds=10, block_seconds=100), clock)
    assert [abuse.record_wrong_key(FAR) for _ in range(2)] == [False, False]
    clock.now += 10
    assert [abuse.record_wrong_key(FAR) for _ in range(3)] == [False, False, True]
    with pytest.raises(AddressBlocked) as refused:
        abuse.refuse_blocked(FAR)
    assert refused.value.details == {"retry_after_seconds": 100}
    abuse.refuse_blocked("203.0.113.8")
    clock.now += 100
    abuse.refuse_blocked(FAR)
    assert [abuse.record_refusal(FAR) for _ in range(2)] == [False, True]
    for _ in range(100):
        assert not abuse.record_wrong_key("127.0.0.1")
        abuse.refuse_blocked("127.0.0.1")


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "found"),
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
def test_014_forwarded_addresses_are_trusted_only_from_trusted_proxies(
    trusted: list[str], peer: str, forwarded: str, found: str
) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode()), (b"x-forwarded-proto", b"https")]
    scope = {"type": "http", "client": (peer, 1), "headers": headers}
    addresses = AddressResolver(trusted)
    assert addresses.of(scope) == found
    is_trusted = addresses.of({**scope, "headers": [(b"x-forwarded-for", FAR.encode())]}) == FAR
    assert addresses.scheme_of(scope) == ("https" if is_trusted else None)


def test_014_a_proxy_is_not_a_single_host() -> None:
    addresses = AddressResolver(["10.0.0.0/8"])
    assert [addresses.is_single_host(one) for one in (FAR, "10.0.0.5", UNKNOWN)] == [True, False, False]


@pytest.mark.parametrize("mark", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
def test_013_an_untrusted_proxy_is_detected(mark: str) -> None:
    scope = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(mark.encode(), b"203.0.113.7")]}
    assert AddressResolver().is_from_untrusted_proxy(scope)
    assert not AddressResolver(["127.0.0.1"]).is_from_untrusted_proxy(scope)
    assert not AddressResolver().is_from_untrusted_proxy({**scope, "headers": [(b"host", b"localhost")]})


def test_014_all_forms_of_loopback_are_recognised() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("203.0.113.7", "2001:db8::1", "localhost", "")))


def test_022_requests_are_refused_above_the_concurrency_and_latency_limits_until_load_falls() -> None:
    clock = ManualClock()
    load = LoadShedder(max_concurrent=1, max_latency_ms=50, monotonic=clock)
    running = load.begin()
    with pytest.raises(Overloaded):
        load.begin()
    running.end()
    for _ in range(10):
        running = load.begin()
        running.begin_work()
        clock.now += 0.06
        running.end()
    with pytest.raises(Overloaded) as refused:
        load.begin()
    assert refused.value.details["threshold_ms"] == 50
    clock.now += 31
    load.begin()


def test_022_a_body_that_arrives_slowly_and_a_stream_do_not_make_the_server_look_slow() -> None:
    clock = ManualClock()
    load = LoadShedder(max_latency_ms=50, monotonic=clock)
    for _ in range(20):
        running = load.begin()
        clock.now += 1
        running.begin_work()
        running.respond()
        clock.now += 1
        running.end()
    load.begin()
