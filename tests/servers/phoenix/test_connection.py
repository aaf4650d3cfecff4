"""Limits of the Synapse channel, and its behaviour with slow, malformed and abusive clients (feature 6)."""

import json

import anyio
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.servers.phoenix.channel_server import TOPIC, running_server, wait_until


async def test_6_questions_run_by_priority_then_in_order_of_arrival() -> None:
    async with running_server(workers=1) as server, server.client() as client:
        for ref, priority in (("wait", 5), ("low", 1), ("first", 5), ("second", 5), ("high", 9)):
            reply = await client.push("query", q=f"{ref}", ref=ref, priority=priority)
            assert reply == {"status": "ok", "response": {"ref": ref, "status": "processing"}}
        server.tool_state.go.set()
        await client.receive("result", work_ref="low")
        assert server.tool_state.began == ["wait", "high", "first", "second", "low"]


async def test_6_the_timeout_includes_the_time_in_the_queue_and_stops_the_work() -> None:
    async with running_server(workers=1) as server, server.client() as client:
        await client.push("query", q="wait", ref="working", timeout=200)
        await client.push("query", q="wait", ref="waiting", timeout=50)
        for ref in ("waiting", "working"):
            result = (await client.receive("result", work_ref=ref))[4]
            assert result["status"] == "error"
            assert result["data"]["error"]["details"]["reason"] == "timeout"
        assert (server.tool_state.began, server.tool_state.running) == (["wait"], 0)


async def test_6_an_interrupt_stops_waiting_and_running_work() -> None:
    async with running_server(workers=1) as server, server.client() as client:
        await client.push("query", q="wait", ref="working")
        await client.push("query", q="wait", ref="waiting")
        await wait_until(lambda: server.tool_state.running == 1)
        for ref in ("waiting", "working"):
            await client.send("interrupt", ref=ref)
            result = (await client.receive("result", work_ref=ref))[4]
            assert (result["status"], result["data"]) == ("interrupted", {"reason": "user requested"})
        assert (server.tool_state.began, server.tool_state.running) == (["wait"], 0)


async def test_6_repeated_interrupts_are_reported_once() -> None:
    async with running_server() as server, server.client() as client:
        await client.push("query", q="wait", ref="q")
        await wait_until(lambda: server.tool_state.running == 1)
        for reason in ("first", "second", "third"):
            await client.send("interrupt", ref="q", reason=reason)
        await client.receive("result", work_ref="q")
        await client.push("ping")
        reported = [
            (frame[3], frame[4]["ref"]) for frame in client.received if frame[3] in ("interrupted", "result", "error")
        ]
        assert reported == [("interrupted", "q"), ("result", "q")]
        assert (await client.push("interrupt", ref="q"))["response"] == {"ref": "q", "found": False}


async def test_6_only_joined_topics_accept_events() -> None:
    async with running_server() as server, server.client() as client:
        unmatched = {"status": "error", "response": {"reason": "unmatched topic"}}
        assert await client.push("query", topic="cortex:another", q="hello", ref="q") == unmatched
        for join_ref, answer in (("8", {"status": "ok", "response": {"pong": True}}), ("7", unmatched)):
            if join_ref == "8":  # a second join makes the first one stale
                for ref in ("7", "8"):
                    await client.socket.send(json.dumps([ref, ref, TOPIC, "phx_join", {"api_key": "one"}]))
                    assert (await client.receive("phx_reply", ref=ref))[4]["status"] == "ok"
            await client.socket.send(json.dumps([join_ref, "9", TOPIC, "ping", {}]))
            assert (await client.receive("phx_reply", ref="9"))[4] == answer
        assert await client.push("phx_leave") == {"status": "ok", "response": {}}
        assert await client.push("ping") == unmatched
        assert await client.push("heartbeat", topic="phoenix") == {"status": "ok", "response": {}}
        assert server.tool_state.began == []


