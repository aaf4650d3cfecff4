"""The wiring: what is there, and what is loaded for it."""

import subprocess
import sys
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import ALL

RECALL = """
import asyncio, sys
from pathlib import Path
from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

async def main():
    async with running(Settings(home=Path(sys.argv[1]))) as app:
        context = CallContext(surface="python")
        await app.dispatcher.call("remember", {"content": "Ada likes tea."}, context)
        found = await app.dispatcher.call("recall", {"query": "What does Ada like?"}, context)
        print([memory.content for memory in found.memories])
        print(*sys.modules)

asyncio.run(main())
"""


async def test_every_service_that_a_tool_or_a_resource_asks_for_is_provided(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        for tool in ALL:
            app.dispatcher.check_services_of(tool)
        assert app.resources.declared


def test_a_process_that_only_remembers_and_recalls_loads_no_other_room_or_tool(tmp_path: Path) -> None:
    told = subprocess.run([sys.executable, "-c", RECALL, tmp_path], capture_output=True, text=True, check=True)
    answer, names = told.stdout.splitlines()
    assert answer == "['Ada likes tea.']"
    modules = set(names.split())
    rooms = ("codebase", "cortex", "gateway", "memory.transfer", "memory.summarising", "memory.consolidation")
    assert [name for name in modules if name.startswith(tuple(f"scrubjay.{room}" for room in rooms))] == []
    assert modules & {place.module for place in ALL.places} == {"scrubjay.features.memory.tools"}
