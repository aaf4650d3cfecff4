"""Places are shared: no sender can occupy all of them."""

from collections.abc import Sequence

import pytest

from scrubjay.core.callers import ANONYMOUS, OWNER, Caller
from scrubjay.core.errors import ScrubjayError
from scrubjay.servers.http.client_address import UNKNOWN, AddressResolver
from scrubjay.servers.http.places import Place, Places, ShareExceeded, senders_of
from scrubjay.servers.http.refusals import Overloaded

KEY = Caller("reader", key_id="key_1")


def _take_all(places: Places, senders: Sequence[str]) -> tuple[list[Place], ScrubjayError]:
    """Take places until one is refused."""
    taken: list[Place] = []
    while True:
        try:
            taken.append(places.take(senders))
        except ScrubjayError as refusal:
            return taken, refusal


@pytest.mark.parametrize(
    ("total", "shares"),
    [
        (512, [256, 128, 64, 32, 16, 8, 4, 2, 1]),  # each takes what it can get, one after the other
        (100, [50, 25, 13, 6, 3, 2]),
        (3, [2, 1]),
        (2, [1, 1]),
        (1, [1]),
    ],
)
def test_022_a_sender_gets_at_most_as_many_places_as_are_left(total: int, shares: list[int]) -> None:
    places = Places(total, "requests")
    taken: list[int] = []
    for number in range(len(shares)):
        own, refusal = _take_all(places, [f"key {number}"])
        taken.append(len(own))
        assert isinstance(refusal, ShareExceeded if places.taken < total else Overloaded)
    assert taken == shares


@pytest.mark.parametrize("senders", range(1, 30))
def test_022_senders_that_take_turns_get_equal_shares_and_leave_one_for_a_newcomer(senders: int) -> None:
    places, held = Places(512, "requests"), dict.fromkeys(range(senders), 0)
    for _ in range(512):
        for sender in held:
            try:
                places.take([f"key {sender}"])
            except ShareExceeded:
                continue
            held[sender] += 1
    assert max(held.values()) - min(held.values()) <= 1
    assert 512 - places.taken >= max(held.values()) - 1
    assert len(_take_all(places, ["key newcomer"])[0]) >= 512 // (senders + 1) // 2


def test_022_released_places_can_be_taken_again_and_a_second_release_does_nothing() -> None:
    places = Places(4, "requests")
    taken, _ = _take_all(places, ["key a", "address b"])
    assert len(taken) == 2
    for place in [*taken, *taken]:
        place.release()
    assert places.taken == 0
    assert len(_take_all(places, ["key a"])[0]) == 2
    assert len(_take_all(places, ["address b"])[0]) == 1


def test_022_a_place_grows_within_the_share_of_its_sender() -> None:
    places = Places(100, "bytes")
    body = places.take(["key a"], 0)
    body.grow(30)
    body.grow(20)
    with pytest.raises(ShareExceeded):
        body.grow(1)
    other = places.take(["key b"], 25)
    with pytest.raises(ShareExceeded):
        other.grow(1)
    body.release()
    other.grow(20)
    assert places.taken == 45
    with pytest.raises(Overloaded):
        places.take(["key c"], 56)


def test_022_callers_without_a_share_may_take_everything() -> None:
    places = Places(4, "requests")
    taken, refusal = _take_all(places, [])
    assert (len(taken), type(refusal)) == (4, Overloaded)


def test_022_a_total_of_zero_is_no_limit() -> None:
    places = Places(0, "requests")
    for _ in range(5000):
        places.take(["key a"])
    assert places.taken == 5000


def test_022_a_refusal_says_what_the_sender_has_and_does_not_name_its_key() -> None:
    _, refusal = _take_all(Places(8, "concurrent requests"), ["key key_secret"])
    assert refusal.code == "rate_limited"
    assert refusal.message == "this key has 4 of the server's 8 concurrent requests, and 4 are left for others"
    assert refusal.details == {"retry_after_seconds": 1}


@pytest.mark.parametrize(
    ("caller", "address", "names"),
    [
        (OWNER, "127.0.0.1", []),
        (OWNER, "::1", []),
        (ANONYMOUS, "127.0.0.1", []),
        (KEY, "127.0.0.1", ["key key_1"]),
        (KEY, "::ffff:127.0.0.1", ["key key_1"]),
        (KEY, "203.0.113.7", ["key key_1", "address 203.0.113.7"]),
        (ANONYMOUS, "203.0.113.7", ["address 203.0.113.7"]),
        (KEY, "2001:db8::7", ["key key_1", "address 2001:db8::/64"]),
        (KEY, "2001:db8::8", ["key key_1", "address 2001:db8::/64"]),
        (KEY, "10.0.0.5", ["key key_1"]),
        (ANONYMOUS, UNKNOWN, []),
    ],
)
def test_022_requests_are_counted_by_key_and_by_the_address_of_a_single_host(
    caller: Caller, address: str, names: list[str]
) -> None:
    assert senders_of(caller, address, AddressResolver(["10.0.0.0/8"])) == names
