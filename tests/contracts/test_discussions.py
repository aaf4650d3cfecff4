"""Store contract: messages between agents, and personas."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from scrubjay.app.store import Store
from scrubjay.core.errors import Conflict, NotFound, QuotaExceeded, TooLarge
from scrubjay.core.scopes import Visibility
from scrubjay.features.chat.persona_models import PersonaLayer
from scrubjay.features.discussions.models import AgentMessage, AgentReply, Discussion, ReplyWay
from tests.contracts.samples import GLOBAL_ONLY, NOW

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


async def open_messages(store: Store, owner: str | None, visibility: Visibility = GLOBAL_ONLY) -> list[str]:
    result = await store.discussions.page(owner, visibility, only_open=True, limit=MOST)
    return [discussion.message.content for discussion in result]


async def test_37_a_message_and_the_parts_of_its_answer_are_stored_and_visible_to_other_processes(
    store: Store, other: Store
) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    question = message("why", project_id=project.id, thread_id="a thread")
    await store.discussions.add(question, max_open=MOST)
    assert await other.discussions.get("key_1", "msg_why") == Discussion(question, [])
    first, last = reply("because", complete=False), reply("of that", way=ReplyWay.PRINTED)
    discussion = await other.discussions.reply("key_1", "msg_why", first, max_characters=MOST)
    assert discussion == Discussion(question, [first])
    discussion = await other.discussions.reply(None, "msg_why", last, max_characters=MOST)
    assert discussion == Discussion(replace(question, completed_at=NOW), [first, last])
    assert discussion is not None
    assert discussion.text == "because\nof that"
    assert await store.discussions.get(None, "msg_why") == discussion


async def test_37_a_message_accepts_one_complete_answer_of_limited_length(store: Store) -> None:
    await store.discussions.add(message("why"), max_open=MOST)
    with pytest.raises(TooLarge):
        await store.discussions.reply(None, "msg_why", reply("x" * 11), max_characters=10)
    await store.discussions.reply(None, "msg_why", reply("so"), max_characters=10)
    with pytest.raises(Conflict, match="already has a complete reply"):
        await store.discussions.reply(None, "msg_why", reply("or so"), max_characters=10)
    result = await store.discussions.get(None, "msg_why")
    assert result
    assert result.text == "so"


async def test_37_messages_of_other_owners_cannot_be_seen_or_answered(store: Store) -> None:
    project = await store.projects.ensure("/proj/apollo", None)
    await store.discussions.add(message("mine"), max_open=MOST)
    await store.discussions.add(message("theirs", owner="key_2"), max_open=MOST)
    await store.discussions.add(message("of apollo", project_id=project.id), max_open=MOST)
    assert await store.discussions.get("key_2", "msg_mine") is None
    assert await store.discussions.reply("key_2", "msg_mine", reply("no"), max_characters=MOST) is None
    assert await open_messages(store, "key_1") == ["mine"]
    assert await open_messages(store, "key_1", Visibility(project.id)) == ["mine", "of apollo"]
    assert await open_messages(store, None) == ["mine", "theirs"]
    with pytest.raises(NotFound):
        await store.discussions.add(message("nowhere", project_id="prj_none"), max_open=MOST)


async def test_37_the_newest_messages_are_listed_and_answered_ones_only_on_request(store: Store) -> None:
    for name in ("one", "two", "three"):
        await store.discussions.add(message(name), max_open=MOST)
    await store.discussions.reply(None, "msg_two", reply("done"), max_characters=MOST)
    assert await open_messages(store, "key_1") == ["one", "three"]
    result = await store.discussions.page("key_1", GLOBAL_ONLY, only_open=False, limit=2)
    assert [discussion.message.content for discussion in result] == ["two", "three"]


async def test_37_open_messages_are_limited_and_old_ones_erased(store: Store) -> None:
    await store.discussions.add(message("old"), max_open=1)
    with pytest.raises(QuotaExceeded):
        await store.discussions.add(message("one too many"), max_open=1)
    await store.discussions.add(message("of another", owner="key_2", created_at=NOW + timedelta(days=1)), max_open=1)
    await store.discussions.delete_before(NOW + timedelta(seconds=1))
    assert await open_messages(store, None) == ["of another"]


async def test_129_layers_of_a_persona_are_stored_per_owner(store: Store, other: Store) -> None:
    places = {PersonaLayer.PROJECT: "prj_1", PersonaLayer.SESSION: "s"}
    await store.personas.put("key_1", PersonaLayer.SESSION, "s", "brief", NOW, max_layers=MOST)
    await store.personas.put("key_1", PersonaLayer.PROJECT, "prj_1", "formal", NOW, max_layers=MOST)
    await store.personas.put("key_1", PersonaLayer.SESSION, "s", "long", NOW, max_layers=MOST)
    assert await other.personas.layers("key_1", places) == {
        PersonaLayer.SESSION: "long",
        PersonaLayer.PROJECT: "formal",
    }
    assert await other.personas.layers("key_1", {PersonaLayer.SESSION: "another"}) == {}
    assert await other.personas.layers("key_2", places) == {}
    assert await other.personas.remove("key_2", PersonaLayer.SESSION, "s") is False
    assert await other.personas.remove("key_1", PersonaLayer.SESSION, "s") is True
    assert await store.personas.layers("key_1", places) == {PersonaLayer.PROJECT: "formal"}
    with pytest.raises(QuotaExceeded):
        await store.personas.put("key_1", PersonaLayer.SESSION, "t", "more", NOW, max_layers=1)
    assert await store.personas.layers("key_1", {PersonaLayer.SESSION: "t"}) == {}
