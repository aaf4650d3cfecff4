import pytest

from scrubjay.core.errors import ErrorCode
from scrubjay.servers.docs.errors import error_page


def test_every_code_is_explained_with_what_each_surface_makes_of_it():
    lines = error_page(
        {
            "HTTP": {code: 400 + index for index, code in enumerate(ErrorCode)},
            "MCP": dict.fromkeys(ErrorCode, "isError"),
        }
    ).splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert "| Code | Meaning | HTTP | MCP |" in lines
    assert rows[0] == "| `invalid_request` | The arguments do not fit; nothing was changed. | 400 | isError |"
    assert [row.split("`")[1] for row in rows] == [str(code) for code in ErrorCode]
    assert all(row.split(" | ")[1] for row in rows)


def test_a_surface_that_forgot_a_code_is_refused():
    with pytest.raises(ValueError, match="'HTTP' does not know busy"):
        error_page({"HTTP": {code: 400 for code in ErrorCode if code is not ErrorCode.BUSY}})
