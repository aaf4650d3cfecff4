"""A choice of provider, model and key means one embedder."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import SecretStr

from scrubjay.core.errors import Misconfigured
from scrubjay.models.choices import EmbeddingChoice, Pace, ProviderName
from scrubjay.models.embedding import Embedder
from scrubjay.models.embedding_cache import VectorCache
from scrubjay.models.endpoint import Endpoint
from scrubjay.models.failures import Reason
from scrubjay.models.providers import PROVIDERS, embedder_for, endpoint_for
from scrubjay.models.static_model import StaticEmbedder
from tests.models.service import DIMENSIONS, Service, vector_of

KEY = "sk-very-secret-0123456789"


def choose(**chosen: Any) -> EmbeddingChoice:
    return EmbeddingChoice(**chosen)


def embedder(choice: EmbeddingChoice, **environment: str) -> Embedder:
    return embedder_for(choice, environment=environment, cache=VectorCache(100_000))


@pytest.mark.parametrize(
    ("choice", "url", "fields", "key", "model", "dimensions"),
    [
        (
            choose(provider="openai"),
            "https://api.openai.com/v1/embeddings",
            {"model": "text-embedding-3-small", "encoding_format": "base64"},
            "openai-key",
            "openai/text-embedding-3-small",
            1536,
        ),
        (
            choose(provider="openai", model="text-embedding-3-large", dimensions=1024, api_key_env="OTHER"),
            "https://api.openai.com/v1/embeddings",
            {"model": "text-embedding-3-large", "encoding_format": "base64", "dimensions": 1024},
            "other-key",
            "openai/text-embedding-3-large@1024",
            1024,
        ),
        (
            choose(provider="gemini"),
            "https://generativelanguage.googleapis.com/v1beta/openai/embeddings",
            {"model": "gemini-embedding-001", "encoding_format": "float"},
            "gemini-key",
            "gemini/gemini-embedding-001",
            3072,
        ),
        (
            choose(provider="mistral", model="codestral-embed", dimensions=256),
            "https://api.mistral.ai/v1/embeddings",
            {"model": "codestral-embed", "encoding_format": "float", "output_dimension": 256},
            "mistral-key",
            "mistral/codestral-embed@256",
            256,
        ),
        (
            choose(provider="cohere"),
            "https://api.cohere.ai/compatibility/v1/embeddings",
            {"model": "embed-v4.0", "encoding_format": "float"},
            "cohere-key",
            "cohere/embed-v4.0",
            1536,
        ),
        (
            choose(provider="ollama"),
            "http://127.0.0.1:11434/v1/embeddings",
            {"model": "nomic-embed-text", "encoding_format": "float"},
            None,
            "ollama/nomic-embed-text",
            768,
        ),
        (
            choose(provider="ollama", model="my/own", dimensions=99, base_url="http://box:1234/v1/"),
            "http://box:1234/v1/embeddings",
            {"model": "my/own", "encoding_format": "float"},
            None,
            "ollama/my/own",
            99,
        ),
        (
            choose(provider="vllm", api_key=SecretStr(" given-key\n")),
            "http://127.0.0.1:8000/v1/embeddings",
            {"model": "BAAI/bge-m3", "encoding_format": "base64"},
            "given-key",
            "vllm/BAAI/bge-m3",
            1024,
        ),
    ],
    ids=lambda value: value.provider if isinstance(value, EmbeddingChoice) else "",
)
def test_every_provider_is_asked_in_its_own_way(
    choice: EmbeddingChoice, url: str, fields: dict[str, Any], key: str | None, model: str, dimensions: int
) -> None:
    environment = {f"{name.upper()}_API_KEY": f"{name}-key" for name in ("openai", "gemini", "mistral", "cohere")}
    environment["OTHER"] = "other-key"
    endpoint = endpoint_for(choice, environment)
    sent = endpoint.key.get_secret_value() if endpoint.key else None
    assert (endpoint.url, endpoint.fields, sent) == (url, fields, key)
    assert (endpoint.key_header, endpoint.key_prefix) == ("Authorization", "Bearer ")
    made = embedder(choice, **environment)
    assert (made.model, made.dimensions) == (model, dimensions)


def test_azure_is_addressed_by_resource_and_deployment() -> None:
    choice = choose(provider="azure", resource_name="our-place", deployment_name="embed/1", api_version="2024-10-21")
    assert endpoint_for(choice, {"AZURE_OPENAI_API_KEY": KEY}) == Endpoint(
        provider="azure",
        url="https://our-place.openai.azure.com/openai/deployments/embed%2F1/embeddings?api-version=2024-10-21",
        fields={"model": "text-embedding-3-small", "encoding_format": "float"},
        key=SecretStr(KEY),
        key_header="api-key",
        key_prefix="",
        key_hint="put the right key into AZURE_OPENAI_API_KEY",
        not_found_hint="check resource_name, deployment_name and api_version",
        refused_hint="check model and dimensions; for texts that are too long lower max_characters",
    )


async def test_azure_is_sent_its_key_in_its_own_header(service: Service) -> None:
    choice = choose(
        provider="azure", base_url=service.url, deployment_name="d", dimensions=DIMENSIONS, api_key=SecretStr(KEY)
    )
    made = embedder(choice)
    assert await made.embed(["one"]) == [vector_of("one")]
    await made.close()
    (request,) = service.requests
    assert request.path == "/v1/openai/deployments/d/embeddings?api-version=2023-05-15"
    assert (request.headers["api-key"], request.headers.get("Authorization")) == (KEY, None)
    assert request.body["dimensions"] == DIMENSIONS


async def test_a_chosen_service_embeds_and_is_not_asked_twice_for_one_text(service: Service) -> None:
    made = embedder(choose(provider="ollama", model="mine", dimensions=DIMENSIONS, base_url=service.url))
    assert await made.embed(["one", "two", "one"]) == [vector_of("one"), vector_of("two"), vector_of("one")]
    assert await made.embed(["two"]) == [vector_of("two")]
    await made.close()
    assert [request.body["input"] for request in service.requests] == [["one", "two"]]


async def test_a_batch_is_never_larger_than_the_provider_takes(service: Service) -> None:
    pace = Pace(batch_size=2048)
    made = embedder(choose(provider="cohere", dimensions=DIMENSIONS, base_url=service.url, pace=pace))
    await made.embed([f"text {number}" for number in range(100)])
    await made.close()
    assert sorted(len(request.body["input"]) for request in service.requests) == [4, 96]


async def test_a_key_of_the_environment_does_not_go_to_an_address_of_somebodys_choice(service: Service) -> None:
    made = embedder(choose(provider="openai", dimensions=DIMENSIONS, base_url=service.url), OPENAI_API_KEY=KEY)
    await made.embed(["one"])
    await made.close()
    assert KEY not in str(service.requests)
    named = choose(provider="openai", dimensions=DIMENSIONS, base_url=service.url, api_key_env="OPENAI_API_KEY")
    made = embedder(named, OPENAI_API_KEY=KEY)
    await made.embed(["one"])
    await made.close()
    assert service.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


def test_local_is_the_bundled_model() -> None:
    assert isinstance(embedder(choose()), StaticEmbedder)
    assert isinstance(embedder(choose(model="static-v1", dimensions=256)), StaticEmbedder)


@pytest.mark.parametrize(
    ("choice", "said", "hint"),
    [
        (choose(model="static-v2"), "there is no local model 'static-v2'", "did you mean static-v1?"),
        (choose(model="zzz"), "there is no local model 'zzz'", "known: static-v1"),
        (choose(model="all-MiniLM-L6-v2"), "all-MiniLM-L6-v2 is no longer part of scrubjay", "set provider to onnx"),
        (choose(provider="onnx"), "onnx needs the folder of a model", "set model to the path"),
        (choose(provider="onnx", model="/no/such"), "there is no folder '/no/such'", "tokenizer.json"),
        (choose(dimensions=99), "static-v1 always has 256 dimensions", "do not set dimensions"),
        (choose(provider="openai"), "openai needs a key, and OPENAI_API_KEY is empty", "into OPENAI_API_KEY"),
        (choose(provider="vllm", api_key_env="NONE"), "vllm needs a key, and NONE is empty", "into NONE"),
        (choose(provider="openai", api_key=SecretStr(" ")), "openai needs a key, and api_key is empty", "api_key"),
        (
            choose(provider="openai", api_key=SecretStr(f"{KEY}\nX-Other: 1")),
            "the key in api_key has characters that no key has",
            "copy the key once more",
        ),
        (
            choose(provider="openai", api_key=SecretStr(f"{KEY}\N{EN DASH}")),
            "the key in api_key has characters that no key has",
            "copy the key once more",
        ),
        (choose(provider="ollama", model="mine"), "how many dimensions 'mine' of ollama has", "set dimensions"),
        (choose(provider="ollama", base_url="localhost:1"), "base_url is not an address", "http://"),
        (choose(provider="ollama", base_url="file:///etc/passwd"), "base_url is not an address", "http://"),
        (choose(provider="ollama", base_url="http://[::1"), "base_url is not an address", "http://"),
        (choose(provider="ollama", base_url="http://h:99999"), "base_url is not an address", "http://"),
        (choose(provider="ollama", base_url=f"http://u:{KEY}@h"), "base_url holds more than an address", "api_key"),
        (choose(provider="ollama", base_url=f"http://h/v1?key={KEY}"), "base_url holds more", "api_key"),
        (choose(provider="azure", resource_name="r"), "azure needs a resource and a deployment", "deployment_name"),
        (choose(provider="azure", deployment_name="d"), "azure needs a resource and a deployment", "resource_name"),
        (
            choose(provider="azure", resource_name="evil.example/", deployment_name="d"),
            "resource_name is not the name of an Azure resource",
            "dashes",
        ),
    ],
)
def test_a_choice_that_cannot_work_is_refused_with_what_to_do(choice: EmbeddingChoice, said: str, hint: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        embedder(choice)
    assert said in caught.value.message
    assert hint in (caught.value.hint or "")
    assert KEY[:10] not in str(caught.value.record)


def test_every_provider_that_can_be_chosen_is_known_with_a_default_model() -> None:
    assert set(PROVIDERS) == set(get_args(ProviderName))
    for provider in PROVIDERS.values():
        assert all(dimensions > 0 for dimensions in provider.models.values())
        assert provider.models or provider is PROVIDERS["onnx"]


def test_the_page_for_users_names_every_model_variable_and_reason() -> None:
    page = (Path(__file__).parents[2] / "docs" / "embeddings.md").read_text("utf-8")
    for name, provider in PROVIDERS.items():
        models = ", ".join(f"`{model}` {dimensions}" for model, dimensions in provider.models.items())
        models = models or "any folder that you name; its own length"
        assert re.search(rf"^\|[^|]*`{name}`[^|]*\| {re.escape(models)} \|$", page, re.MULTILINE), name
        assert provider.key_variable is None or f"`{provider.key_variable}`" in page
    assert all(f"`{reason}`" in page for reason in Reason)


def test_a_choice_does_not_show_its_key() -> None:
    assert KEY not in repr(choose(provider="openai", api_key=SecretStr(KEY)))


def test_choosing_loads_nothing_heavy() -> None:
    script = (
        "import sys, scrubjay.models.providers, scrubjay.models.probe\n"
        "heavy = {'numpy', 'tokenizers', 'onnx', 'onnxruntime', 'httpx2', 'ssl'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
