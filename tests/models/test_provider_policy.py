"""Callers cannot have a secret of the server sent to an address of their choice."""

import pytest

from scrubjay.core.errors import Forbidden, Misconfigured
from scrubjay.models.choices import CallerRights, EmbeddingChoice, ProviderName
from scrubjay.models.provider_policy import refuse_other_service, refuse_unless_allowed
from scrubjay.models.providers import PROVIDERS

NONE = CallerRights()
SOME = CallerRights(
    addresses=("gpu.example.com:8000", "llm.example.com"), keys={"LLM_KEY": "llm.example.com", "OTHER": "else.where"}
)


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "onnx"])
@pytest.mark.parametrize("named", [False, True])
def test_the_default_address_and_key_of_a_provider_need_no_permission(provider: ProviderName, named: bool) -> None:
    variable = PROVIDERS[provider].key_variable if named else None
    choice = EmbeddingChoice(
        provider=provider, api_key_env=variable, resource_name="ours", deployment_name="only of Azure"
    )
    refuse_unless_allowed(choice, CallerRights(addresses=()))


def test_callers_may_choose_only_allowed_onnx_folders() -> None:
    choice = EmbeddingChoice(provider="onnx", model="/srv/models/mini")
    refuse_unless_allowed(choice, CallerRights(folders=("/srv/models/mini",)))
    for folders in ((), ("/srv/models",), ("/srv/models/mini/",)):
        with pytest.raises(Forbidden, match="callers may not choose this folder"):
            refuse_unless_allowed(choice, CallerRights(folders=folders))


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/v1", "http://localhost", "http://LOCALHOST:1", "https://[::1]:5/v1", "http://127.8.9.1"],
)
def test_loopback_is_allowed_by_default(address: str) -> None:
    choice = EmbeddingChoice(provider="vllm", base_url=address)
    refuse_unless_allowed(choice, NONE)
    with pytest.raises(Forbidden, match="callers may not send texts to"):
        refuse_unless_allowed(choice, SOME)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example.com/v1",
        "http://169.254.169.254/latest",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "http://[::ffff:127.0.0.1]",
        "http://[::]",
        "http://2130706433",
        "http://0x7f000001",
        "http://127.1",
        "http://127.0.0.1.evil.example.com",
        "http://localhost.evil.example.com",
        "http://localhost\\.evil.example.com",
        "http://127.0.0.1\t.evil.example.com",
        "http://ⓛocalhost",
        "https://api.openai.com/v1",
    ],
)
def test_other_hosts_are_refused_by_default(address: str) -> None:
    with pytest.raises(Forbidden) as caught:
        refuse_unless_allowed(EmbeddingChoice(provider="openai", base_url=address), NONE)
    assert caught.value.hint == ("the operator can allow it: add the host to SCRUBJAY_EMBEDDING_CALLER_ADDRESSES")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1@evil.example.com",
        "http://evil.example.com\\@127.0.0.1",
        "http://127.0.0.1#@evil",
        "ftp://127.0.0.1",
    ],
)
def test_a_malformed_address_is_an_invalid_choice(address: str) -> None:
    with pytest.raises(Misconfigured):
        refuse_unless_allowed(EmbeddingChoice(provider="openai", base_url=address), NONE)


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("http://gpu.example.com:8000/v1", True),
        ("http://GPU.example.com:8000", True),
        ("http://gpu.example.com", False),
        ("http://gpu.example.com:8001", False),
        ("https://llm.example.com", True),
        ("https://llm.example.com:444", True),
        ("https://a.llm.example.com", False),
        ("https://llm.example.com.evil.org", False),
    ],
)
def test_hosts_are_allowed_by_name_and_port(address: str, allowed: bool) -> None:
    choice = EmbeddingChoice(provider="openai", base_url=address)
    if allowed:
        refuse_unless_allowed(choice, SOME)
    else:
        with pytest.raises(Forbidden):
            refuse_unless_allowed(choice, SOME)


