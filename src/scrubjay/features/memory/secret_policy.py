"""What becomes of secrets in what somebody wants remembered; the operator decides, and never the caller."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.secrets import find_secrets, mask, redacted


@dataclass(frozen=True, slots=True)
class Guarded:
    """A text that may be kept."""

    text: str
    masked: tuple[str, ...] = ()
    """The kinds of the secrets that a mark stands for now."""


def guard(text: str, policy: SecretsPolicy) -> Guarded:
    """The text as it may be kept. `InvalidRequest`, which never quotes the secret, when it may not be kept at all."""
    if policy is SecretsPolicy.KEEP:
        return Guarded(text)
    if policy is SecretsPolicy.REFUSE:
        if found := find_secrets(text):
            raise _refusal([secret.kind for secret in found])
        return Guarded(text)
    made, kinds = mask(text)
    return Guarded(made, tuple(kinds))


def guard_data(data: Mapping[str, Any], policy: SecretsPolicy) -> dict[str, Any]:
    """The same for what goes with a text: metadata, details, provenance. What stands under a telling name is secret."""
    if policy is SecretsPolicy.KEEP or not data:
        return dict(data)
    made: dict[str, Any] = redacted(data)
    if policy is SecretsPolicy.REFUSE and made != data:
        raise _refusal(["value under a telling name, or in a text"])
    return made


def _refusal(kinds: list[str]) -> InvalidRequest:
    told = ", ".join(dict.fromkeys(kinds))
    return InvalidRequest(
        f"this holds what looks like a secret ({told}), and secrets are not kept here",
        hint="say where the secret is kept instead of what it is",
        details={"kinds": kinds},
    )
