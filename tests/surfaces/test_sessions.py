"""Sessions and their history, on every surface. Numbers are rows of the feature table."""

from tests.surfaces.callers import Caller

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


async def test_042_every_call_is_in_the_history_of_its_session_without_secrets(call: Caller, project: str) -> None:
    started = await call("session_start", project_path=project)
    stored = await call("remember", content="We deploy on Thursdays.", metadata={"token": TOKEN}, session_id="s1")
    history = await call("session_history", action="get_history", limit=2)
    assert history["session"]["id"] == started["session"]["id"]
    assert [(entry["tool"], entry["success"], entry["erased"]) for entry in history["history"]] == [
        ("remember", True, False),
        ("session_start", True, False),
    ]
    remembered = history["history"][0]
    assert remembered["arguments"] == {
        "content": "We deploy on Thursdays.",
        "metadata": {"token": "[secret: token]"},
        "session_id": "s1",
    }
    assert remembered["result"].startswith(f'{{"id":"{stored["id"]}","outcome":"stored"')
    assert remembered["milliseconds"] > 0
    exported = await call("export_session")
    assert exported["project"] == started["project"]
    assert exported["stats"] == {
        "tool_count": 3,
        "top_tools": [
            {"tool": "remember", "calls": 1},
            {"tool": "session_history", "calls": 1},
            {"tool": "session_start", "calls": 1},
        ],
    }
    assert [entry["tool"] for entry in exported["history"]] == ["session_start", "remember", "session_history"]
    assert TOKEN not in str(exported)
    assert exported["complete"] is True


async def test_053_a_session_has_an_id_and_lasts_until_its_client_starts_another(call: Caller, project: str) -> None:
    first = await call("session_start", project_path=project)
    again = await call("session_start", project_path=project)
    named = await call("session_start", project_path=project, session_id="mine")
    current = await call("session_history", action="current")
    assert first["session"]["id"].startswith("ses_")
    assert (first["resumed"], again["resumed"], named["resumed"]) == (False, True, False)
    assert again["session"]["id"] == first["session"]["id"]
    assert (first["active"], named["session"]["id"], named["session"]["status"]) == (True, "mine", "active")
    assert current["session"]["id"] == "mine"
    assert (current["sessions"], current["history"]) == ([], [])


async def test_094_a_session_starts_with_a_briefing(call: Caller, project: str) -> None:
    new = await call("session_start", project_path=project, name="Apollo", session_id="monday")
    assert (new["recent_sessions"], new["preferences"], new["recap"]) == ([], [], "")
    await call("remember", content="Use tabs.", fact_type="preference", category="style", scope="project")
    started = await call("session_start", project_path=project, session_id="tuesday")
    assert [(one["id"], one["note"]) for one in started["recent_sessions"]] == [
        ("monday", "2 tool calls (remember 1, session_start 1)")
    ]
    assert [(one["content"], one["kind"]) for one in started["preferences"]] == [("Use tabs.", "preference")]
    when = started["recent_sessions"][0]["last_activity"].replace("T", " ")[:16]
    assert started["recap"].splitlines() == [
        "Welcome back to Apollo. The last session here was active just now.",
        "Recent sessions:",
        f"- monday, {when} UTC: 2 tool calls (remember 1, session_start 1)",
    ]
    assert "- [style] Use tabs." in started["text"].splitlines()
    recap = await call("get_session_recap")
    assert recap == {
        "project": started["project"],
        "last_activity": started["recent_sessions"][0]["last_activity"],
        "recent_sessions": started["recent_sessions"],
        "pending_tasks": [],
        "active_goals": [],
        "text": started["recap"],
    }


async def test_045_forgotten_text_is_removed_from_history_and_jobs(call: Caller, project: str) -> None:
    """Quotations are removed too: the title of a summary, the note of a session, an answer."""
    await call("session_start", project_path=project, session_id="monday")
    prompt, response = "Fix the zanzibarquux parser", "The zanzibarquux parser is fixed in src/parser.py."
    turn = await call("add_memory", prompt=prompt, thought="", response=response, sessionId="monday")
    job = await call("summarize_sessions", sessionId="monday")
    assert "zanzibarquux" in job["result"]["sessions"][0]["title"]
    started = await call("session_start", project_path=project, session_id="tuesday")
    assert "zanzibarquux" in started["recap"]
    assert "zanzibarquux" in str(await call("ask_mimo", query="What was fixed in the parser?"))
    forgotten = await call("forget", id=turn["id"])
    assert job["result"]["sessions"][0]["memoryId"] in forgotten["also"]
    for session in ("monday", "tuesday"):
        assert "zanzibarquux" not in str(await call("export_session", session_id=session))
    after = await call("get_job", job_id=job["job_id"])
    assert (after["state"], after["result"]) == ("completed", None)
    assert after["progress"]["message"] == "erased: it named a forgotten memory"
