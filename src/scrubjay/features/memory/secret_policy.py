"""Apply the secrets policy to new content. The operator sets the policy; callers cannot override it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.policies import SecretsPolicy
from scrubjay.core.secrets import find_secrets, mask, redacted


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text after the secrets policy was applied."""

    text: str
    masked: tuple[str, ...] = ()
    """Kinds of the secrets that were replaced by placeholders."""


def guard(text: str, policy: SecretsPolicy) -> MaskedText:
    """Apply the policy to a text. Raises `InvalidRequest`, which never quotes the secret, if it is refused."""
    if policy is SecretsPolicy.KEEP:
        return MaskedText(text)
    if policy is SecretsPolicy.REFUSE:
        if found := find_secrets(text):
            raise _refusal([secret.kind for secret in found])
        return MaskedText(text)
    made, kinds = mask(text)
    return MaskedText(made, tuple(kinds))


def guard_data(data: Mapping[str, Any], policy: SecretsPolicy) -> dict[str, Any]:
    """Like `guard`, for metadata, details and provenance. Values under names such as `password` are secrets."""
    if policy is SecretsPolicy.KEEP or not data:
        return dict(data)
    made: dict[str, Any] = redacted(data)
    if policy is SecretsPolicy.REFUSE and made != data:
        raise _refusal(["value with the name of a secret, or in a text"])
    return made


def _refusal(kinds: list[str]) -> InvalidRequest:
    names = ", ".join(dict.fromkeys(kinds))
    return InvalidRequest(
        f"this contains what looks like a secret ({names}), and secrets are not stored here",
        hint="store where the secret is kept instead of its value",
        details={"kinds": kinds},
    )
