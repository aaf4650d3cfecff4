"""A process that consolidates a store after a line on standard input and prints its moves: `python -m … HOME ROLE`.

With the role `dies` it kills itself (SIGKILL) after the memory is stored and before the move is marked as finished.
"""

import os
import signal
import sys
from pathlib import Path

import anyio

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.store import Store
from scrubjay.features.working_memory.consolidation import Consolidator


async def consolidate(home: Path, role: str) -> None:
    async with running(Settings(home=home)) as application:
        store = await application.services.get(Store)
        consolidator = await application.services.get(Consolidator)
        if role == "dies":

            async def die(move_id: str, memory_id: str) -> None:
                os.write(1, f"{memory_id}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)

            setattr(store.working, "finish_move", die)  # noqa: B010 - the store's own method stays typed
        os.write(1, b"ready\n")
        sys.stdin.readline()
        done = await consolidator.consolidate(None, force=True)
        for move in done.moves:
            os.write(1, f"{move.memory_id} {' '.join(item.id for item in move.items)}\n".encode())


if __name__ == "__main__":
    anyio.run(consolidate, Path(sys.argv[1]), sys.argv[2])
