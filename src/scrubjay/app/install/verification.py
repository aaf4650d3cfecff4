"""Proves that what stands in a configuration works: starts it as the agent would, and asks for its tools."""

import os
from pathlib import Path
from typing import Any, cast

import anyio

from scrubjay.app.install.agents import Wish
from scrubjay.core.errors import Unavailable

SECONDS = 30.0


def tools_of(wish: Wish, entry: dict[str, Any]) -> list[str]:
    """The tools that the configured server lists; `Unavailable` when it does not answer."""
    try:
        return anyio.run(_ask, wish, entry)
    except Exception as error:  # whatever the client makes of a server that does not work
        raise Unavailable(
            f"what was configured does not answer: {_reason(error)}",
            hint="the configuration was written; `scrubjay doctor` tries everything, `scrubjay uninstall` undoes it",
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, ExceptionGroup):
        return _reason(cast(Exception, error.exceptions[0]))  # pyright: ignore[reportUnknownMemberType]
    return f"{type(error).__name__}: {error}"


async def _ask(wish: Wish, entry: dict[str, Any]) -> list[str]:
    from mcp import Client, StdioServerParameters

    with anyio.fail_after(SECONDS):
        if "command" in entry:
            arguments = [argument.replace("${workspaceFolder}", str(wish.folder)) for argument in entry["args"]]
            parameters = StdioServerParameters(
                command=entry["command"],
                args=arguments,
                env={**os.environ, **entry.get("env", {})},
                cwd=wish.folder if wish.folder.is_dir() else Path.home(),
            )
            async with Client(parameters, mode="legacy") as client:
                return [tool.name for tool in (await client.list_tools()).tools]
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        key = os.environ.get(wish.key_env, "") if wish.key_env else ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
            Client(streamable_http_client(entry["url"], http_client=http), mode="legacy") as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]
