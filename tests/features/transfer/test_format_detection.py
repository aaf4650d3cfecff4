"""Detection of file formats by content, not by name."""

import io
import json

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.transfer.format_detection import detect_format
from tests.features.transfer.files import NOW, lines, own_file
from tests.features.transfer.test_claude_code import LOG
from tests.features.transfer.test_knowledge_graph import GRAPH
from tests.features.transfer.test_neo import SUMMARY, TURN
from tests.features.transfer.test_openai_conversations import CONVERSATION


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (own_file(), "scrubjay"),
        (lines(TURN), "neo"),
        (lines(SUMMARY), "neo"),
        (LOG, "claude-code"),
        (b"\xef\xbb\xbf" + json.dumps([CONVERSATION], indent=2).encode(), "openai"),
        (GRAPH, "mcp-memory"),
    ],
)
def test_101_every_supported_format_is_detected(data: bytes, name: str) -> None:
    found = detect_format(io.BytesIO(data), "x")
    assert found
    assert found(NOW).name == name


@pytest.mark.parametrize("data", [b"", b"\n \n", b"[]", b"  [ ]\n"])
def test_101_an_empty_file_has_no_format(data: bytes) -> None:
    assert detect_format(io.BytesIO(data), "x") is None


@pytest.mark.parametrize(
    "data",
    [
        b"hello\n",
        b"SQLite format 3\x00",
        b"PK\x03\x04rest of a zip",
        b'{"some": "thing"}\n',
        b'[{"some": "thing"}]',
        json.dumps(CONVERSATION, indent=2).encode(),
        lines({"nothing": 1}, *[{"id": "x"}] * 300),
    ],
)
def test_101_a_file_of_unknown_format_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        detect_format(io.BytesIO(data), "x")
    assert caught.value.hint
