"""Client ids of Mira's clients, which need not name themselves."""

from starlette.datastructures import Headers
from starlette.types import Scope

from scrubjay.core.callers import Caller
from scrubjay.servers.http.requests import checked_label, client_from_headers


def default_client(caller: Caller) -> str:
    """Return the id of a client without a name: all unnamed clients of a key share one project and session."""
    return f"mira:{caller.key_id or 'web'}"


def client_named(scope: Scope, parameter: str | None) -> str | None:
    """Return the id that a client gives: from its header, or from the URL because web pages cannot set headers."""
    named = client_from_headers(Headers(scope=scope))
    if named is not None:
        return named
    given = checked_label(parameter, "client")
    return None if given is None else f"http:{given}"
