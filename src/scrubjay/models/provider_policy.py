"""Policy for embedding providers chosen by callers: our secrets are never sent to an address of their choice."""

from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from scrubjay.core.errors import Forbidden
from scrubjay.core.ip_addresses import is_loopback_host
from scrubjay.models.choices import IN_PROCESS, LOOPBACK, CallerRights, EmbeddingChoice
from scrubjay.models.providers import PROVIDERS, address_of


def refuse_unless_allowed(choice: EmbeddingChoice, rights: CallerRights) -> None:
    """Raise `Forbidden` for a choice that the operator did not allow. Does not read the environment.

    A provider's default address with its default key needs no permission.
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
            f"callers may not send texts to {(address.hostname or '')[:200]}",
            hint="the operator can allow it: add the host to SCRUBJAY_EMBEDDING_CALLER_ADDRESSES",
        )
    variable = choice.api_key_env
    usual = PROVIDERS[choice.provider].key_variable
    if variable is None or (variable == usual and choice.base_url is None):
        return
    if variable not in rights.keys or not _is(address, rights.keys[variable]):
        raise Forbidden(
            f"callers may not send the content of {variable[:80]} to {(address.hostname or '')[:200]}",
            hint="the operator can allow it: add the variable and the host to SCRUBJAY_EMBEDDING_CALLER_KEYS"
            + (f"; without api_key_env, {usual} is used" if usual and choice.base_url is None else ""),
        )


def refuse_other_service(choice: EmbeddingChoice, known: Iterable[EmbeddingChoice]) -> None:
    """Raise `Forbidden` unless the choice sends texts where one of the known choices sends them.

    A model of the same service is no other service: for Azure that is another deployment of the same resource.
    """
    if _service_of(choice) not in map(_service_of, known):
        raise Forbidden(
            "this key may change the embedding model, but not the provider or its address",
            hint="use a key with the scope *; or the operator can set SCRUBJAY_EMBEDDING_KEYS_MAY_CHANGE_ADDRESS",
            details={"reason": "other_service", "provider": choice.provider},
        )


def _service_of(choice: EmbeddingChoice) -> tuple[str, ...]:
    if choice.provider in IN_PROCESS:
        return (choice.provider,)
    address = urlsplit(address_of(choice))
    origin = (choice.provider, address.scheme, (address.hostname or "").lower(), str(_port_of(address)))
    return origin if choice.provider == "azure" else (*origin, address.path)


def _port_of(address: SplitResult) -> int:
    return address.port or (443 if address.scheme == "https" else 80)


def _is(address: SplitResult, allowed: str) -> bool:
    """Return whether an address matches an allowed host. Names are compared, not resolved, as DNS can change."""
    host = (address.hostname or "").lower()
    if allowed == LOOPBACK:
        return is_loopback_host(host)
    written = f"[{host}]" if ":" in host else host
    return allowed.lower() in (written, f"{written}:{_port_of(address)}")
