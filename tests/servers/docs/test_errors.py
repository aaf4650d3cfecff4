import pytest

from scrubjay.core.errors import ErrorCode
from scrubjay.servers.docs.errors import error_page


def test_every_code_has_its_meaning_and_a_column_per_surface():
    lines = error_page(
        {
            "HTTP": {code: 400 + index for index, code in enumerate(ErrorCode)},
            "MCP": dict.fromkeys(ErrorCode, "isError"),
        }
    ).splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert "| Code | Meaning | HTTP | MCP |" in lines
    assert rows[0] == "| `invalid_request` | The arguments are invalid; nothing was changed. | 400 | isError |"
    assert [row.split("`")[1] for row in rows] == [str(code) for code in ErrorCode]
    assert all(row.split(" | ")[1] for row in rows)


def test_a_column_that_lacks_a_code_is_refused():
    with pytest.raises(ValueError, match="'HTTP' lacks busy"):
        error_page({"HTTP": {code: 400 for code in ErrorCode if code is not ErrorCode.BUSY}})
