"""Every failure has one way to be told."""

from recollect.domain.errors import ErrorCode
from recollect.gateway.mcp.errors import ANSWERS


def test_every_code_has_its_answer() -> None:
    assert set(ANSWERS) == set(ErrorCode)
