"""Errors of MCP: every error code is mapped, and every error can be sent."""

from scrubjay.core.errors import ErrorCode, NotFound
from scrubjay.servers.mcp.errors import JSONRPC_CODES, call_failure


def test_every_error_code_has_a_kind_of_response() -> None:
    assert set(JSONRPC_CODES) == set(ErrorCode)


def test_an_error_with_a_lone_surrogate_can_be_sent() -> None:
    failure = call_failure(NotFound("\udce9.txt is gone", details={"path": "\udce9.txt"}))
    record = {"code": "not_found", "message": "?.txt is gone", "hint": None, "details": {"path": "?.txt"}}
    assert failure.model_dump(by_alias=True, exclude_unset=True) == {
        "content": [{"text": "?.txt is gone"}],
        "isError": True,
        "_meta": {"scrubjay/error": record},
    }
