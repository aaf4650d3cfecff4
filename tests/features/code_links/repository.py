"""A small git repository, and a client that calls tools in it."""

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.core.callers import OWNER, Caller
from scrubjay.tooling.context import CallContext

AUTH = '''"""Authentication."""

from signing import sign


class Session:
    """A logged-in user."""

    def login(self, password: str) -> bool:
        return sign(password) == self.signature


def leave(session: Session) -> None:
    session.signature = ""
'''
SIGNING = """def sign(password: str) -> str:
    turned = password[::-1]
    return turned


def check(signature: str) -> bool:
    return bool(signature)
"""
OTHER = """def check(value: int) -> bool:
    return value > 0
"""


class Repository:
    """A git repository in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for path, text in {"src/auth.py": AUTH, "signing.py": SIGNING, "other.py": OTHER}.items():
            self.write(path, text)
        self.git("init", "-q")
        self.commit("Initial commit")

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def change(self, path: str, before: str, after: str) -> None:
        text = (self.root / path).read_text("utf-8")
        assert before in text
        self.write(path, text.replace(before, after))

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        done = subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, subject: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)
        return self.git("rev-parse", "HEAD")


class ToolClient:
    """Calls tools as one client."""

    def __init__(self, application: Any, client: str = "ada", caller: Caller = OWNER) -> None:
        self._application = application
        self._client = client
        self._caller = caller

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        context = CallContext(surface="python", client=self._client, caller=self._caller)
        return (await self._application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    def other(self, client: str) -> "ToolClient":
        return ToolClient(self._application, client)

    def with_caller(self, caller: Caller) -> "ToolClient":
        return ToolClient(self._application, self._client, caller)

    async def recall_best(self, query: str) -> Any:
        """Return the best match of a recall."""
        return (await self("recall", query=query))["memories"][0]

    async def states(self, query: str) -> dict[str, str]:
        """Return the state of each link of the best match."""
        return {one["name"]: one["state"] for one in (await self.recall_best(query)).get("about", [])}


@asynccontextmanager
async def open_client(home: Path, **settings: Any) -> AsyncGenerator[ToolClient]:
    async with running(Settings.model_validate({"home": home, **settings})) as application:
        yield ToolClient(application)
