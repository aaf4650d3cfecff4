"""A choice of provider, model and key determines the embedder."""

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
from scrubjay.models.endpoint import ServiceEndpoint
from scrubjay.models.failures import FailureReason
from scrubjay.models.providers import PROVIDERS, embedder_for, endpoint_for
from scrubjay.models.static_model import StaticEmbedder
from tests.models.service import DIMENSIONS, Service, expected_vector

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
def test_every_provider_has_its_own_endpoint_and_parameters(
    choice: EmbeddingChoice, url: str, fields: dict[str, Any], key: str | None, model: str, dimensions: int
) -> None:
    environment = {f"{name.upper()}_API_KEY": f"{name}-key" for name in ("openai", "gemini", "mistral", "cohere")}
    environment["OTHER"] = "other-key"
    endpoint = endpoint_for(choice, environment)
    sent = endpoint.key.get_secret_value() if endpoint.key else None
    assert (endpoint.url, endpoint.fields, sent) == (url, fields, key)
    assert (endpoint.key_header, endpoint.key_prefix) == ("Authorization", "Bearer ")
    model_embedder = embedder(choice, **environment)
    assert (model_embedder.model, model_embedder.dimensions) == (model, dimensions)


def test_the_azure_url_is_built_from_resource_and_deployment() -> None:
    choice = choose(provider="azure", resource_name="our-place", deployment_name="embed/1", api_version="2024-10-21")
    assert endpoint_for(choice, {"AZURE_OPENAI_API_KEY": KEY}) == ServiceEndpoint(
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


async def test_the_azure_key_is_sent_in_the_api_key_header(service: Service) -> None:
    choice = choose(
        provider="azure", base_url=service.url, deployment_name="d", dimensions=DIMENSIONS, api_key=SecretStr(KEY)
    )
    model_embedder = embedder(choice)
    assert await model_embedder.embed(["one"]) == [expected_vector("one")]
    await model_embedder.close()
    (request,) = service.requests
    assert request.path == "/v1/openai/deployments/d/embeddings?api-version=2023-05-15"
    assert (request.headers["api-key"], request.headers.get("Authorization")) == (KEY, None)
    assert request.body["dimensions"] == DIMENSIONS


async def test_a_chosen_service_embeds_each_text_only_once(service: Service) -> None:
    model_embedder = embedder(choose(provider="ollama", model="mine", dimensions=DIMENSIONS, base_url=service.url))
    assert await model_embedder.embed(["one", "two", "one"]) == [
        expected_vector("one"),
        expected_vector("two"),
        expected_vector("one"),
    ]
    assert await model_embedder.embed(["two"]) == [expected_vector("two")]
    await model_embedder.close()
    assert [request.body["input"] for request in service.requests] == [["one", "two"]]


async def test_batches_respect_the_limit_of_the_provider(service: Service) -> None:
    pace = Pace(batch_size=2048)
    model_embedder = embedder(choose(provider="cohere", dimensions=DIMENSIONS, base_url=service.url, pace=pace))
    await model_embedder.embed([f"text {number}" for number in range(100)])
    await model_embedder.close()
    assert sorted(len(request.body["input"]) for request in service.requests) == [4, 96]


async def test_an_environment_key_is_not_sent_to_a_custom_address(service: Service) -> None:
    model_embedder = embedder(
        choose(provider="openai", dimensions=DIMENSIONS, base_url=service.url), OPENAI_API_KEY=KEY
    )
    await model_embedder.embed(["one"])
    await model_embedder.close()
    assert KEY not in str(service.requests)
    named = choose(provider="openai", dimensions=DIMENSIONS, base_url=service.url, api_key_env="OPENAI_API_KEY")
    model_embedder = embedder(named, OPENAI_API_KEY=KEY)
    await model_embedder.embed(["one"])
    await model_embedder.close()
    assert service.requests[-1].headers["Authorization"] == f"Bearer {KEY}"


def test_the_local_provider_is_the_bundled_model() -> None:
    assert isinstance(embedder(choose()), StaticEmbedder)
    assert isinstance(embedder(choose(model="static-v1", dimensions=256)), StaticEmbedder)


@pytest.mark.parametrize(
    ("choice", "message", "hint"),
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
            "the key in api_key contains invalid characters",
            "copy the key again",
        ),
        (
            choose(provider="openai", api_key=SecretStr(f"{KEY}\N{EN DASH}")),
            "the key in api_key contains invalid characters",
            "copy the key again",
        ),
        (choose(provider="ollama", model="mine"), "the dimensions of 'mine' of ollama are unknown", "set dimensions"),
        (choose(provider="ollama", base_url="localhost:1"), "base_url is not an HTTP URL", "http://"),
        (choose(provider="ollama", base_url="file:///etc/passwd"), "base_url is not an HTTP URL", "http://"),
        (choose(provider="ollama", base_url="http://[::1"), "base_url is not an HTTP URL", "http://"),
        (choose(provider="ollama", base_url="http://h:99999"), "base_url is not an HTTP URL", "http://"),
        (choose(provider="ollama", base_url=f"http://u:{KEY}@h"), "base_url contains credentials", "api_key"),
        (choose(provider="ollama", base_url=f"http://h/v1?key={KEY}"), "base_url contains credentials", "api_key"),
        (choose(provider="azure", resource_name="r"), "azure needs a resource and a deployment", "deployment_name"),
        (choose(provider="azure", deployment_name="d"), "azure needs a resource and a deployment", "resource_name"),
        (
            choose(provider="azure", resource_name="evil.example/", deployment_name="d"),
            "resource_name is not the name of an Azure resource",
            "dashes",
        ),
    ],
)
def test_an_invalid_choice_is_refused_with_a_hint(choice: EmbeddingChoice, message: str, hint: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        embedder(choice)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert KEY[:10] not in str(caught.value.record)


def test_every_provider_has_a_default_model() -> None:
    assert set(PROVIDERS) == set(get_args(ProviderName))
    for provider in PROVIDERS.values():
        assert all(dimensions > 0 for dimensions in provider.models.values())
        assert provider.models or provider is PROVIDERS["onnx"]


def test_the_guide_documents_every_model_variable_and_reason() -> None:
    page = (Path(__file__).parents[2] / "docs" / "embeddings.md").read_text("utf-8")
    for name, provider in PROVIDERS.items():
        models = ", ".join(f"`{model}` {dimensions}" for model, dimensions in provider.models.items())
        models = models or "any folder that you name; its own dimension"
        assert re.search(rf"^\|[^|]*`{name}`[^|]*\| {re.escape(models)} \|$", page, re.MULTILINE), name
        assert provider.key_variable is None or f"`{provider.key_variable}`" in page
    assert all(f"`{reason}`" in page for reason in FailureReason)


def test_the_repr_of_a_choice_hides_its_key() -> None:
    assert KEY not in repr(choose(provider="openai", api_key=SecretStr(KEY)))


def test_choosing_a_model_loads_no_heavy_dependency() -> None:
    script = (
        "import sys, scrubjay.models.providers, scrubjay.models.probe\n"
        "heavy = {'numpy', 'tokenizers', 'onnx', 'onnxruntime', 'httpx2', 'ssl'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
