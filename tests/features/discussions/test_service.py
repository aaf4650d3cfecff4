"""Messages between agents: stored, published, and visible only to their owner (feature 37)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.application import Application
from scrubjay.app.lifespan import running
from scrubjay.core.callers import Caller
from scrubjay.core.errors import Conflict, InvalidRequest, NotFound, TooLarge, Unavailable
from scrubjay.features.discussions.service import MAX_ANSWER_CHARACTERS
from tests.features.delegation.scripted_agent import Json, call, is_alive, make_agent, read_pid, settings

ADA, BOB = (Caller(name, frozenset({"agents"}), f"key_{name}") for name in ("ada", "bob"))
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ456789"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return make_agent(tmp_path / "bin")


@pytest.fixture
async def app(tmp_path: Path, program: Path) -> AsyncGenerator[Application]:
    """An application with an installed coding agent."""
    async with running(settings(tmp_path / "home", str(program))) as app:
        yield app


@pytest.fixture
async def no_agent_app(tmp_path: Path) -> AsyncGenerator[Application]:
    """An application without a coding agent."""
    async with running(settings(tmp_path / "home", "no-such-agent")) as app:
        yield app


async def wait_for_message(app: Application, **identity: Any) -> Json:
    """Wait as a listening agent for the first message without a reply."""
    with anyio.fail_after(10):
        return (await call(app, "agent_messages", wait_seconds=10, **identity))["messages"][0]


async def retry_until_available(ask: Callable[[], Awaitable[None]]) -> None:
    """Call `ask` until another agent listens; before that it raises `Unavailable`."""
    with anyio.fail_after(10):
        while True:
            try:
                return await ask()
            except Unavailable:
                await anyio.sleep(0.01)


async def test_37_the_output_of_a_coding_agent_is_its_reply(app: Application) -> None:
    answer = await call(app, "discuss", message="say it is the cache", timeout_seconds=30)
    assert (answer["status"], answer["content"]) == ("answered", "it is the cache")
    assert (answer["replied_by"], answer["way"], answer["note"]) == ("claude", "printed", None)
    message = (await call(app, "agent_messages", message_id=answer["message_id"]))["messages"][0]
    assert (message["content"], message["replies"][0]["content"]) == ("say it is the cache", "it is the cache")
    assert message["completed_at"]
    assert (await call(app, "agent_messages"))["messages"] == []


async def test_37_an_agent_replies_from_another_process_and_its_output_is_ignored(app: Application) -> None:
    answer = await call(app, "discuss", message="reply because of the tests", timeout_seconds=60)
    assert (answer["status"], answer["content"]) == ("answered", "because of the tests")
    assert answer["way"] == "called"


async def test_37_an_agent_that_exits_after_part_of_its_reply_gives_a_partial_reply(app: Application) -> None:
    answer = await call(app, "discuss", message="begin first of all", timeout_seconds=60)
    assert (answer["status"], answer["content"]) == ("partial", "first of all")


async def test_37_a_coding_agent_is_found_in_the_path(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    async with running(settings(tmp_path / "home", "claude")) as app:
        assert (await call(app, "discuss", message="say here"))["content"] == "here"


async def test_37_a_listening_agent_replies_in_parts_while_other_calls_run(no_agent_app: Application) -> None:
    answers: list[Json] = []

    async def ask() -> None:
        answers.append(await call(no_agent_app, "discuss", caller=ADA, client="ada", message="why?", thread_id="t"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(retry_until_available, ask)
        message = await wait_for_message(no_agent_app, caller=ADA, client="listener")
        assert (message["content"], message["sent_by"], message["thread_id"]) == ("why?", "ada", "t")
        for part, complete in (("first", False), ("second", False), ("third", True)):
            reply = await call(
                no_agent_app,
                "reply_to_mira",
                caller=ADA,
                client="listener",
                in_reply_to=message["message_id"],
                content=part,
                complete=complete,
            )
            assert reply["complete"] is complete
    assert (answers[0]["status"], answers[0]["content"]) == ("answered", "first\nsecond\nthird")
    assert (answers[0]["replied_by"], answers[0]["thread_id"]) == ("listener", "t")


async def test_37_without_an_agent_that_can_answer_no_message_is_stored(no_agent_app: Application) -> None:
    with pytest.raises(Unavailable, match="no agent can answer") as refused:
        await call(no_agent_app, "discuss", message="hello?")
    assert refused.value.hint
    assert (await call(no_agent_app, "agent_messages", include_answered=True))["messages"] == []


async def test_37_a_caller_without_the_terminal_scope_starts_no_agent(app: Application) -> None:
    with pytest.raises(Unavailable, match="no agent can answer"):
        await call(app, "discuss", caller=ADA, message="say hello")


async def test_37_a_timeout_is_reported_and_a_later_reply_is_stored(app: Application, program: Path) -> None:
    answer = await call(app, "discuss", message="hang", timeout_seconds=2)
    assert (answer["status"], answer["content"], answer["replied_by"]) == ("timeout", None, None)
    assert answer["note"] == "Timeout: no complete reply within 2 seconds"
    assert not is_alive(await read_pid(program.parent))
    await call(app, "reply_to_mira", in_reply_to=answer["message_id"], content="sorry, late")
    message = (await call(app, "agent_messages", message_id=answer["message_id"]))["messages"][0]
    assert message["replies"][0]["content"] == "sorry, late"


async def test_37_failures_of_the_coding_agent_are_reported(app: Application) -> None:
    with pytest.raises(Unavailable, match="exited with status 1 and without an answer: I am out of order"):
        await call(app, "discuss", message="fail")
    with pytest.raises(Unavailable, match="exited with status 0 and without an answer"):
        await call(app, "discuss", message="silence")


async def test_37_cancelling_ends_the_coding_agent(app: Application, program: Path) -> None:
    pid = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call(app, "discuss", message="hang"))
        pid = await read_pid(program.parent)
        # Every user of the machine can read the command line.
        assert b"hang" not in await anyio.Path(f"/proc/{pid}/cmdline").read_bytes()
        tasks.cancel_scope.cancel()
    assert pid
    assert not is_alive(pid)


async def test_37_only_open_messages_of_the_same_owner_can_be_answered(no_agent_app: Application) -> None:
    statuses: list[str] = []

    async def ask() -> None:
        statuses.append(
            (await call(no_agent_app, "discuss", caller=ADA, message="mine", timeout_seconds=600))["status"]
        )

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(retry_until_available, ask)
        message_id = (await wait_for_message(no_agent_app, caller=ADA))["message_id"]
        arguments = {"in_reply_to": message_id, "content": "yes"}
        assert (await call(no_agent_app, "agent_messages", caller=BOB))["messages"] == []
        for client in (None, "me"):
            with pytest.raises(NotFound):
                await call(no_agent_app, "reply_to_mira", **arguments, caller=BOB, client=client)
            with pytest.raises(NotFound):
                await call(no_agent_app, "agent_messages", message_id=message_id, caller=BOB, client=client)
        with pytest.raises(NotFound):
            await call(no_agent_app, "reply_to_mira", caller=ADA, in_reply_to="msg_none", content="yes")
        for content in ("", "  ", "x" * 100_001):
            with pytest.raises(InvalidRequest):
                await call(no_agent_app, "reply_to_mira", caller=ADA, in_reply_to=message_id, content=content)
        part = "x" * 90_000
        for _ in range(MAX_ANSWER_CHARACTERS // len(part)):
            await call(no_agent_app, "reply_to_mira", caller=ADA, in_reply_to=message_id, content=part, complete=False)
        with pytest.raises(TooLarge):
            await call(no_agent_app, "reply_to_mira", caller=ADA, in_reply_to=message_id, content=part)
        await call(no_agent_app, "reply_to_mira", caller=ADA, **arguments)
        with pytest.raises(Conflict, match="already has a complete reply"):
            await call(no_agent_app, "reply_to_mira", caller=ADA, **arguments)
    assert statuses == ["answered"]


async def test_37_secrets_in_messages_and_replies_are_masked(app: Application) -> None:
    answer = await call(app, "discuss", message=f"say the token is {SECRET}")
    assert answer["content"] == "the token is [secret: github token]"
    message = (await call(app, "agent_messages", message_id=answer["message_id"]))["messages"][0]
    assert SECRET not in str(message)


async def test_37_messages_are_not_in_the_call_history(app: Application, tmp_path: Path) -> None:
    await call(app, "session_start", project_path=str(tmp_path), session_id="s")
    await call(app, "discuss", message="say xylophone")
    history = (await call(app, "session_history", action="get_history", session_id="s"))["history"]
    assert history[0]["tool"] == "discuss"
    assert "xylophone" not in str(history)
