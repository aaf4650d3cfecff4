"""A model choice can be stored for other processes; its key cannot."""

import json

from pydantic import SecretStr

from scrubjay.models.choices import EmbeddingChoice, Pace, choice_of_stored, stored_form


def test_a_stored_choice_is_restored_with_the_pace_of_the_reader() -> None:
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
    stored = json.loads(json.dumps(stored_form(choice)))
    assert stored == {
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
    assert choice_of_stored(stored, slow) == EmbeddingChoice(
        **{name: value for name, value in stored.items() if name != "batch_size"},
        pace=Pace(batch_size=5, retries=1, timeout_seconds=60),
    )


def test_a_key_is_never_stored() -> None:
    stored = stored_form(EmbeddingChoice(provider="openai", api_key=SecretStr("correct-horse")))
    assert stored == {"provider": "openai", "api_version": "2023-05-15", "batch_size": 32}
