"""Reading of foreign files in chunks, also if they are damaged or hostile."""

import json
from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.transfer import source_file
from tests.features.transfer.files import lines, source


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_101_a_list_is_read_entry_by_entry_at_every_chunk_size(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(source_file, "CHUNK", chunk)
    entries: list[dict[str, Any]] = [{"a": "ü]},🙂"}, {}, {"b": [1, {"c": '\\" ['}]}]
    for indent in (None, 2):
        file = source(json.dumps(entries, ensure_ascii=False, indent=indent).encode() + b"\n")
        assert list(file.elements()) == list(enumerate(entries, start=1))


def test_101_the_checksum_covers_the_whole_file() -> None:
    from hashlib import sha256

    for data, name in ((b'[{"a": 1}]\n', "elements"), (lines({"a": 1}, {"b": 2}), "objects")):
        file = source(data)
        list(getattr(file, name)())
        assert file.checksum == sha256(data).hexdigest()


@pytest.mark.parametrize(
    "data", [b"[", b"[{}", b"[{},", b'[{"a": "b', b"[{}] {}", b"[1]", b"[,{}]", b'["\xff"]', b"[" * 100_000]
)
def test_101_a_truncated_list_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        list(source(data).elements())
    assert caught.value.hint


@pytest.mark.parametrize("data", [b'{"a": 1}\n{"b"', b"[1]\n", b'"text"\n', b"\xff\n", b'{"a":' * 50_000])
def test_101_a_truncated_line_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest):
        list(source(data).objects())


def test_101_an_endless_line_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_file, "MAX_BYTES", 100)
    monkeypatch.setattr(source_file, "CHUNK", 10)
    with pytest.raises(InvalidRequest, match="longer"):
        list(source(b"x" * 1000).lines())
    with pytest.raises(InvalidRequest, match="entry of more"):
        list(source(b'[{"a": "' + b"x" * 1000).elements())


def test_101_unstorable_characters_are_replaced_and_blank_lines_ignored() -> None:
    data = b'\n{"a\\u0000": ["\\ud800", {"b": "\\u0000x"}], "n": NaN, "i": 1e999}\r\n  \n'
    assert list(source(data).objects()) == [(2, {"a\ufffd": ["\ufffd", {"b": "\ufffdx"}], "n": None, "i": None})]
