"""A process that changes the embedding model of a store until a test kills it: `python -m … HOME URL`."""

import sys
from pathlib import Path

import anyio

from scrubjay.app.lifespan import running
from scrubjay.app.settings import JobSettings, Settings
from scrubjay.tooling.context import CallContext


async def change(home: Path, url: str) -> None:
    async with running(Settings(home=home, jobs=JobSettings(lease_seconds=3))) as application:
        await application.dispatcher.call(
            "configure_embeddings",
            {"provider": "vllm", "model": "mine", "base_url": url, "dimensions": 8},
            CallContext(surface="python"),
        )


if __name__ == "__main__":
    anyio.run(change, Path(sys.argv[1]), sys.argv[2])
