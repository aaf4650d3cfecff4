"""Address and key of a model service."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from scrubjay.core.errors import Misconfigured
from scrubjay.core.ip_addresses import is_loopback_host
from scrubjay.core.request_context import current_request


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEndpoint:
    """URL, key and constant request fields of a service."""

    provider: str
    url: str
    """Full URL of requests."""
    fields: Mapping[str, Any]
    """Fields added to each request."""
    key: SecretStr | None = None
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    key_hint: str = "set its API key"
    not_found_hint: str = "check the model's name and the base_url"
    refused_hint: str = "check the model's name and the request"

    @property
    def label(self) -> str:
        """Provider and host, for messages; other parts of the URL may contain secrets."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{self.provider} at {parts.hostname}{port}"

    @property
    def headers(self) -> dict[str, str]:
        """HTTP headers: the key, and the id of the request being served."""
        request = current_request()
        headers = request.headers if request is not None else {}
        if self.key is not None:
            headers[self.key_header] = self.key_prefix + self.key.get_secret_value()
        return headers

    @property
    def is_local(self) -> bool:
        """Return whether the service is on this machine."""
        return is_loopback_host(urlsplit(self.url).hostname or "")


def web_address(given: str | None) -> str:
    """Validate a base_url and return it without a trailing slash; raise `Misconfigured` if it is invalid."""
    try:
        parts = urlsplit(given or "")
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = urlsplit(""), False
    if not usable:
        raise Misconfigured("base_url is not an HTTP URL", hint="use a URL such as http://127.0.0.1:11434/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise Misconfigured(
            "base_url contains credentials, a query or a fragment",
            hint="pass the key as api_key or api_key_env, and omit ? and #",
        )
    return parts.geturl().rstrip("/")


def find_key(given: SecretStr | None, variable: str | None, environment: Mapping[str, str]) -> SecretStr | None:
    """Return the given key, else the content of the variable; None if both are empty."""
    key = (given.get_secret_value() if given else environment.get(variable or "", "")).strip()
    if not key:
        return None
    # Such a key cannot be sent, and the HTTP client's error would show it.
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Misconfigured(
            f"the key in {variable or 'api_key'} contains invalid characters", hint="copy the key again"
        )
    return SecretStr(key)
