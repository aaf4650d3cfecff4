"""Every failure has one way to be told."""

from scrubjay.core.errors import ErrorCode, NotFound
from scrubjay.servers.mcp.errors import ANSWERS, call_failure


def test_every_code_has_its_answer() -> None:
    assert set(ANSWERS) == set(ErrorCode)


def test_a_failure_about_a_strange_file_can_be_told() -> None:
    failure = call_failure(NotFound("\udce9.txt is gone", details={"path": "\udce9.txt"}))
    record = {"code": "not_found", "message": "?.txt is gone", "hint": None, "details": {"path": "?.txt"}}
    assert failure.model_dump(by_alias=True, exclude_unset=True) == {
        "content": [{"text": "?.txt is gone"}],
        "isError": True,
        "_meta": {"scrubjay/error": record},
    }
