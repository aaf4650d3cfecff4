"""The secrets policy applies to everything that is written."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.secret_policy import MaskedText, guard, guard_data

SECRET = "Tulip99x"
TEXT = f"The wifi password is {SECRET} and the pager is 4711."


def test_a_secret_is_masked_and_its_kind_reported() -> None:
    assert guard(TEXT, SecretsPolicy.MASK) == MaskedText(
        "The wifi password is [secret: password] and the pager is 4711.", ("password",)
    )
    assert guard_data({"token": SECRET, "note": TEXT, "n": 1}, SecretsPolicy.MASK) == {
        "token": "[secret: token]",
        "note": "The wifi password is [secret: password] and the pager is 4711.",
        "n": 1,
    }


def test_a_refusal_never_quotes_the_secret() -> None:
    for attempt in (
        lambda: guard(TEXT, SecretsPolicy.REFUSE),
        lambda: guard_data({"notes": [TEXT]}, SecretsPolicy.REFUSE),
        lambda: guard_data({"password": SECRET}, SecretsPolicy.REFUSE),
    ):
        with pytest.raises(InvalidRequest) as refused:
            attempt()
        assert SECRET not in str(asdict(refused.value.record))
        assert refused.value.hint


def test_the_keep_policy_changes_nothing() -> None:
    assert guard(TEXT, SecretsPolicy.KEEP) == MaskedText(TEXT)
    assert guard_data({"password": SECRET}, SecretsPolicy.KEEP) == {"password": SECRET}


@given(st.text(), st.sampled_from(SecretsPolicy))
def test_a_masked_text_passes_the_policy_unchanged(text: str, policy: SecretsPolicy) -> None:
    try:
        guarded = guard(text, policy)
    except InvalidRequest:
        return
    assert guard(guarded.text, policy) == MaskedText(guarded.text)
