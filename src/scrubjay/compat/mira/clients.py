"""Who a client of Mira's is: it need not say so, and is remembered all the same."""

from starlette.datastructures import Headers
from starlette.types import Scope

from scrubjay.core.callers import Caller
from scrubjay.servers.http.requests import checked_label, client_of


def default_client(caller: Caller) -> str:
    """Mira has one project and one session for all; here, all who share a key do."""
    return f"mira:{caller.key_id or 'web'}"


def client_named(scope: Scope, parameter: str | None) -> str | None:
    """The client's own name for itself: of its header, or of its address where a page can set no header."""
    named = client_of(Headers(scope=scope))
    if named is not None:
        return named
    given = checked_label(parameter, "client")
    return None if given is None else f"http:{given}"
