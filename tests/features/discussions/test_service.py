"""Agents ask each other, and what they say is kept, told and seen by nobody else (feature 37)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Conflict, InvalidRequest, NotFound, TooLarge, Unavailable
from scrubjay.features.discussions.service import MOST_ANSWER
from tests.features.delegation.acting import Json, call, is_there, make_agent, noted_pid, settings

ADA, BOB = (Caller(name, frozenset({"agents"}), f"key_{name}") for name in ("ada", "bob"))
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return make_agent(tmp_path / "bin")


@pytest.fixture
async def app(tmp_path: Path, program: Path) -> AsyncGenerator[Application]:
    """Where a coding agent is installed."""
    async with running(settings(tmp_path / "home", str(program))) as app:
        yield app


@pytest.fixture
async def alone(tmp_path: Path) -> AsyncGenerator[Application]:
    """Where none is."""
    async with running(settings(tmp_path / "home", "no-such-agent")) as app:
        yield app


async def heard(app: Application, **who: Any) -> Json:
    """The first message that waits for an answer, for an agent that listens."""
    with anyio.fail_after(10):
        return (await call(app, "agent_messages", wait_seconds=10, **who))["messages"][0]


async def until_heard(ask: Callable[[], Awaitable[None]]) -> None:
    """Asks as soon as somebody listens: before that there is nobody to answer."""
    with anyio.fail_after(10):
        while True:
            try:
                return await ask()
            except Unavailable:
                await anyio.sleep(0.01)


async def test_37_what_a_coding_agent_prints_is_its_answer(app: Application) -> None:
    answer = await call(app, "discuss", message="say it is the cache", timeout_seconds=30)
    assert (answer["status"], answer["content"]) == ("answered", "it is the cache")
    assert (answer["replied_by"], answer["way"], answer["note"]) == ("claude", "printed", None)
    kept = (await call(app, "agent_messages", message_id=answer["message_id"]))["messages"][0]
    assert (kept["content"], kept["replies"][0]["content"]) == ("say it is the cache", "it is the cache")
    assert kept["completed_at"]
    assert (await call(app, "agent_messages"))["messages"] == []


async def test_37_an_agent_answers_from_another_process_and_its_chatter_is_left_out(app: Application) -> None:
    answer = await call(app, "discuss", message="reply because of the tests", timeout_seconds=60)
    assert (answer["status"], answer["content"]) == ("answered", "because of the tests")
    assert answer["way"] == "called"


async def test_37_an_agent_that_ends_with_a_part_has_given_a_part(app: Application) -> None:
    answer = await call(app, "discuss", message="begin first of all", timeout_seconds=60)
    assert (answer["status"], answer["content"]) == ("partial", "first of all")


async def test_37_a_coding_agent_is_found_in_the_path(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    async with running(settings(tmp_path / "home", "claude")) as app:
        assert (await call(app, "discuss", message="say here"))["content"] == "here"


async def test_37_another_agent_answers_in_parts_while_others_go_on(alone: Application) -> None:
    answers: list[Json] = []

    async def ask() -> None:
        answers.append(await call(alone, "discuss", caller=ADA, client="ada", message="why?", thread_id="t"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(until_heard, ask)
        message = await heard(alone, caller=ADA, client="listener")
        assert (message["content"], message["sent_by"], message["thread_id"]) == ("why?", "ada", "t")
        for part, complete in (("first", False), ("second", False), ("third", True)):
            told = await call(
                alone,
                "reply_to_mira",
                caller=ADA,
                client="listener",
                in_reply_to=message["message_id"],
                content=part,
                complete=complete,
            )
            assert told["complete"] is complete
    assert (answers[0]["status"], answers[0]["content"]) == ("answered", "first\nsecond\nthird")
    assert (answers[0]["replied_by"], answers[0]["thread_id"]) == ("listener", "t")


async def test_37_with_nobody_to_answer_nothing_is_asked(alone: Application) -> None:
    with pytest.raises(Unavailable, match="nobody to answer") as refused:
        await call(alone, "discuss", message="hello?")
    assert refused.value.hint
    assert (await call(alone, "agent_messages", include_answered=True))["messages"] == []


async def test_37_who_may_not_run_commands_starts_no_agent(app: Application) -> None:
    with pytest.raises(Unavailable, match="nobody to answer"):
        await call(app, "discuss", caller=ADA, message="say hello")


async def test_37_a_timeout_is_said_and_a_later_answer_is_kept(app: Application, program: Path) -> None:
    answer = await call(app, "discuss", message="hang", timeout_seconds=2)
    assert (answer["status"], answer["content"], answer["replied_by"]) == ("timeout", None, None)
    assert answer["note"] == "Timeout: no complete reply came within 2 seconds"
    assert not is_there(await noted_pid(program.parent))
    await call(app, "reply_to_mira", in_reply_to=answer["message_id"], content="sorry, late")
    kept = (await call(app, "agent_messages", message_id=answer["message_id"]))["messages"][0]
    assert kept["replies"][0]["content"] == "sorry, late"


async def test_37_what_goes_wrong_with_an_agent_is_told(app: Application) -> None:
    with pytest.raises(Unavailable, match="ended with 1 and answered nothing: I am out of order"):
        await call(app, "discuss", message="fail")
    with pytest.raises(Unavailable, match="ended with 0 and answered nothing"):
        await call(app, "discuss", message="silence")


async def test_37_giving_up_ends_the_agent_that_was_asked(app: Application, program: Path) -> None:
    pid = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call(app, "discuss", message="hang"))
        pid = await noted_pid(program.parent)
        assert b"hang" not in await anyio.Path(f"/proc/{pid}/cmdline").read_bytes()  # which everybody can read
        tasks.cancel_scope.cancel()
    assert pid
    assert not is_there(pid)


async def test_37_only_what_waits_can_be_answered_and_only_by_its_own(alone: Application) -> None:
    asked: list[str] = []

    async def ask() -> None:
        asked.append((await call(alone, "discuss", caller=ADA, message="mine", timeout_seconds=600))["status"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(until_heard, ask)
        message_id = (await heard(alone, caller=ADA))["message_id"]
        arguments = {"in_reply_to": message_id, "content": "yes"}
        assert (await call(alone, "agent_messages", caller=BOB))["messages"] == []
        for client in (None, "me"):
            with pytest.raises(NotFound):
                await call(alone, "reply_to_mira", **arguments, caller=BOB, client=client)
            with pytest.raises(NotFound):
                await call(alone, "agent_messages", message_id=message_id, caller=BOB, client=client)
        with pytest.raises(NotFound):
            await call(alone, "reply_to_mira", caller=ADA, in_reply_to="msg_none", content="yes")
        for content in ("", "  ", "x" * 100_001):
            with pytest.raises(InvalidRequest):
                await call(alone, "reply_to_mira", caller=ADA, in_reply_to=message_id, content=content)
        part = "x" * 90_000
        for _ in range(MOST_ANSWER // len(part)):
            await call(alone, "reply_to_mira", caller=ADA, in_reply_to=message_id, content=part, complete=False)
        with pytest.raises(TooLarge):
            await call(alone, "reply_to_mira", caller=ADA, in_reply_to=message_id, content=part)
        await call(alone, "reply_to_mira", caller=ADA, **arguments)
        with pytest.raises(Conflict, match="complete answer already"):
            await call(alone, "reply_to_mira", caller=ADA, **arguments)
    assert asked == ["answered"]


async def test_37_secrets_are_masked_on_the_way(app: Application) -> None:
    answer = await call(app, "discuss", message=f"say the token is {SECRET}")
    assert answer["content"] == "the token is [secret: github token]"
    kept = (await call(app, "agent_messages", message_id=answer["message_id"]))["messages"][0]
    assert SECRET not in str(kept)


async def test_37_what_agents_say_is_not_in_the_history_of_calls(app: Application, tmp_path: Path) -> None:
    await call(app, "session_start", project_path=str(tmp_path), session_id="s")
    await call(app, "discuss", message="say xylophone")
    history = (await call(app, "session_history", action="get_history", session_id="s"))["history"]
    assert history[0]["tool"] == "discuss"
    assert "xylophone" not in str(history)
