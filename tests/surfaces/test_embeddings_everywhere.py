"""The embedding model is chosen and tried alike through every door."""

import pytest

from tests.surfaces.callers import Caller, CallFailed


async def test_067_the_model_in_use_is_really_tried(call: Caller) -> None:
    found = await call("test_embeddings")
    assert (found["available"], found["provider"], found["model"], found["dimension"], found["errors"]) == (
        True,
        "local",
        "static-v1",
        256,
        [],
    )
    assert len(found["sample_embedding"]) == 5


async def test_067_a_choice_holds_until_it_is_taken_back(call: Caller) -> None:
    for chosen in ({"provider": "local", "model": "static-v1"}, {"provider": "settings"}):
        answer = await call("configure_embeddings", **chosen)
        answer.pop("job_id")
        assert answer == {
            "success": True,
            "provider": "local",
            "model": "static-v1",
            "dimension": 256,
            "message": "static-v1 answers from now on",
            "warnings": [],
            "in_use": True,
        }


async def test_067_what_lacks_a_vector_gets_one(call: Caller) -> None:
    done = await call("embed_memories")
    assert (done["state"], done["result"]["model"], done["result"]["refused"]) == ("completed", "static-v1", 0)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"provider": "openai", "base_url": "https://evil.example.com"}, "forbidden"),
        ({"provider": "openai", "api_key_env": "PATH"}, "forbidden"),
        ({"provider": "local", "model": "static-v9"}, "invalid_request"),
        ({"provider": "vllm", "base_url": "http://127.0.0.1:9", "dimensions": 8}, "conflict"),
    ],
)
async def test_067_what_is_not_allowed_or_does_not_work_is_refused(
    call: Caller, arguments: dict[str, object], code: str
) -> None:
    with pytest.raises(CallFailed) as caught:
        await call("configure_embeddings", **arguments)
    assert (caught.value.code, caught.value.hint is not None) == (code, True)
