"""Limits of the live channel, and what rough clients can do to it: nothing (feature 6)."""

import json

import anyio
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.servers.phoenix.toys import TOPIC, stage, until


async def test_6_the_most_urgent_question_is_next_and_equals_keep_their_order() -> None:
    async with stage(workers=1) as server, server.client() as client:
        for ref, priority in (("wait", 5), ("low", 1), ("first", 5), ("second", 5), ("high", 9)):
            asked = await client.push("query", q=f"{ref}", ref=ref, priority=priority)
            assert asked == {"status": "ok", "response": {"ref": ref, "status": "processing"}}
        server.scene.go.set()
        await client.hear("result", of="low")
        assert server.scene.began == ["wait", "high", "first", "second", "low"]


async def test_6_a_timeout_counts_from_the_asking_and_the_work_has_stopped() -> None:
    async with stage(workers=1) as server, server.client() as client:
        await client.push("query", q="wait", ref="working", timeout=200)
        await client.push("query", q="wait", ref="waiting", timeout=50)
        for ref in ("waiting", "working"):
            result = (await client.hear("result", of=ref))[4]
            assert result["status"] == "error"
            assert result["data"]["error"]["details"]["reason"] == "timeout"
        assert (server.scene.began, server.scene.running) == (["wait"], 0)


async def test_6_an_interrupt_reaches_what_waits_and_what_is_worked_on() -> None:
    async with stage(workers=1) as server, server.client() as client:
        await client.push("query", q="wait", ref="working")
        await client.push("query", q="wait", ref="waiting")
        await until(lambda: server.scene.running == 1)
        for ref in ("waiting", "working"):
            await client.say("interrupt", ref=ref)
            result = (await client.hear("result", of=ref))[4]
            assert (result["status"], result["data"]) == ("interrupted", {"reason": "user requested"})
        assert (server.scene.began, server.scene.running) == (["wait"], 0)


async def test_6_an_interrupt_is_told_once_however_often_it_is_said() -> None:
    async with stage() as server, server.client() as client:
        await client.push("query", q="wait", ref="q")
        await until(lambda: server.scene.running == 1)
        for reason in ("first", "second", "third"):
            await client.say("interrupt", ref="q", reason=reason)
        await client.hear("result", of="q")
        await client.push("ping")
        told = [(frame[3], frame[4]["ref"]) for frame in client.heard if frame[3] in ("interrupted", "result", "error")]
        assert told == [("interrupted", "q"), ("result", "q")]
        assert (await client.push("interrupt", ref="q"))["response"] == {"ref": "q", "found": False}


async def test_6_only_what_is_joined_is_listened_to() -> None:
    async with stage() as server, server.client() as client:
        unmatched = {"status": "error", "response": {"reason": "unmatched topic"}}
        assert await client.push("query", topic="cortex:another", q="hello", ref="q") == unmatched
        for join_ref, answer in (("8", {"status": "ok", "response": {"pong": True}}), ("7", unmatched)):
            if join_ref == "8":  # a second join, after which the first is stale
                for ref in ("7", "8"):
                    await client.socket.send(json.dumps([ref, ref, TOPIC, "phx_join", {"api_key": "one"}]))
                    assert (await client.hear("phx_reply", ref=ref))[4]["status"] == "ok"
            await client.socket.send(json.dumps([join_ref, "9", TOPIC, "ping", {}]))
            assert (await client.hear("phx_reply", ref="9"))[4] == answer
        assert await client.push("phx_leave") == {"status": "ok", "response": {}}
        assert await client.push("ping") == unmatched
        assert await client.push("heartbeat", topic="phoenix") == {"status": "ok", "response": {}}
        assert server.scene.began == []


@pytest.mark.parametrize("end", ["phx_leave", "phx_join", "close"])
async def test_6_work_ends_with_its_channel(end: str) -> None:
    async with stage() as server, server.client() as client:
        await client.push("query", q="wait", ref="q")
        await until(lambda: server.scene.running == 1)
        if end == "close":
            await client.socket.close()
        else:
            assert (await client.push(end, api_key="one"))["status"] == "ok"
        await until(lambda: server.scene.running == 0)
        if end == "phx_join":  # again on the same topic: the earlier one is closed, and the new one works
            assert [frame[3] for frame in client.heard if frame[3] == "phx_close"] == ["phx_close"]
            await client.push("query", q="hello", ref="q")
            assert (await client.hear("result"))[4]["status"] == "success"


