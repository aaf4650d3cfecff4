"""What every backend keeps of what agents say to each other, and of how the chat is to be."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, NotFound, QuotaExceeded, TooLarge
from scrubjay.core.scopes import Visibility
from scrubjay.features.chat.persona_models import Layer
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion, Way
from tests.contracts.samples import NOBODY_IN_PARTICULAR, NOW

MOST = 100


def message(name: str, **fields: Any) -> AgentMessage:
    plain: dict[str, Any] = {
        "id": f"msg_{name}",
        "owner": "key_1",
        "project_id": None,
        "thread_id": f"msg_{name}",
        "sender": "mira",
        "recipient": "claude",
        "content": name,
        "created_at": NOW,
    }
    return AgentMessage(**(plain | fields))


def reply(content: str, **fields: Any) -> AgentReply:
    return AgentReply(sender="claude", content=content, created_at=NOW, **fields)


async def asked(store: Store, owner: str | None, visibility: Visibility = NOBODY_IN_PARTICULAR) -> list[str]:
    found = await store.discussions.page(owner, visibility, only_open=True, limit=MOST)
    return [one.message.content for one in found]


async def test_37_a_message_and_the_parts_of_its_answer_are_kept_and_other_processes_see_them(
    store: Store, other: Store
) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    whole = message("why", project_id=project.id, thread_id="a thread")
    await store.discussions.add(whole, most=MOST)
    assert await other.discussions.get("key_1", "msg_why") == Discussion(whole, [])
    first, last = reply("because", complete=False), reply("of that", way=Way.PRINTED)
    done = await other.discussions.reply("key_1", "msg_why", first, most_characters=MOST)
    assert done == Discussion(whole, [first])
    done = await other.discussions.reply(None, "msg_why", last, most_characters=MOST)
    assert done == Discussion(replace(whole, completed_at=NOW), [first, last])
    assert done is not None
    assert done.text == "because\nof that"
    assert await store.discussions.get(None, "msg_why") == done


async def test_37_a_message_takes_one_complete_answer_of_a_bounded_length(store: Store) -> None:
    await store.discussions.add(message("why"), most=MOST)
    with pytest.raises(TooLarge):
        await store.discussions.reply(None, "msg_why", reply("x" * 11), most_characters=10)
    await store.discussions.reply(None, "msg_why", reply("so"), most_characters=10)
    with pytest.raises(Conflict, match="complete answer already"):
        await store.discussions.reply(None, "msg_why", reply("or so"), most_characters=10)
    found = await store.discussions.get(None, "msg_why")
    assert found
    assert found.text == "so"


async def test_37_nobody_sees_or_answers_what_another_asked(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await store.discussions.add(message("mine"), most=MOST)
    await store.discussions.add(message("theirs", owner="key_2"), most=MOST)
    await store.discussions.add(message("of apollo", project_id=project.id), most=MOST)
    assert await store.discussions.get("key_2", "msg_mine") is None
    assert await store.discussions.reply("key_2", "msg_mine", reply("no"), most_characters=MOST) is None
    assert await asked(store, "key_1") == ["mine"]
    assert await asked(store, "key_1", Visibility(project.id)) == ["mine", "of apollo"]
    assert await asked(store, None) == ["mine", "theirs"]
    with pytest.raises(NotFound):
        await store.discussions.add(message("nowhere", project_id="prj_none"), most=MOST)


async def test_37_of_many_messages_the_last_are_listed_and_those_answered_only_on_request(store: Store) -> None:
    for name in ("one", "two", "three"):
        await store.discussions.add(message(name), most=MOST)
    await store.discussions.reply(None, "msg_two", reply("done"), most_characters=MOST)
    assert await asked(store, "key_1") == ["one", "three"]
    found = await store.discussions.page("key_1", NOBODY_IN_PARTICULAR, only_open=False, limit=2)
    assert [one.message.content for one in found] == ["two", "three"]


async def test_37_no_more_messages_wait_than_may_and_old_ones_are_erased(store: Store) -> None:
    await store.discussions.add(message("old"), most=1)
    with pytest.raises(QuotaExceeded):
        await store.discussions.add(message("one too many"), most=1)
    await store.discussions.add(message("of another", owner="key_2", created_at=NOW + timedelta(days=1)), most=1)
    await store.discussions.forget_before(NOW + timedelta(seconds=1))
    assert await asked(store, None) == ["of another"]


async def test_129_layers_of_a_persona_are_kept_for_each_owner(store: Store, other: Store) -> None:
    places = {Layer.PROJECT: "prj_1", Layer.SESSION: "s"}
    await store.personas.put("key_1", Layer.SESSION, "s", "brief", NOW, most=MOST)
    await store.personas.put("key_1", Layer.PROJECT, "prj_1", "formal", NOW, most=MOST)
    await store.personas.put("key_1", Layer.SESSION, "s", "long", NOW, most=MOST)
    assert await other.personas.layers("key_1", places) == {Layer.SESSION: "long", Layer.PROJECT: "formal"}
    assert await other.personas.layers("key_1", {Layer.SESSION: "another"}) == {}
    assert await other.personas.layers("key_2", places) == {}
    assert await other.personas.remove("key_2", Layer.SESSION, "s") is False
    assert await other.personas.remove("key_1", Layer.SESSION, "s") is True
    assert await store.personas.layers("key_1", places) == {Layer.PROJECT: "formal"}
    with pytest.raises(QuotaExceeded):
        await store.personas.put("key_1", Layer.SESSION, "t", "more", NOW, most=1)
    assert await store.personas.layers("key_1", {Layer.SESSION: "t"}) == {}