@pytest.mark.parametrize("end", ["phx_leave", "phx_join", "close"])
async def test_6_work_is_cancelled_when_its_channel_ends(end: str) -> None:
    async with running_server() as server, server.client() as client:
        await client.push("query", q="wait", ref="q")
        await wait_until(lambda: server.tool_state.running == 1)
        if end == "close":
            await client.socket.close()
        else:
            assert (await client.push(end, api_key="one"))["status"] == "ok"
        await wait_until(lambda: server.tool_state.running == 0)
        if end == "phx_join":  # the same topic again: the earlier channel is closed, and the new one works
            assert [frame[3] for frame in client.received if frame[3] == "phx_close"] == ["phx_close"]
            await client.push("query", q="hello", ref="q")
            assert (await client.receive("result"))[4]["status"] == "success"


async def test_6_work_above_the_limits_is_refused_as_overloaded() -> None:
    async with running_server(workers=1, waiting=1, open_per_connection=3) as server, server.client() as client:
        for ref in ("a", "b"):
            assert (await client.push("query", q="wait", ref=ref))["status"] == "ok"
        refused = await client.push("query", q="wait", ref="c")
        assert (refused["status"], refused["response"]["reason"]) == ("error", "overloaded")
        used = await client.push("query", q="wait", ref="a")
        assert used["response"]["reason"] == "ref is in use"


async def test_6_key_scopes_apply_and_clients_with_other_keys_are_not_visible() -> None:
    async with running_server() as server, server.client() as client, server.client(join="two") as other:
        await other.push("call", tool="ask_toy", arguments={"query": "hello"}, ref="c")
        result = (await other.receive("result"))[4]
        assert (result["status"], result["data"]["error"]["code"]) == ("error", "forbidden")
        assert server.tool_state.began == []
        await client.push("call", tool="ask_toy", arguments={"query": "think 1"}, ref="c")
        progress = (await client.receive("progress"))[4]
        assert (progress["ref"], progress["done"], progress["total"], progress["message"]) == ("c", 1, 2, "halfway")
        assert (await client.receive("result"))[4]["status"] == "success"
        assert not [frame for frame in client.received if frame[3] == "presence_diff"]


async def test_13_revoking_a_key_closes_its_connections_and_cancels_their_work() -> None:
    async with running_server() as server, server.client() as client, server.client(join="two") as other:
        await client.push("query", q="wait", ref="q")
        await wait_until(lambda: server.tool_state.running == 1)
        server.keys.revoked.add("one")
        assert await client.wait_closed() == 1008
        assert server.tool_state.running == 0
        assert (await other.push("ping"))["status"] == "ok"
        server.keys.revoked.add("two")
        await other.send("query", q="hello", ref="q")
        assert await other.wait_closed() == 1008
        assert server.tool_state.began == ["wait"]


async def test_13_repeated_wrong_keys_close_the_connection() -> None:
    async with running_server(wrong_keys=3) as server, server.client(join=None) as client:
        reasons = [(await client.push("phx_join", api_key="guess"))["response"]["reason"] for _ in range(3)]
        assert reasons == ["unauthorized"] * 3
        assert await client.wait_closed() == 1008


async def test_6_a_thousand_malformed_frames_do_not_affect_other_connections() -> None:
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
    async with running_server() as server, server.client() as bystander:
        while sent < 1000:
            async with server.client(join=None) as client:
                try:
                    for frame in frames * 3:
                        await client.socket.send(frame)
                        sent += 1
                    await client.wait_closed()
                except ConnectionClosed:
                    pass
                assert client.socket.close_code == 1008
        assert (await bystander.push("ping"))["response"] == {"pong": True}
        await wait_until(lambda: server.synapse.connections == 1)


async def test_6_a_client_that_sends_too_fast_is_warned_and_then_disconnected() -> None:
    async with running_server(messages_per_second=5) as server, server.client() as client:
        for _ in range(8):
            await client.send("ping")
        refused = await client.receive("phx_reply", ref="8")
        assert refused[4] == {"status": "error", "response": {"reason": "rate_limited"}}
        for _ in range(20):
            await client.send("ping")
        assert await client.wait_closed() == 1008


