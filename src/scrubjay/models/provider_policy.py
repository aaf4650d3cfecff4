"""What a caller may choose of an embedding provider: no secret of ours goes to an address that they chose."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from scrubjay.core.errors import Forbidden
from scrubjay.models.choices import LOOPBACK, CallerRights, EmbeddingChoice
from scrubjay.models.providers import PROVIDERS, address_of


def refuse_unless_allowed(choice: EmbeddingChoice, rights: CallerRights) -> None:
    """Raise `Forbidden` for what the operator did not allow. The environment is not looked at.

    A provider's own address and its usual key belong together, so these need no permission.
    """
    if choice.provider == "local":
        return
    if choice.provider == "onnx":
        if choice.model not in rights.folders:
            raise Forbidden(
                "callers may not choose this folder",
                hint="the operator can allow it: add the folder to SCRUBJAY_EMBEDDING_CALLER_FOLDERS",
            )
        return
    address = urlsplit(address_of(choice))
    if choice.base_url is not None and not any(_is(address, allowed) for allowed in rights.addresses):
        raise Forbidden(
            f"callers may not have texts sent to {(address.hostname or '')[:200]}",
            hint="the operator can allow it: add the host to SCRUBJAY_EMBEDDING_CALLER_ADDRESSES",
        )
    variable = choice.api_key_env
    usual = PROVIDERS[choice.provider].key_variable
    if variable is None or (variable == usual and choice.base_url is None):
        return
    if variable not in rights.keys or not _is(address, rights.keys[variable]):
        raise Forbidden(
            f"callers may not have the content of {variable[:80]} sent to {(address.hostname or '')[:200]}",
            hint="the operator can allow it: add the variable and the host to SCRUBJAY_EMBEDDING_CALLER_KEYS"
            + (f"; without api_key_env, {usual} is used" if usual and choice.base_url is None else ""),
        )


def _is(address: SplitResult, allowed: str) -> bool:
    """Whether the address is at the allowed place. Names are compared, not looked up: what a name means can change."""
    host = (address.hostname or "").lower()
    if allowed == LOOPBACK:
        return host == "localhost" or _is_loopback_number(host)
    written = f"[{host}]" if ":" in host else host
    port = address.port or (443 if address.scheme == "https" else 80)
    return allowed.lower() in (written, f"{written}:{port}")


def _is_loopback_number(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
