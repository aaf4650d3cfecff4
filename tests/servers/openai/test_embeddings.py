"""Embeddings with the active model, through OpenAI's own client."""

from typing import Any, cast

import numpy as np
import openai
import pytest
from openai import OpenAI


def test_both_encoding_formats_return_the_same_vectors(plain: OpenAI) -> None:
    texts = ["The cat sleeps.", "A cat is asleep.", "Interest rates rise."]
    packed = plain.embeddings.create(model="static-v1", input=texts)  # the client asks for base64 by itself
    plainly = plain.embeddings.create(model="scrubjay", input=texts, encoding_format="float", dimensions=256)
    assert packed.model == plainly.model == "static-v1"
    rows = [np.array(entry.embedding) for entry in plainly.data]
    assert [entry.index for entry in packed.data] == [0, 1, 2]
    for entry, row in zip(packed.data, rows, strict=True):
        assert np.allclose(entry.embedding, row)
        assert np.linalg.norm(row) == pytest.approx(1, abs=0.01)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert packed.usage.prompt_tokens == packed.usage.total_tokens == 13
    for form in ("float", None):  # some clients send null for unset options
        body: Any = {"input": texts[0], "encoding_format": form, "dimensions": None, "user": None}
        alone = plain.embeddings.create(model="static-v1", input=texts[0], encoding_format="float", extra_body=body)
        assert alone.data[0].embedding == plainly.data[0].embedding


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"input": [1, 2, 3]}, "input"),
        ({"input": [[1, 2], [3]]}, "input"),
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": ["x"] * 2049}, "input"),
        ({"input": "x", "dimensions": 64}, "dimensions"),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_an_invalid_request_is_refused_with_the_name_of_its_field(
    plain: OpenAI, given: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        cast(Any, plain.embeddings.create)(**{"model": "static-v1", **given})
    assert caught.value.param == param


def test_an_unknown_embedding_model_is_not_found(plain: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        plain.embeddings.create(model="text-embedding-3-small", input="x")
    assert caught.value.code == "model_not_found"