async def test_6_too_much_at_once_is_refused_as_overloaded() -> None:
    async with stage(workers=1, waiting=1, open_per_connection=3) as server, server.client() as client:
        for ref in ("a", "b"):
            assert (await client.push("query", q="wait", ref=ref))["status"] == "ok"
        refused = await client.push("query", q="wait", ref="c")
        assert (refused["status"], refused["response"]["reason"]) == ("error", "overloaded")
        used = await client.push("query", q="wait", ref="a")
        assert used["response"]["reason"] == "ref is in use"


async def test_6_scopes_are_heeded_and_callers_of_other_keys_are_not_seen() -> None:
    async with stage() as server, server.client() as client, server.client(join="two") as other:
        await other.push("call", tool="ask_toy", arguments={"query": "hello"}, ref="c")
        result = (await other.hear("result"))[4]
        assert (result["status"], result["data"]["error"]["code"]) == ("error", "forbidden")
        assert server.scene.began == []
        await client.push("call", tool="ask_toy", arguments={"query": "think 1"}, ref="c")
        progress = (await client.hear("progress"))[4]
        assert (progress["ref"], progress["done"], progress["total"], progress["message"]) == ("c", 1, 2, "halfway")
        assert (await client.hear("result"))[4]["status"] == "success"
        assert not [frame for frame in client.heard if frame[3] == "presence_diff"]


async def test_13_a_revoked_key_ends_its_connection_and_the_work_on_it() -> None:
    async with stage() as server, server.client() as client, server.client(join="two") as other:
        await client.push("query", q="wait", ref="q")
        await until(lambda: server.scene.running == 1)
        server.porter.revoked.add("one")
        assert await client.until_closed() == 1008
        assert server.scene.running == 0
        assert (await other.push("ping"))["status"] == "ok"
        server.porter.revoked.add("two")
        await other.say("query", q="hello", ref="q")
        assert await other.until_closed() == 1008
        assert server.scene.began == ["wait"]


async def test_13_who_guesses_keys_is_sent_away() -> None:
    async with stage(wrong_keys=3) as server, server.client(join=None) as client:
        reasons = [(await client.push("phx_join", api_key="guess"))["response"]["reason"] for _ in range(3)]
        assert reasons == ["unauthorized"] * 3
        assert await client.until_closed() == 1008


async def test_6_a_thousand_malformed_frames_harm_nobody() -> None:
    frames: list[str | bytes] = [
        "",
        "{",
        "[]",
        "null",
        "[1,2,3,4,5]",
        '[null,null,"cortex:agent","query",[]]',
        json.dumps([None, "1", "x" * 300, "phx_join", {}]),
        "[" * 1000,
        b"",
        b"\x00\xff\xff\xff\xff",
        b"\x01\x02",
    ]
    sent = 0
    async with stage() as server, server.client() as bystander:
        while sent < 1000:
            async with server.client(join=None) as client:
                try:
                    for frame in frames * 3:
                        await client.socket.send(frame)
                        sent += 1
                    await client.until_closed()
                except ConnectionClosed:
                    pass
                assert client.socket.close_code == 1008
        assert (await bystander.push("ping"))["response"] == {"pong": True}
        await until(lambda: server.synapse.connections == 1)


async def test_6_who_sends_too_fast_is_told_and_then_let_go() -> None:
    async with stage(messages_per_second=5) as server, server.client() as client:
        for _ in range(8):
            await client.say("ping")
        refused = await client.hear("phx_reply", ref="8")
        assert refused[4] == {"status": "error", "response": {"reason": "rate_limited"}}
        for _ in range(20):
            await client.say("ping")
        assert await client.until_closed() == 1008


