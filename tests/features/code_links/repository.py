"""A small repository that memories are about, and the tools that are called there."""

import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from scrubjay.app.lifespan import running
from scrubjay.app.settings import Settings
from scrubjay.tooling.context import CallContext

AUTH = '''"""Who may come in."""

from signing import sign


class Session:
    """Somebody who came in."""

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
        self.commit("Begin")

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


class House:
    """The tools, called for one client."""

    def __init__(self, application: Any, client: str = "ada") -> None:
        self._application = application
        self._client = client

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        context = CallContext(surface="python", client=self._client)
        return (await self._application.dispatcher.call(tool, arguments, context)).model_dump(mode="json")

    def other(self, client: str) -> "House":
        return House(self._application, client)

    async def recalled(self, query: str) -> Any:
        """The best answer."""
        return (await self("recall", query=query))["memories"][0]

    async def states(self, query: str) -> dict[str, str]:
        """What has become of the code that the best answer is about."""
        return {one["name"]: one["state"] for one in (await self.recalled(query)).get("about", [])}


@asynccontextmanager
async def house_at(home: Path, **settings: Any) -> AsyncGenerator[House]:
    async with running(Settings.model_validate({"home": home, **settings})) as application:
        yield House(application)
