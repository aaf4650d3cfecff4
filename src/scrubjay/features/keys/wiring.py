"""Assemble the authentication of HTTP callers by key."""

from functools import partial

from pydantic import SecretStr

from scrubjay.features.keys.authenticator import KeyAuthenticator
from scrubjay.features.keys.store import KeyStore
from scrubjay.tooling.runtime import Runtime
from scrubjay.tooling.services import Services


def key_authenticator(
    services: Services, settings_key: SecretStr | None, *, open_without_keys: bool, in_production: bool
) -> KeyAuthenticator:
    """Return the authenticator of an HTTP server; the store is opened by the first request."""
    return KeyAuthenticator(
        partial(services.get, KeyStore),
        settings_key=settings_key.get_secret_value() if settings_key else None,
        open_without_keys=open_without_keys,
        in_production=in_production,
        clock=services.ready(Runtime).clock,
    )
