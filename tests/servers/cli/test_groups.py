import json

import pytest
from click.testing import CliRunner, Result

from tests.servers.cli.toy_program import root


def invoke(*words: str) -> Result:
    return CliRunner().invoke(root, list(words))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nots"], ["there is no command 'nots'", "did you mean scrubjay notes", "scrubjay --help"]),
        (
            ["keep-noet"],
            ["there is no command 'keep-noet'", "did you mean scrubjay notes keep-note", "scrubjay --help"],
        ),
        (
            ["find_notes"],
            ["there is no command 'find-notes'", "did you mean scrubjay notes find-notes", "scrubjay --help"],
        ),
        (
            ["notes", "erase"],
            ["there is no command 'erase'", "did you mean scrubjay notes erase-note", "scrubjay notes --help"],
        ),
        (
            ["notes", "find-notes", "x", "--limti", "3"],
            ["there is no option '--limti'", "did you mean --limit?", "scrubjay notes find-notes --help"],
        ),
    ],
)
def test_the_nearest_names_are_suggested(words: list[str], expected: list[str]):
    result = invoke(*words)
    message, hint, shown = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (2, "")
    assert (message, shown) == (f"error: {expected[0]}", f"help: {expected[2]}")
    assert hint.startswith(f"hint: {expected[1]}")


def test_a_name_unlike_any_other_gets_no_suggestion():
    assert invoke("xyzzy").stderr.splitlines() == ["error: there is no command 'xyzzy'", "help: scrubjay --help"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ["notes", "erase", "--json"],
            {
                "code": "unknown_tool",
                "message": "there is no command 'erase'",
                "hint": "did you mean scrubjay notes erase-note?",
                "details": {"nearest": ["scrubjay notes erase-note"]},
            },
        ),
        (
            ["notes", "erase-note", "--json", "--ids", "x"],
            {
                "code": "invalid_request",
                "message": "there is no option '--ids'",
                "hint": "did you mean --id?",
                "details": {"nearest": ["--id"]},
            },
        ),
        (
            ["work", "count-slowly", "--json={}", "more"],
            {
                "code": "invalid_request",
                "message": "got unexpected extra argument (more)",
                "hint": None,
                "details": {},
            },
        ),
    ],
)
def test_with_json_wrong_usage_is_one_json_document(words: list[str], error: dict[str, object]):
    result = invoke(*words)
    assert (result.exit_code, json.loads(result.stdout)) == (2, {"error": error})


def test_no_command_shows_the_help_and_is_wrong_usage():
    result = invoke()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("A toy that remembers.")


def test_other_commands_report_errors_the_same_way():
    result = invoke("refuse")
    assert (result.exit_code, result.stdout, result.stderr) == (12, "", "error: no key\nhint: set one\n")


def test_a_commands_own_exit_code_is_kept():
    assert invoke("serve", "x", "--port", "0").exit_code == 7


def test_the_version_is_printed():
    assert invoke("--version").stdout == "scrubjay, version 1.2.3\n"
