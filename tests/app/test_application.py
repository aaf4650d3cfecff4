"""Assembly: the services that exist, and the modules imported for them."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.app.tool_catalog import TOOL_CATALOG

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


async def test_every_service_required_by_a_tool_or_resource_is_provided(tmp_path: Path) -> None:
    async with running(Settings(home=tmp_path)) as app:
        for tool in TOOL_CATALOG:
            app.dispatcher.check_services_of(tool)
        assert app.resources.declared


def test_remember_and_recall_import_no_other_tools_or_optional_packages(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", RECALL, tmp_path], capture_output=True, text=True, check=True)
    answer, names = done.stdout.splitlines()
    assert answer == "['Ada likes tea.']"
    modules = set(names.split())
    others = [
        *("code_index.graph", "code_index.parsing", "code_index.search", "servers.mcp", "servers.rest"),
        *("features.answers", "features.episodes", "features.knowledge", "features.tasks.service"),
        *("features.summaries.service", "features.transfer.importer", "features.working_memory.consolidation"),
    ]
    assert [name for name in others if find_spec(f"scrubjay.{name}") is None] == []
    assert [name for name in modules if name.startswith(tuple(f"scrubjay.{other}" for other in others))] == []
    assert modules & {place.module for place in TOOL_CATALOG.places} == {"scrubjay.features.memory.tools"}
