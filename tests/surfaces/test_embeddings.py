"""The embedding model is chosen and tested, on every surface."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_067_the_active_model_is_really_tested(call: Caller) -> None:
    result = await call("test_embeddings")
    assert (result["available"], result["provider"], result["model"], result["dimension"], result["errors"]) == (
        True,
        "local",
        "static-v1",
        256,
        [],
    )
    assert len(result["sample_embedding"]) == 5


async def test_067_a_choice_of_model_is_kept_until_it_is_reset(call: Caller) -> None:
    for choice in ({"provider": "local", "model": "static-v1"}, {"provider": "settings"}):
        answer = await call("configure_embeddings", **choice)
        answer.pop("job_id")
        assert answer == {
            "success": True,
            "provider": "local",
            "model": "static-v1",
            "dimension": 256,
            "message": "static-v1 is active now",
            "warnings": [],
            "in_use": True,
        }


async def test_067_memories_without_a_vector_get_one(call: Caller) -> None:
    job = await call("embed_memories")
    assert (job["state"], job["result"]["model"], job["result"]["refused"]) == ("completed", "static-v1", 0)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"provider": "openai", "base_url": "https://evil.example.com"}, "forbidden"),
        ({"provider": "openai", "api_key_env": "PATH"}, "forbidden"),
        ({"provider": "local", "model": "static-v9"}, "invalid_request"),
        ({"provider": "vllm", "base_url": "http://127.0.0.1:9", "dimensions": 8}, "conflict"),
    ],
)
async def test_067_a_forbidden_or_failing_model_is_refused(
    call: Caller, arguments: dict[str, object], code: str
) -> None:
    with pytest.raises(CallFailed) as caught:
        await call("configure_embeddings", **arguments)
    assert (caught.value.code, caught.value.hint is not None) == (code, True)