async def test_6_an_oversized_frame_or_a_flood_closes_the_connection() -> None:
    async with running_server() as server:
        async with server.client() as client:
            await client.socket.send("x" * 100_000)
            assert await client.wait_closed() == 1009
        async with server.client() as client:
            client.socket.transport.write(b"\x81\x80\x00\x00\x00\x00" * 5000)  # empty text frames
            assert await client.wait_closed() == 1008
            assert client.socket.close_reason == "too many messages at once"
        await wait_until(lambda: server.synapse.connections == 0)


async def test_6_connections_are_limited_and_unknown_versions_refused() -> None:
    async with running_server(connections=1) as server, server.client():
        with pytest.raises(InvalidStatus) as refused:
            async with server.client():
                pass
        assert refused.value.response.status_code == 503
    async with running_server() as server:
        with pytest.raises(InvalidStatus) as refused:
            async with server.client(vsn="3.0.0"):
                pass
        assert refused.value.response.status_code == 422


async def test_022_a_connection_without_a_join_makes_room_for_a_new_one() -> None:
    async with (
        running_server(connections=2) as server,
        server.client() as member,
        server.client(join=None) as silent,
        server.client() as client,
    ):
        assert (await client.push("ping"))["status"] == "ok"
        assert await silent.wait_closed() == 1001
        assert (await member.push("ping"))["status"] == "ok"
        with pytest.raises(InvalidStatus):
            async with server.client():
                pass


async def test_6_version_1_of_the_format_is_supported() -> None:
    async with running_server() as server, server.client(join=None, vsn="1.0.0") as client:
        joining = {"topic": TOPIC, "event": "phx_join", "payload": {"token": "one"}, "ref": "1"}
        await client.socket.send(json.dumps(joining))
        reply = {"status": "ok", "response": {"agent_id": "agent"}}
        assert json.loads(await client.socket.recv()) == {
            "topic": TOPIC,
            "event": "phx_reply",
            "payload": reply,
            "ref": "1",
        }


async def test_6_an_idle_client_is_disconnected() -> None:
    async with running_server(idle_seconds=0.1) as server:
        async with server.client() as client:
            assert await client.wait_closed() == 1001
        async with server.client(join=None) as client:  # a client that joins nothing is disconnected too
            assert await client.wait_closed() == 1001


async def test_6_a_slow_reader_loses_thoughts_before_results_and_gets_the_number_dropped_once() -> None:
    async with running_server(outbox_messages=50) as server, server.client() as client:
        await client.push("query", q="think 200", ref="q")
        result = (await client.receive("result"))[4]
        assert result["status"] == "success"
        reported = [frame[4]["dropped"] for frame in client.received if frame[3] == "system:thoughts_dropped"]
        received = sum(frame[3] in ("thought", "progress") for frame in client.received)
        assert reported == [
            401 - received
        ]  # 200 thoughts, 200 progress reports and the thought that the work has started
        assert reported[0] > 0


async def test_6_a_client_that_never_reads_is_disconnected() -> None:
    limits = {"outbox_bytes": 100_000, "slow_seconds": 0.2, "messages_per_second": 10_000}
    async with running_server(**limits) as server, server.client() as bystander, server.client() as client:
        client.socket.transport.pause_reading()

        async def ask_for_ever() -> None:
            while True:
                await client.send("query", q="think 50", ref=client.next_ref, padding="x" * 1000)

        with anyio.fail_after(30), pytest.raises(ConnectionClosed):  # the connection is closed while it still sends
            await ask_for_ever()
        await wait_until(lambda: server.synapse.connections == 1)
        assert (await bystander.push("ping"))["status"] == "ok"


async def test_6_an_aborted_connection_frees_its_worker() -> None:
    async with running_server(workers=1, waiting=1) as server, server.client() as bystander:
        for number in range(20):
            async with server.client() as client:
                await client.send("query", q="wait", ref=number)
                if number % 2:
                    await wait_until(lambda: server.tool_state.running == 1)
                client.socket.transport.abort()
            await wait_until(lambda: server.synapse.connections == 1)
        await bystander.push("query", q="hello", ref="q")
        assert (await bystander.receive("result"))[4]["status"] == "success"
        assert server.tool_state.running == 0
