"""Database maintenance, on every surface. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller


async def test_102_127_the_store_reports_that_it_is_embedded(call: Caller, project: str) -> None:
    await call("remember", content="The store is well.", project=project)
    health = await call("healthcheck")
    assert health["status"] == "healthy"
    assert health["database"]["process"]["strategy"] == "embedded"
    memories = health["database"]["connection"]["collections"]["memories"]
    assert (memories["name"], memories["exists"]) == ("memories", True)
    assert memories["count"] >= 1
    assert health["startup"]["summarizationStatus"] in ("skipped", "completed")
    assert (await call("start_database"))["status"] == "already_running"
    stopped = await call("stop_database")
    assert (stopped["status"], stopped["detail"].split(":")[0]) == ("not_running", "nothing was stopped")
