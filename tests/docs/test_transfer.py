"""The example in docs/transfer.md imports what the page shows."""

import json
import re
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

PAGE = (Path(__file__).parents[2] / "docs" / "transfer.md").read_text("utf-8")


async def test_101_the_example_imports_and_exports_the_documented_memories(tmp_path: Path) -> None:
    (file,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    (ignored,) = re.findall(r"the answer reports `(\{.*?\})`", PAGE)
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "graph").write_text(file, "utf-8")
    async with running(Settings.model_validate({"home": tmp_path})) as application:

        async def call(tool: str, **arguments: Any) -> Any:
            return await application.dispatcher.call(tool, arguments, CallContext(surface="python"))

        result = (await call("import_database", file="graph")).result
        assert (result.imported, result.ignored) == (len(shown.splitlines()), json.loads(ignored))
        await call("export_database", path="all")
        lines = [json.loads(line) for line in (tmp_path / "backups" / "all").read_text("utf-8").splitlines()]
        assert [line["memory"]["content"] for line in lines if "memory" in line] == shown.splitlines()
        example = re.findall(r'^(\{"format".*\})$', PAGE, re.MULTILINE)
        assert [list(json.loads(line)) for line in example] == [list(lines[0])]
        assert lines[0]["version"] == json.loads(example[0])["version"]
