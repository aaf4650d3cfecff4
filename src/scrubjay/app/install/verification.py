"""Verify an agent's configuration: start the server as the agent would, and list its tools."""

import os
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from scrubjay.app.install.agents import Installation
from scrubjay.core.errors import Unavailable

TIMEOUT_SECONDS = 30.0


def listed_tools(installation: Installation, entry: dict[str, Any]) -> list[str]:
    """Return the tools that the configured server lists; `Unavailable` if it does not answer."""
    try:
        return anyio.run(_list_tools, installation, entry)
    except Exception as error:  # the client raises many types for a server that does not work
        raise Unavailable(
            f"the configured server does not answer: {_reason(error)}",
            hint="the configuration was written; `scrubjay doctor` finds the cause, `scrubjay uninstall` undoes it",
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, ExceptionGroup):
        return _reason(cast(Exception, error.exceptions[0]))  # pyright: ignore[reportUnknownMemberType]
    return f"{type(error).__name__}: {error}"


async def _list_tools(installation: Installation, entry: dict[str, Any]) -> list[str]:
    folder, key_env = installation.folder, installation.key_env
    with anyio.fail_after(TIMEOUT_SECONDS):
        if "command" in entry:
            arguments = [argument.replace("${workspaceFolder}", str(folder)) for argument in entry["args"]]
            parameters = StdioServerParameters(
                command=entry["command"],
                args=arguments,
                env={**os.environ, **entry.get("env", {})},
                cwd=folder if folder.is_dir() else Path.home(),
            )
            async with Client(parameters, mode="legacy") as client:
                return [tool.name for tool in (await client.list_tools()).tools]
        key = os.environ.get(key_env, "") if key_env else ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http,
            Client(streamable_http_client(entry["url"], http_client=http), mode="legacy") as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]
