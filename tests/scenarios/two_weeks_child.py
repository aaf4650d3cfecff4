"""A process that writes in the middle of the two weeks and is killed while writing."""

import asyncio
import sys
from datetime import datetime
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext


async def main(home: Path, moment: datetime) -> None:
    async with running(Settings(home=home), clock=lambda: moment) as application:
        context = CallContext(surface="python", client="agent")
        number = 0
        while True:
            content = f"Log entry {number}: shard {number % 7} was moved to rack {number % 11}."
            await application.dispatcher.call("remember", {"content": content, "tags": ["log"]}, context)
            sys.stdout.write(f"{number}\n")  # printed only after the write was acknowledged
            sys.stdout.flush()
            number += 1


asyncio.run(main(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2])))
