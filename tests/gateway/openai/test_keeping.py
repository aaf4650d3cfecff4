"""What is asked is remembered beside the answer, and not lost when the server stops."""

import signal
import subprocess
from pathlib import Path

import anyio
import httpx2

from recollect.app.lifespan import running
from recollect.app.settings import Settings
from recollect.domain.callers import Caller
from recollect.gateway.openai.keeping import Exchange, Keeper
from recollect.toolkit.context import CallContext
from tests.gateway.openai.upstream import KEY, MODEL, running_upstream
from tests.surfaces.callers import PROGRAM, environment, server

COUNT = 20


def test_005_an_orderly_stop_loses_no_exchange(tmp_path: Path) -> None:
    with running_upstream() as upstream:
        settings = {
            "RECOLLECT_LLM_BASE_URL": upstream.url,
            "RECOLLECT_LLM_MODEL": MODEL,
            "RECOLLECT_LLM_API_KEY": KEY,
            "RECOLLECT_SUMMARIES_AUTOMATIC": "off",
        }
        process = subprocess.Popen(
            [*PROGRAM, "serve", "--port", "0"],
            env={**environment(tmp_path), **settings},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout
            url = next(word for line in process.stdout for word in line.split() if word.startswith("http://127"))
            anyio.run(_ask_all, url, process)
            process.communicate(timeout=30)
            assert process.returncode == 0
        finally:
            process.kill()
            process.wait()
    with server(tmp_path) as url, httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        kept = http.post("/v1/tools/get_session_memories", json={"sessionId": "last-words"}).json()
    assert {turn["prompt"] for turn in kept["memories"]} == {f"number {place}" for place in range(COUNT)}


async def _ask_all(url: str, process: "subprocess.Popen[str]") -> None:
    """Many questions at once, and the signal as soon as the last one is answered."""
    async with httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False) as http:

        async def ask(place: int) -> None:
            messages = [{"role": "user", "content": f"number {place}"}]
            answer = await http.post("/v1/chat/completions", json={"messages": messages, "user": "last-words"})
            assert answer.status_code == 200

        async with anyio.create_task_group() as tasks:
            for place in range(COUNT):
                tasks.start_soon(ask, place)
        process.send_signal(signal.SIGTERM)


async def test_005_what_a_key_does_not_open_is_not_remembered(tmp_path: Path) -> None:
    async with running(Settings.model_validate({"home": tmp_path})) as application:
        keeper = Keeper(application.dispatcher, "add_memory")
        reader = CallContext(surface="openai", caller=Caller("reader", frozenset({"*:read"})))
        assert (keeper.may_keep(reader), keeper.may_keep(CallContext(surface="openai"))) == (False, True)
        for context in (reader, CallContext(surface="openai")):
            keeper.keep(Exchange(prompt="a\0b", answer=context.caller.name, session_id="s", context=context))
        await keeper.finish()
        found = await application.dispatcher.call(
            "get_session_memories", {"sessionId": "s"}, CallContext(surface="python")
        )
    assert [(turn["prompt"], turn["response"]) for turn in found.model_dump()["memories"]] == [("a b", "owner")]
