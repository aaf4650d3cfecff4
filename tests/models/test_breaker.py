"""A circuit breaker opens after repeated failures and probes with one call at a time."""

import anyio
import anyio.lowlevel
import pytest

from scrubjay.core.errors import ErrorCode, ErrorRecord, InvalidRequest, Unavailable
from scrubjay.models.breaker import BreakerSnapshot, BreakerState, CircuitBreaker
from scrubjay.models.breakers import BreakerLimits, BreakerRegistry
from scrubjay.models.failures import FailureReason, unavailable


class FakeClock:
    """A clock that is advanced by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@pytest.fixture
def breaker(time: FakeClock) -> CircuitBreaker:
    return CircuitBreaker("the service", failures=3, pause_seconds=30, successes=1, clock=time)


def fail(breaker: CircuitBreaker, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(Unavailable, match="down"), breaker.attempt():
            raise Unavailable("down", hint="start it")


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.attempt():
        pass


def refusal(breaker: CircuitBreaker) -> ErrorRecord:
    with pytest.raises(Unavailable) as caught, breaker.attempt():
        pytest.fail("the call was let through")
    return caught.value.record


def test_consecutive_failures_open_the_breaker_and_calls_are_refused(breaker: CircuitBreaker, time: FakeClock) -> None:
    fail(breaker, 2)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    assert breaker.state is BreakerState.OPEN
    time.now += 12.5
    assert refusal(breaker) == ErrorRecord(
        ErrorCode.UNAVAILABLE,
        "the service is paused for 18 s after 3 failures; the last: down",
        "start it",
        {"reason": "paused", "retry_after_seconds": 18},
    )


def test_a_success_resets_the_failure_count(breaker: CircuitBreaker) -> None:
    fail(breaker, 2)
    succeed(breaker)
    fail(breaker, 2)
    assert breaker.state is BreakerState.CLOSED


def test_after_the_pause_one_probe_is_allowed_and_its_success_closes_the_breaker(
    breaker: CircuitBreaker, time: FakeClock
) -> None:
    fail(breaker, 3)
    time.now += 30
    assert breaker.state is BreakerState.HALF_OPEN
    with breaker.attempt():
        assert refusal(breaker).details == {"reason": "paused", "retry_after_seconds": 1}
    assert breaker.state is BreakerState.CLOSED
    fail(breaker, 2)
    assert breaker.state is BreakerState.CLOSED


def test_a_failed_probe_restarts_the_pause(breaker: CircuitBreaker, time: FakeClock) -> None:
    fail(breaker, 3)
    time.now += 30
    fail(breaker)
    assert breaker.state is BreakerState.OPEN
    time.now += 29
    assert breaker.state is BreakerState.OPEN
    time.now += 1
    succeed(breaker)
    assert breaker.state is BreakerState.CLOSED


def test_a_late_failure_does_not_extend_the_pause(breaker: CircuitBreaker, time: FakeClock) -> None:
    def fail_late() -> None:
        with breaker.attempt():
            fail(breaker, 3)
            time.now += 29
            raise Unavailable("late")

    with pytest.raises(Unavailable, match="late"):
        fail_late()
    time.now += 1
    assert breaker.state is BreakerState.HALF_OPEN


def test_a_refused_request_is_not_a_failure_of_the_service(breaker: CircuitBreaker, time: FakeClock) -> None:
    fail(breaker, 3)
    time.now += 30
    with pytest.raises(InvalidRequest), breaker.attempt():
        raise InvalidRequest("too long")
    assert breaker.state is BreakerState.CLOSED


def test_rate_limiting_does_not_open_the_breaker(breaker: CircuitBreaker) -> None:
    for _ in range(9):
        with pytest.raises(Unavailable, match="slower"), breaker.attempt():
            raise unavailable(FailureReason.RATE_LIMITED, "slower", hint="wait")
    assert breaker.state is BreakerState.CLOSED


async def test_a_cancelled_probe_allows_the_next_one(breaker: CircuitBreaker, time: FakeClock) -> None:
    fail(breaker, 3)
    time.now += 30
    with anyio.CancelScope() as scope, breaker.attempt():
        scope.cancel()
        await anyio.sleep_forever()
    assert breaker.state is BreakerState.HALF_OPEN
    succeed(breaker)
    assert breaker.state is BreakerState.CLOSED


# -- several probes --------------------------------------------------------------------------------------


async def test_023_by_default_five_failures_open_the_breaker_for_a_minute_and_three_probes_close_it(
    time: FakeClock,
) -> None:
    breaker = CircuitBreaker("the service", clock=time)
    fail(breaker, 4)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    assert breaker.standing == BreakerSnapshot(BreakerState.OPEN, 5, 60.0, "down")
    time.now += 60
    for _ in range(2):
        succeed(breaker)
        assert breaker.state is BreakerState.HALF_OPEN
    succeed(breaker)
    assert breaker.standing == BreakerSnapshot(BreakerState.CLOSED, 0, 0.0, None)


async def test_023_a_failed_probe_resets_the_count_of_successful_ones(time: FakeClock) -> None:
    breaker = CircuitBreaker("the service", failures=1, pause_seconds=10, successes=2, clock=time)
    fail(breaker)
    time.now += 10
    succeed(breaker)
    fail(breaker)
    assert breaker.state is BreakerState.OPEN
    time.now += 10
    succeed(breaker)
    assert breaker.state is BreakerState.HALF_OPEN
    succeed(breaker)
    assert breaker.state is BreakerState.CLOSED


async def test_023_a_late_success_does_not_close_an_open_breaker(breaker: CircuitBreaker) -> None:
    with breaker.attempt():
        fail(breaker, 3)
    assert breaker.state is BreakerState.OPEN


async def test_023_a_waiter_continues_when_the_probe_has_ended(breaker: CircuitBreaker, time: FakeClock) -> None:
    fail(breaker, 3)
    time.now += 30
    order: list[str] = []

    async def wait() -> None:
        await breaker.wait_for_trial()
        order.append("waited")

    async with anyio.create_task_group() as tasks:
        with breaker.attempt():
            tasks.start_soon(wait)
            await anyio.lowlevel.checkpoint()
            await anyio.lowlevel.checkpoint()
            order.append("tried")
    assert order == ["tried", "waited"]


def test_023_each_service_and_address_has_one_breaker() -> None:
    breakers = BreakerRegistry(BreakerLimits(pause_seconds=5))
    cloud = breakers.of("embedding", "openai", "openai at a.example")
    assert breakers.of("embedding", "openai", "openai at a.example") is cloud
    assert breakers.of("code_embedding", "openai", "openai at a.example") is not cloud
    near = breakers.of("embedding", "ollama", "ollama at 127.0.0.1")
    fail(cloud, 4)
    fail(near, 3)
    closed = BreakerSnapshot(BreakerState.CLOSED, 0, 0.0, None)
    assert [(one.service, one.endpoint, one.standing.state, one.standing.failures) for one in breakers] == [
        ("embedding", "openai at a.example", BreakerState.CLOSED, 4),
        ("code_embedding", "openai at a.example", closed.state, 0),
        ("embedding", "ollama at 127.0.0.1", BreakerState.OPEN, 3),
    ]