async def test_6_a_frame_that_is_too_large_and_a_flood_close_the_connection() -> None:
    async with stage() as server:
        async with server.client() as client:
            await client.socket.send("x" * 100_000)
            assert await client.until_closed() == 1009
        async with server.client() as client:
            client.socket.transport.write(b"\x81\x80\x00\x00\x00\x00" * 5000)  # empty texts, as they are on the wire
            assert await client.until_closed() == 1008
            assert client.socket.close_reason == "too many messages at once"
        await until(lambda: server.synapse.connections == 0)


async def test_6_no_more_connections_than_allowed_and_only_known_versions() -> None:
    async with stage(connections=1) as server, server.client():
        with pytest.raises(InvalidStatus) as refused:
            async with server.client():
                pass
        assert refused.value.response.status_code == 503
    async with stage() as server:
        with pytest.raises(InvalidStatus) as refused:
            async with server.client(vsn="3.0.0"):
                pass
        assert refused.value.response.status_code == 422


async def test_022_who_joins_nothing_makes_room_for_who_does() -> None:
    async with (
        stage(connections=2) as server,
        server.client() as member,
        server.client(join=None) as silent,
        server.client() as client,
    ):
        assert (await client.push("ping"))["status"] == "ok"
        assert await silent.until_closed() == 1001
        assert (await member.push("ping"))["status"] == "ok"
        with pytest.raises(InvalidStatus):
            async with server.client():
                pass


async def test_6_version_1_of_the_format_is_spoken_too() -> None:
    async with stage() as server, server.client(join=None, vsn="1.0.0") as client:
        joining = {"topic": TOPIC, "event": "phx_join", "payload": {"token": "one"}, "ref": "1"}
        await client.socket.send(json.dumps(joining))
        reply = {"status": "ok", "response": {"agent_id": "agent"}}
        assert json.loads(await client.socket.recv()) == {
            "topic": TOPIC,
            "event": "phx_reply",
            "payload": reply,
            "ref": "1",
        }


async def test_6_a_client_that_says_nothing_is_let_go() -> None:
    async with stage(idle_seconds=0.1) as server:
        async with server.client() as client:
            assert await client.until_closed() == 1001
        async with server.client(join=None) as client:  # heartbeats alone are no reason to stay
            assert await client.until_closed() == 1001


async def test_6_a_slow_reader_loses_thoughts_before_results_and_is_told_once() -> None:
    async with stage(outbox_messages=50) as server, server.client() as client:
        await client.push("query", q="think 200", ref="q")
        result = (await client.hear("result"))[4]
        assert result["status"] == "success"
        told = [frame[4]["dropped"] for frame in client.heard if frame[3] == "system:thoughts_dropped"]
        heard = sum(frame[3] in ("thought", "progress") for frame in client.heard)
        assert told == [401 - heard]  # one more of its own: that it is worked on
        assert told[0] > 0


async def test_6_who_never_reads_is_let_go() -> None:
    limits = {"outbox_bytes": 100_000, "slow_seconds": 0.2, "messages_per_second": 10_000}
    async with stage(**limits) as server, server.client() as bystander, server.client() as client:
        client.socket.transport.pause_reading()

        async def ask_for_ever() -> None:
            while True:
                await client.say("query", q="think 50", ref=client.next_ref, padding="x" * 1000)

        with anyio.fail_after(30), pytest.raises(ConnectionClosed):  # it is cut while it still asks
            await ask_for_ever()
        await until(lambda: server.synapse.connections == 1)
        assert (await bystander.push("ping"))["status"] == "ok"


async def test_6_a_connection_that_breaks_off_gives_its_turn_back() -> None:
    async with stage(workers=1, waiting=1) as server, server.client() as bystander:
        for number in range(20):
            async with server.client() as client:
                await client.say("query", q="wait", ref=number)
                if number % 2:
                    await until(lambda: server.scene.running == 1)
                client.socket.transport.abort()
            await until(lambda: server.synapse.connections == 1)
        await bystander.push("query", q="hello", ref="q")
        assert (await bystander.hear("result"))[4]["status"] == "success"
        assert server.scene.running == 0
