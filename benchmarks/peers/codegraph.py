"""codegraph as an engine: its library in its bundled Node.js, driven with JSON lines."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.code_engine import RESULT_LIMIT, Hit, own_cpu

PROGRAM = Path(__file__).with_name("codegraph_child.mjs")
# The options of its own launcher.
NODE_OPTIONS = ("--liftoff-only", "--disable-warning=ExperimentalWarning")
# A search returns symbols; more are requested so that they cover ten files.
SYMBOLS = 5 * RESULT_LIMIT


class Codegraph:
    """Implements `CodeEngine`. The index is stored in the indexed folder."""

    def __init__(self, root: Path, home: Path, installed: Path) -> None:
        self._command = [str(installed / "node"), *NODE_OPTIONS, str(PROGRAM), str(installed / "lib"), str(root)]
        self._environment = {**os.environ, "HOME": str(home), "DO_NOT_TRACK": "1", "CODEGRAPH_TELEMETRY": "0"}
        self._spent = 0.0

    async def open(self) -> None:
        self._process = self._started()

    async def index(self) -> None:
        self._ask("index")

    async def check_unchanged(self) -> None:
        self._ask("sync")

    async def refresh(self) -> None:
        self._ask("sync")

    async def search(self, query: str) -> list[Hit]:
        best: dict[str, Hit] = {}
        for path, first, last in self._ask("search", query=query, limit=SYMBOLS)["found"]:
            best.setdefault(path, Hit(path, first, last))
        return [*best.values()][:RESULT_LIMIT]

    async def symbol(self, name: str) -> list[Hit]:
        return await self.search(name)

    def cpu(self) -> float:
        return own_cpu() + self._spent

    async def close(self) -> None:
        self._process.communicate(timeout=60)

    def _started(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def _ask(self, command: str, **request: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"command": command, **request}) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"codegraph exited during {command}; see its stderr above")
        answer = json.loads(line)
        self._spent = answer["cpu"]
        return answer
