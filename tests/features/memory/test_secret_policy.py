"""What the operator says of secrets holds for what is written."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.errors import InvalidRequest
from scrubjay.core.policies import SecretsPolicy
from scrubjay.features.memory.secret_policy import Guarded, guard, guard_data

SECRET = "Tulip99x"
TEXT = f"The wifi password is {SECRET} and the pager is 4711."


def test_a_secret_is_masked_and_told_of() -> None:
    assert guard(TEXT, SecretsPolicy.MASK) == Guarded(
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


def test_what_is_kept_as_it_is_stays_as_it_is() -> None:
    assert guard(TEXT, SecretsPolicy.KEEP) == Guarded(TEXT)
    assert guard_data({"password": SECRET}, SecretsPolicy.KEEP) == {"password": SECRET}


@given(st.text(), st.sampled_from(SecretsPolicy))
def test_a_guarded_text_passes_again(text: str, policy: SecretsPolicy) -> None:
    try:
        guarded = guard(text, policy)
    except InvalidRequest:
        return
    assert guard(guarded.text, policy) == Guarded(guarded.text)
