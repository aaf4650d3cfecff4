"""Where a service is, and the key that it wants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from scrubjay.core.errors import Misconfigured
from scrubjay.core.request_context import tracked


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a service is, and what it wants to be sent."""

    provider: str
    url: str
    """The whole address that requests go to."""
    fields: Mapping[str, Any]
    """What each request holds beside what is asked."""
    key: SecretStr | None = None
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    key_hint: str = "set its API key"
    not_found_hint: str = "check the model's name and the base_url"
    refused_hint: str = "check the model's name and what is asked of it"

    @property
    def place(self) -> str:
        """The service by name and host: an address may hold secrets in its other parts."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{self.provider} at {parts.hostname}{port}"

    @property
    def headers(self) -> dict[str, str]:
        """What each request is sent with: the key, and which request of ours it is for."""
        request = tracked()
        headers = request.headers if request is not None else {}
        if self.key is not None:
            headers[self.key_header] = self.key_prefix + self.key.get_secret_value()
        return headers

    @property
    def is_here(self) -> bool:
        """Whether the service runs on this machine."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


def web_address(given: str | None) -> str:
    """The base_url that somebody gave, if it is one."""
    try:
        parts = urlsplit(given or "")
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = urlsplit(""), False
    if not usable:
        raise Misconfigured("base_url is not an address of the web", hint="such as http://127.0.0.1:11434/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise Misconfigured(
            "base_url holds more than an address", hint="give the key as api_key or api_key_env, and no ? or #"
        )
    return parts.geturl().rstrip("/")


def find_key(given: SecretStr | None, variable: str | None, environment: Mapping[str, str]) -> SecretStr | None:
    """The key that was given, or else the content of the variable; None when there is none."""
    key = (given.get_secret_value() if given else environment.get(variable or "", "")).strip()
    if not key:
        return None
    # Such a key could not be sent, and the error about it would show it.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Misconfigured(
            f"the key in {variable or 'api_key'} has characters that no key has", hint="copy the key once more"
        )
    return SecretStr(key)
