"""The tools of forgetting: previews, health, protection and refusals."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.sqlite_store import SqliteStore
from scrubjay.core.errors import NotFound
from scrubjay.tooling.context import CallContext
from tests.contracts.samples import write

Call = Callable[..., Awaitable[dict[str, Any]]]
MEMORIES = {"faded": (0.5, 20), "fresh": (0.5, 0), "old": (0.65, 31), "precious": (0.96, 400), "strong": (0.9, 0)}


@pytest.fixture
async def ids(tmp_path: Path) -> dict[str, str]:
    """Fill a store and return the ids of its memories by name."""
    store = await SqliteStore.open(tmp_path)
    now = datetime.now(UTC)
    writes = {
        name: write(name, importance=importance, recorded_at=stored_at, updated_at=stored_at)
        for name, (importance, days) in MEMORIES.items()
        for stored_at in [now - timedelta(days=days)]
    }
    await store.memories.put(list(writes.values()))
    await store.close()
    return {name: one.memory.id for name, one in writes.items()}


@pytest.fixture
async def call(tmp_path: Path, ids: dict[str, str], request: pytest.FixtureRequest) -> AsyncGenerator[Call]:
    settings = Settings.model_validate({"home": tmp_path, "forgetting": getattr(request, "param", {})})
    async with running(settings) as application:

        async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
            result = await application.dispatcher.call(tool, arguments, CallContext(surface="python"))
            return result.model_dump(mode="json")

        yield call


async def test_049_nothing_is_erased_without_dry_run_false(call: Call, ids: dict[str, str]) -> None:
    preview = (await call("forget_faded"))["result"]
    assert preview.pop("evaluated_at")
    assert [(one["id"], one["reason"], round(one["strength"], 3)) for one in preview.pop("memories")] == [
        (ids["faded"], "faded", 0.068),
        (ids["old"], "faded", 0.029),
    ]
    assert preview == {
        "dry_run": True,
        "considered": 5,
        "forgotten": 2,
        "reasons": {"faded": 2, "old": 0, "over_capacity": 0},
        "spared": 1,
        "bands": {"forget": 3, "at_risk": 0, "healthy": 1, "strong": 1},
    }
    done = (await call("forget_faded", dry_run=False))["result"]
    assert (done["dry_run"], done["forgotten"]) == (False, 2)
    with pytest.raises(NotFound):
        await call("memory_health", id=ids["faded"])


async def test_048_health_reports_bands_totals_and_one_memory(call: Call, ids: dict[str, str]) -> None:
    await call("forget_faded", dry_run=False)
    health = await call("memory_health", id=ids["strong"])
    assert health.pop("last_run")
    memory = health.pop("memory")
    assert 0 <= memory.pop("age_days") < 0.1
    assert memory.pop("strength") == pytest.approx(0.9, abs=0.01)
    assert memory.pop("predicted_days") == pytest.approx(21.97, abs=0.01)
    assert memory.pop("days_left") == pytest.approx(21.97, abs=0.1)
    assert memory == {"id": ids["strong"], "band": "strong", "importance": 0.9, "uses": 0, "protected": False}
    assert health == {
        "memories": 3,
        "bands": {"forget": 1, "at_risk": 0, "healthy": 1, "strong": 1},
        "would_forget": 0,
        "enabled": False,
        "threshold": 0.1,
        "interval_ms": None,
        "last_batch_count": 2,
        "total_forgotten": 2,
    }


@pytest.mark.parametrize("call", [{"cleanup": True, "threshold": 0.0, "cleanup_max_memories": 2}], indirect=True)
async def test_050_cleanup_is_a_setting(call: Call, ids: dict[str, str]) -> None:
    done = (await call("forget_faded", dry_run=False))["result"]
    assert done["reasons"] == {"faded": 0, "old": 1, "over_capacity": 2}
    assert [(one["id"], one["reason"]) for one in done["memories"]] == [
        (ids["old"], "old"),
        (ids["faded"], "over_capacity"),
        (ids["fresh"], "over_capacity"),
    ]


async def test_049_a_memory_is_spared_while_it_is_protected(call: Call, ids: dict[str, str]) -> None:
    assert await call("protect_memory", id=ids["faded"]) == {"id": ids["faded"], "protected": True}
    done = (await call("forget_faded", dry_run=False))["result"]
    assert ([one["id"] for one in done["memories"]], done["spared"]) == ([ids["old"]], 2)
    memory = (await call("memory_health", id=ids["faded"]))["memory"]
    assert (memory["protected"], memory["predicted_days"]) == (True, None)
    assert await call("unprotect_memory", id=ids["faded"]) == {"id": ids["faded"], "protected": False}
    assert (await call("forget_faded", dry_run=False))["result"]["forgotten"] == 1


@pytest.mark.parametrize("tool", ["protect_memory", "unprotect_memory", "memory_health"])
async def test_049_an_unknown_memory_is_not_found(call: Call, tool: str) -> None:
    with pytest.raises(NotFound):
        await call(tool, id="mem_nothing")
