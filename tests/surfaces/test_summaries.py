"""Summaries are created, listed, found and erased, on every surface. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller, Json

TURN: Json = {
    "prompt": "Can you please fix the login bug?",
    "thought": "The header is split at every colon.",
    "response": "The root cause is in src/auth.py: it splits at every colon. I fixed it. All tests pass.",
}


async def test_098_a_session_gets_a_title_a_category_scores_and_technologies(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    session = (await call("add_memory", **TURN))["sessionId"]
    job = await call("summarize_sessions", sessionId=session)
    memory_id = job["result"]["sessions"][0].pop("memoryId")
    assert (job["state"], job["result"]) == (
        "completed",
        {
            "processed": 1,
            "sessions": [
                {
                    "sessionId": session,
                    "summaryId": f"summary_{session}",
                    "title": "Fix the login bug",
                    "memoryCount": 1,
                    "method": "extractive",
                }
            ],
            "periods": [],
            "failed": [],
            "facts": 0,
        },
    )
    result = await call("query_summaries", query="what was the root cause of the login bug?", category="bugfix")
    (best,) = [summary for summary in result["results"] if summary["sessionId"] == session]
    assert best["summary"].splitlines() == [
        "Request: Can you please fix the login bug?",
        "Outcome: The root cause is in src/auth.py: it splits at every colon. I fixed it. All tests pass.",
        "Files: src/auth.py",
    ]
    # Row 84: the four scores, computed by rules.
    scores = {name: best[name] for name in ("quality", "productivity", "impact", "complexity")}
    assert scores == {"quality": 100, "productivity": 100, "impact": 3, "complexity": 7}
    assert (best["technologies"], best["method"], best["level"]) == (["Python"], "extractive", 1)
    assert best["memoryId"] == memory_id
    assert best["relevanceScore"] == round(1 / (1 + best["distance"]), 6) != 1


async def test_100_summaries_are_listed_by_category_and_erased(call: Caller, project: str) -> None:
    await call("set_project", path=project)
    await call("add_memory", **TURN, sessionId=f"session of {project}")
    await call("summarize_sessions")
    listed = await call("get_all_summaries", category="bugfix", limit=1)
    assert (listed["count"], listed["summaries"][0]["sessionId"]) == (1, f"session of {project}")
    erased = await call("delete_all_summaries")
    assert (erased["deleted"] >= 1, erased["message"]) == (True, "All summaries successfully deleted")


async def test_099_the_result_of_summarising_at_start_is_reported(call: Caller) -> None:
    startup = (await call("healthcheck"))["startup"]
    assert startup["summarizationStatus"] == "skipped"
    assert startup["summarizationDetails"]["reason"].startswith("no language model is set")
