"""A worker that is killed at any moment: the next one goes on, nothing is lost, done twice or left behind."""

import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

import anyio
import pytest

from tests.code_index.reranking.conftest import NAMES
from tests.code_index.reranking.houses import BOUND, opened
from tests.models.batch_service import running_batch_service
from tests.processes import FORKED


def embed(home: Path, url: str, batches: bool) -> None:
    async def work() -> None:
        async with opened(home, url, batches=batches) as house:
            for _ in range(3):
                await house.embedding.worker.work()

    anyio.run(work)


@pytest.mark.parametrize("batches", [False, True])
async def test_whoever_comes_after_a_kill_goes_on_with_what_was_begun(
    tmp_path: Path, repository: Path, batches: bool
) -> None:
    number, was_killed = 0, True
    while was_killed:
        number += 1
        home = tmp_path / f"home{number}"
        with running_batch_service() as service:
            async with opened(home, service.url) as house:
                built = await house.build(repository)
            process = FORKED.Process(target=embed, args=(home, service.url, batches))

            def kill(count: int, process: BaseProcess = process, last: int = number) -> None:
                if count == last and process.pid is not None:
                    os.kill(process.pid, signal.SIGKILL)

            service.on_request = kill
            process.start()
            await anyio.to_thread.run_sync(process.join, BOUND)
            was_killed = process.exitcode == -signal.SIGKILL
            service.on_request = lambda count: None
            async with opened(home, service.url, batches=batches) as house:
                for _ in range(3):
                    await house.embedding.worker.work()
                assert await house.counts(built) == (4, 0, 0), f"killed at request {number}"
            if batches:
                done = (service.asked_for("POST", "/files"), len(service.batches), service.texts, service.files)
                assert done == (1, 1, [], {}), f"killed at request {number}"
            else:  # only what was under way is asked for again
                assert len(service.texts) <= 2 * len(NAMES)
    # Killed at each: upload, begin, look, fetch, remove the answers, remove the file; or at the only one.
    assert number - 1 == (6 if batches else 1)