@pytest.mark.parametrize(
    ("choice", "rights"),
    [
        # A secret that is not a key of the provider.
        (EmbeddingChoice(provider="openai", api_key_env="AWS_SECRET_ACCESS_KEY"), NONE),
        # The key of one provider for another.
        (EmbeddingChoice(provider="mistral", api_key_env="OPENAI_API_KEY"), NONE),
        # A key sent to any listener on this machine.
        (EmbeddingChoice(provider="openai", api_key_env="OPENAI_API_KEY", base_url="http://127.0.0.1:9"), NONE),
        (EmbeddingChoice(provider="ollama", api_key_env="LLM_KEY"), SOME),
        # A key that may be sent only elsewhere.
        (EmbeddingChoice(provider="openai", api_key_env="OTHER", base_url="https://llm.example.com"), SOME),
        (EmbeddingChoice(provider="openai", api_key_env="LLM_KEY", base_url="http://gpu.example.com:8000"), SOME),
        (EmbeddingChoice(provider="openai", api_key_env="LLM_KEY"), SOME),
    ],
)
def test_a_key_is_sent_only_to_allowed_hosts(choice: EmbeddingChoice, rights: CallerRights) -> None:
    with pytest.raises(Forbidden, match="callers may not send the content of") as caught:
        refuse_unless_allowed(choice, rights)
    assert "SCRUBJAY_EMBEDDING_CALLER_KEYS" in (caught.value.hint or "")


def test_an_allowed_key_variable_may_be_chosen() -> None:
    refuse_unless_allowed(
        EmbeddingChoice(provider="openai", api_key_env="LLM_KEY", base_url="https://llm.example.com/v1"), SOME
    )
    own = CallerRights(keys={"SECOND_KEY": "api.openai.com"})
    refuse_unless_allowed(EmbeddingChoice(provider="openai", api_key_env="SECOND_KEY"), own)


OLLAMA = EmbeddingChoice(provider="ollama")
AZURE = EmbeddingChoice(provider="azure", resource_name="ours", deployment_name="small")
VLLM = EmbeddingChoice(provider="vllm", base_url="https://GPU.example.com/v1")


@pytest.mark.parametrize(
    ("choice", "known"),
    [
        (EmbeddingChoice(provider="local", dimensions=128), EmbeddingChoice()),
        (EmbeddingChoice(provider="ollama", model="bge-m3"), OLLAMA),
        (EmbeddingChoice(provider="ollama", base_url="http://127.0.0.1:11434/v1/"), OLLAMA),
        (EmbeddingChoice(provider="vllm", model="other", base_url="https://gpu.example.com:443/v1"), VLLM),
        (EmbeddingChoice(provider="azure", resource_name="ours", deployment_name="large"), AZURE),
    ],
)
def test_another_model_of_a_service_is_no_other_service(choice: EmbeddingChoice, known: EmbeddingChoice) -> None:
    refuse_other_service(choice, [EmbeddingChoice(), known])


@pytest.mark.parametrize(
    ("choice", "known"),
    [
        (EmbeddingChoice(provider="ollama", base_url="http://127.0.0.1:4990/v1"), OLLAMA),
        (EmbeddingChoice(provider="ollama", base_url="http://[::1]:11434/v1"), OLLAMA),
        (EmbeddingChoice(provider="ollama", base_url="http://127.0.0.2:11434/v1"), OLLAMA),
        (EmbeddingChoice(provider="ollama", base_url="https://127.0.0.1:11434/v1"), OLLAMA),
        (EmbeddingChoice(provider="ollama", base_url="http://127.0.0.1:11434/other"), OLLAMA),
        (EmbeddingChoice(provider="vllm", base_url="http://127.0.0.1:11434/v1"), OLLAMA),
        (EmbeddingChoice(provider="openai"), OLLAMA),
        (EmbeddingChoice(provider="openai"), EmbeddingChoice()),
        (EmbeddingChoice(provider="local"), OLLAMA),
        (EmbeddingChoice(provider="onnx", model="/srv/models/mini"), EmbeddingChoice()),
        (EmbeddingChoice(provider="vllm", base_url="https://gpu.example.com:8443/v1"), VLLM),
        (EmbeddingChoice(provider="vllm", base_url="https://gpu.example.com.evil.example.com/v1"), VLLM),
        (EmbeddingChoice(provider="azure", resource_name="theirs", deployment_name="small"), AZURE),
    ],
)
def test_another_provider_or_address_is_another_service(choice: EmbeddingChoice, known: EmbeddingChoice) -> None:
    with pytest.raises(Forbidden) as refused:
        refuse_other_service(choice, [known])
    assert refused.value.details["reason"] == "other_service"
