"""Mimo's environment variables as aliases of our settings."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_settings import PydanticBaseSettingsSource

from scrubjay.core.lazy import lazy_module

if TYPE_CHECKING:
    import dotenv
else:
    dotenv = lazy_module("dotenv")

MIMO_FLAGS = {
    "native_extension": "RUST_NIFS_ENABLED",
    "semantic_store": "SEMANTIC_STORE_ENABLED",
    "procedural_store": "PROCEDURAL_STORE_ENABLED",
    "websocket_synapse": "WEBSOCKET_ENABLED",
}
MIMO_KEY = "MIMO_API_KEY"


class MimoVariables(PydanticBaseSettingsSource):
    """Settings from Mimo's variables in the environment and in `.env`.

    `true` and `1` switch a feature on, any other value switches it off. If the key is set, callers need it.
    """

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        given = {**_dotenv(), **os.environ}
        flags = {flag: given[name] in ("true", "1") for flag, name in MIMO_FLAGS.items() if given.get(name)}
        key = {"api_key": given[MIMO_KEY]} if given.get(MIMO_KEY) else {}
        return {**({"features": flags} if flags else {}), **key}


def _dotenv() -> dict[str, str]:
    if not Path(".env").is_file():
        return {}
    return {name: value for name, value in dotenv.dotenv_values(".env").items() if value is not None}
