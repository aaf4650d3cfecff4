import json

import pytest
from click.testing import CliRunner

from scrubjay.core.errors import ErrorCode
from scrubjay.servers.cli.errors import BROKEN_PIPE, EXIT_CODES, INTERRUPTED
from tests.servers.cli.toy_program import root


def test_every_error_code_has_an_exit_code():
    assert set(EXIT_CODES) == set(ErrorCode)


def test_exit_codes_are_distinct_and_only_wrong_usage_is_two():
    usage = {code for code, number in EXIT_CODES.items() if number == 2}
    others = [number for code, number in EXIT_CODES.items() if code not in usage]
    assert usage == {ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_TOOL}
    assert len(set(others)) == len(others)
    # Codes from 64 on have other meanings: sysexits.h, and signals from 128.
    assert all(0 < number < 64 for number in others)
    assert (INTERRUPTED, BROKEN_PIPE) == (130, 141)


@pytest.mark.parametrize("code", ErrorCode)
def test_a_failed_tool_has_its_exit_code_and_error_as_text_and_json(code: ErrorCode):
    result = CliRunner().invoke(root, ["work", "fail", "--code", code, "--json"])
    assert result.exit_code == EXIT_CODES[code]
    assert result.stderr.startswith(f"error: failed as \\x1b[31m{code}\nhint: try another\n")
    assert json.loads(result.stdout) == {
        "error": {
            "code": code,
            "message": f"failed as \x1b[31m{code}",
            "hint": "try another",
            "details": {"asked": code},
        }
    }


def test_without_json_nothing_is_on_stdout():
    result = CliRunner().invoke(root, ["work", "fail", "--code", "conflict"])
    assert (result.exit_code, result.stdout) == (4, "")
