"""Run a real `scrubjay serve` as a child process."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.surfaces.callers import PROGRAM, environment


@asynccontextmanager
async def serve_process(home: Path, port: str = "0", **settings: str) -> AsyncGenerator[str]:
    """Yield the server's URL. At the end the server is terminated and must exit with code 0."""
    command = [*PROGRAM, "serve", "--port", port]
    async with await anyio.open_process(command, env={**environment(home), **settings}, cwd=home, stderr=None) as child:
        assert child.stdout
        lines = BufferedByteReceiveStream(child.stdout)
        try:
            with anyio.fail_after(30):
                while not (match := re.search(rb"http://127\.0\.0\.1:\d+", await lines.receive_until(b"\n", 10_000))):
                    pass
            yield match[0].decode()
        finally:
            child.terminate()
            with anyio.fail_after(20, shield=True):
                await child.wait()
        assert child.returncode == 0
