"""The commands and settings in docs/code.md work as shown."""

import os
import re
import shlex
from pathlib import Path
from typing import Any

import anyio
import pytest

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings, load_settings
from scrubjay.code_index.reranking.service import CANDIDATES
from scrubjay.models.choices import EmbeddingChoice
from scrubjay.models.providers import batches_for, known_dimensions, name_of
from scrubjay.tooling.context import CallContext
from tests.surfaces.callers import environment
from tests.surfaces.commands import run_command

CANDIDATES_IN_WORDS = {50: "fifty"}
PAGE = (Path(__file__).parents[2] / "docs" / "code.md").read_text("utf-8")
AUTH = """class Session:
    def login(self, password: str) -> bool:
        return sign(password) == self.signature


def sign(password: str) -> str:
    return password[::-1]


def enter(session: Session) -> bool:
    return session.login("open sesame")
"""


async def test_the_commands_that_watch_a_folder_work(tmp_path: Path) -> None:
    (tmp_path / "apollo").mkdir()
    commands = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()[1:]
    outputs: list[str] = []
    for command in commands:
        result = await run_command(
            shlex.split(command, comments=True)[1:], b"", environment(tmp_path / "home"), tmp_path / "apollo"
        )
        assert (command, result.returncode) == (command, 0)
        outputs.append(result.stdout.decode())
    assert ["is now watched" in outputs[0], "1 watched" in outputs[1], "no longer watched" in outputs[2]] == [True] * 3


def test_the_settings_for_another_embedding_model_are_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "scrubjay.toml").write_text(block, "utf-8")
    settings = load_settings(home=tmp_path).code
    choice = settings.embedding_choice(EmbeddingChoice())
    assert choice is not None
    assert (name_of(choice), known_dimensions(choice)) == ("openai/text-embedding-3-small", 1536)
    assert settings.batch_api
    assert batches_for(choice, os.environ)
    assert f"reranks the first {CANDIDATES_IN_WORDS[CANDIDATES]}" in PAGE


async def test_the_examples_of_pattern_search_work(tmp_path: Path) -> None:
    root = tmp_path / "apollo"
    (root / "src").mkdir(parents=True)
    text = "def login_handler(client):\n    # TODO(ada): retry\n    return client.get('/', timeout=3)\n"
    (root / "src" / "web.py").write_text(text, "utf-8")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Begin")):
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        await anyio.run_process(["git", *identity, *words], cwd=root)
    (root / "src" / "web.py").write_text(text.replace("(client)", "(client, path)"), "utf-8")
    commands = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[2].splitlines()
    async with running(Settings(home=tmp_path / "home")) as application:

        async def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
            context = CallContext(surface="python", working_directory=str(root))
            return (await application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

        await call("index", {"action": "project", "path": str(root)})
        outputs: list[dict[str, Any]] = []
        # Called as tools, because each command would start a process; tests/surfaces covers the CLI.
        for command in commands:
            _, _, tool, *options = shlex.split(command, comments=True)
            arguments: dict[str, Any] = {}
            for option, value in zip(options, [*options[1:], "--"], strict=False):
                if option.startswith("--"):
                    name = option[2:]
                    arguments[name] = True if value.startswith("--") else [value] if name == "include" else value
            outputs.append(await call(tool.replace("-", "_"), arguments))
    handlers, counts, calls, change = outputs
    assert handlers["files"][0]["matches"][0]["symbol"] == "login_handler"
    assert [(file["path"], file["count"]) for file in counts["files"]] == [("src/web.py", 1)]
    assert calls["files"][0]["matches"][0]["captures"] == {"CLIENT": ["client"], "ARGS": ["'/'"], "T": ["3"]}
    assert [(one["symbol"], one["change"]) for one in change["changes"]] == [("login_handler", "signature")]


async def test_every_command_on_the_code_page_works(tmp_path: Path) -> None:
    root = tmp_path / "apollo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text(AUTH, "utf-8")
    block = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[0]
    first, *commands = block.splitlines()
    assert (first, len(commands)) == ("cd ~/code/apollo", 4)
    outputs: list[str] = []
    for command in commands:
        program, *arguments = shlex.split(command, comments=True)
        assert program == "scrubjay"
        result = await run_command(arguments, b"", environment(tmp_path / "home"), root)
        assert (command, result.returncode) == (command, 0)
        outputs.append(result.stdout.decode())
    indexed, found, callers, symbols = outputs
    assert "Indexed 1 files, 4 symbols" in indexed
    assert "src/auth.py" in found
    assert "enter" in callers
    assert "Session.login" in symbols


async def test_the_examples_of_calls_between_repositories_work(tmp_path: Path) -> None:
    library, shop = tmp_path / "tokens", tmp_path / "shop"
    for root, name, needs in ((library, "tokens", ""), (shop, "shop", '"tokens"')):
        (root / name).mkdir(parents=True)
        (root / "pyproject.toml").write_text(f'[project]\nname = "{name}"\ndependencies = [{needs}]\n', "utf-8")
    (library / "tokens" / "__init__.py").write_text("def sign(token):\n    return token[::-1]\n", "utf-8")
    (shop / "shop" / "__init__.py").write_text(
        "from tokens import sign as signed\n\n\ndef login(name):\n    return signed(name)\n", "utf-8"
    )
    commands = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[3].splitlines()
    outputs: list[str] = []
    for root in (library, shop):
        await run_command(["code", "index", "--action", "project"], b"", environment(tmp_path / "home"), root)
    for command, root in zip(commands, (library, shop), strict=True):
        result = await run_command(shlex.split(command)[1:], b"", environment(tmp_path / "home"), root)
        assert (command, result.returncode) == (command, 0)
        outputs.append(result.stdout.decode())
    callers, callees = outputs
    assert [str(shop) in callers, "login" in callers, "imported" in callers] == [True] * 3
    assert [str(library) in callees, "tokens/__init__.py" in callees, "imported" in callees] == [True] * 3
