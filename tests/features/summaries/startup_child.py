"""A server that summarises at startup and runs until its standard input is closed: `python -m … HOME URL`."""

import sys
from pathlib import Path

import anyio
import anyio.to_thread

from scrubjay.app.lifespan import running
from scrubjay.app.settings import JobSettings, LlmSettings, Settings
from scrubjay.features.summaries import startup


async def serve(home: Path, url: str) -> None:
    startup.FIRST_SECONDS = 0.0
    settings = Settings(home=home, jobs=JobSettings(lease_seconds=3), llm=LlmSettings(base_url=url, model="mine"))
    async with running(settings) as server:
        await server.open()
        await anyio.to_thread.run_sync(sys.stdin.read)


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]), sys.argv[2])
