"""After a worker is killed at any moment, the next one continues; nothing is lost, repeated or left behind."""

import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

import anyio
import pytest

from tests.code_index.reranking.conftest import NAMES
from tests.code_index.reranking.environment import BOUND, open_environment
from tests.models.batch_service import running_batch_service
from tests.processes import FORKED


def embed(home: Path, url: str, batches: bool) -> None:
    async def work() -> None:
        async with open_environment(home, url, batches=batches) as env:
            for _ in range(3):
                await env.embedding.worker.work()

    anyio.run(work)


@pytest.mark.parametrize("batches", [False, True])
async def test_the_worker_after_a_kill_continues_what_was_started(
    tmp_path: Path, repository: Path, batches: bool
) -> None:
    number, was_killed = 0, True
    while was_killed:
        number += 1
        home = tmp_path / f"home{number}"
        with running_batch_service() as service:
            async with open_environment(home, service.url) as env:
                built = await env.build(repository)
            process = FORKED.Process(target=embed, args=(home, service.url, batches))

            def kill(count: int, process: BaseProcess = process, last: int = number) -> None:
                if count == last and process.pid is not None:
                    os.kill(process.pid, signal.SIGKILL)

            service.on_request = kill
            process.start()
            await anyio.to_thread.run_sync(process.join, BOUND)
            was_killed = process.exitcode == -signal.SIGKILL
            service.on_request = lambda count: None
            async with open_environment(home, service.url, batches=batches) as env:
                for _ in range(3):
                    await env.embedding.worker.work()
                assert await env.counts(built) == (4, 0, 0), f"killed at request {number}"
            if batches:
                done = (service.count_requests("POST", "/files"), len(service.batches), service.texts, service.files)
                assert done == (1, 1, [], {}), f"killed at request {number}"
            else:  # only the requests in progress are repeated
                assert len(service.texts) <= 2 * len(NAMES)
    # With batches it is killed at each of: upload, create, poll, download, delete the output, delete the input.
    assert number - 1 == (6 if batches else 1)
