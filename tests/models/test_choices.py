"""A choice can be kept for other processes; its key cannot."""

import json

from pydantic import SecretStr

from scrubjay.models.choices import EmbeddingChoice, Pace, choice_from, kept_form


def test_what_is_kept_is_the_choice_again_at_the_pace_of_who_reads_it() -> None:
    choice = EmbeddingChoice(
        provider="azure",
        model="m",
        dimensions=9,
        base_url="http://h",
        api_key_env="K",
        resource_name="r",
        deployment_name="d",
        api_version="v",
        similarity_threshold=0.4,
        pace=Pace(batch_size=5, retries=9),
    )
    kept = json.loads(json.dumps(kept_form(choice)))
    assert kept == {
        "provider": "azure",
        "model": "m",
        "dimensions": 9,
        "base_url": "http://h",
        "api_key_env": "K",
        "resource_name": "r",
        "deployment_name": "d",
        "api_version": "v",
        "similarity_threshold": 0.4,
        "batch_size": 5,
    }
    slow = Pace(retries=1, timeout_seconds=60)
    assert choice_from(kept, slow) == EmbeddingChoice(
        **{name: value for name, value in kept.items() if name != "batch_size"},
        pace=Pace(batch_size=5, retries=1, timeout_seconds=60),
    )


def test_a_key_is_never_kept() -> None:
    kept = kept_form(EmbeddingChoice(provider="openai", api_key=SecretStr("correct-horse")))
    assert kept == {"provider": "openai", "api_version": "2023-05-15", "batch_size": 32}
