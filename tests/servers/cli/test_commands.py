import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from scrubjay.servers.cli.commands import FamilyGroup, ToolCommand, tool_commands
from scrubjay.tooling.registry import Registry
from tests.servers.cli.toy_program import REGISTRY, find_notes, keep_note, opened, root


def invoke(*words: str, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(root, list(words), input=given)


def received(*words: str, given: str | bytes | None = None) -> Any:
    """Return the arguments that arrived at the tool."""
    result = invoke("notes", *words, "--json", given=given)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)["received"]


def test_every_family_is_a_group_and_every_tool_a_command_in_the_order_declared():
    groups = tool_commands(REGISTRY, opened)
    listed = {group.name: group.list_commands(click.Context(group)) for group in groups}
    assert listed == {
        "notes": ["keep-note", "keep-many", "find-notes", "erase-note"],
        "work": ["fail", "count-slowly", "stubborn", "wait-here"],
    }


def test_a_tool_in_the_registry_becomes_a_command_automatically():
    (group,) = tool_commands(Registry([find_notes]), opened)
    command = group.get_command(click.Context(group), "find-notes")
    assert isinstance(command, ToolCommand)
    assert command.tool is find_notes


def test_options_are_created_only_when_a_command_is_used():
    (group,) = [group for group in tool_commands(REGISTRY, opened) if isinstance(group, FamilyGroup)][:1]
    ctx = click.Context(group)
    commands = [group.get_command(ctx, name) for name in group.list_commands(ctx)]
    assert [command.params for command in commands if command] == [[], [], [], []]
    assert group.get_help(ctx).count("Keep a note, durably.") == 1
    assert group.commands == {}


def test_fields_of_every_type_arrive_with_their_types():
    arguments = received(
        *["keep-note", "--content", "tea", "--scope", "project", "--importance", "0.9", "--tags", "a,b", "--tags", "c"],
        *["--metadata", '{"deep": {"er": [1]}}', "--occurred-at", "2026-01-31T12:00:00Z", "--pinned", "--weight", "2"],
    )
    assert arguments == {
        "content": "tea",
        "scope": "project",
        "importance": 0.9,
        "tags": ["a,b", "c"],
        "metadata": {"deep": {"er": [1]}},
        "occurred_at": "2026-01-31T12:00:00Z",
        "pinned": True,
        "weight": 2,
    }


def test_omitted_fields_are_left_to_the_defaults():
    assert received("keep-note", "tea") == {"content": "tea"}


def test_a_flag_can_be_negated():
    assert received("keep-note", "tea", "--no-pinned") == {"content": "tea", "pinned": False}


def test_lists_of_objects_are_repeated_json():
    assert received("keep-many", "--notes", '{"content": "a"}', "--notes", '{"content": "b", "pinned": true}') == {
        "notes": [{"content": "a"}, {"content": "b", "pinned": True}]
    }


def test_underscores_and_dashes_are_the_same():
    assert received("keep_note", "tea", "--occurred_at", "2026-01-31T12:00:00Z", "--no_pinned") == {
        "content": "tea",
        "occurred_at": "2026-01-31T12:00:00Z",
        "pinned": False,
    }


@pytest.mark.parametrize("words", [["tea", "--json"], ["--json", "tea"], ["--json", "--content", "tea"]])
def test_the_only_required_text_can_be_positional(words: list[str]):
    result = invoke("notes", "keep-note", *words)
    assert json.loads(result.stdout)["received"] == {"content": "tea"}


def test_giving_the_required_text_twice_is_refused():
    result = invoke("notes", "keep-note", "tea", "--content", "coffee")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[0] == "error: content is given twice, with and without its name"


def test_the_request_can_be_json_and_options_override_it():
    request = '{"content": "tea", "importance": 1, "tags": ["a"]}'
    result = invoke("notes", "keep-note", "--json", request, "--importance", "0.25")
    assert json.loads(result.stdout)["received"] == {"content": "tea", "importance": 0.25, "tags": ["a"]}


def test_the_request_can_come_from_stdin():
    result = invoke("notes", "keep-note", "--json", "-", given='{"content": "naïve ⚑"}'.encode())
    assert json.loads(result.stdout)["received"] == {"content": "naïve ⚑"}


def test_the_request_can_come_from_a_file(tmp_path: Path):
    (tmp_path / "request.json").write_text('{"content": "tea"}')
    result = invoke("notes", "keep-note", "--json", f"@{tmp_path}/request.json")
    assert json.loads(result.stdout)["received"] == {"content": "tea"}


@pytest.mark.parametrize(
    ("request_text", "message"),
    [
        (
            "{broken",
            "--json: not valid JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        ),
        ("[1]", "--json: the request must be a JSON object"),
        ("@/no/such/file", "--json: /no/such/file cannot be read (No such file or directory)"),
        ("{" * 100_000, "--json: not valid JSON"),
    ],
)
def test_an_invalid_request_is_refused_as_text_and_as_json(request_text: str, message: str):
    result = invoke("notes", "erase-note", "--json", request_text)
    error = json.loads(result.stdout)["error"]
    assert result.exit_code == 2
    assert error["code"] == "invalid_request"
    assert error["message"].startswith(message)
    assert result.stderr.startswith(f"error: {message}")


def test_invalid_utf8_is_refused():
    result = invoke("notes", "keep-note", "--json", "-", given=b'{"content": "\xff"}')
    assert result.exit_code == 2
    assert "can't decode byte 0xff" in result.stderr


def test_a_nested_field_that_is_not_json_is_refused():
    result = invoke("notes", "keep-note", "tea", "--metadata", "{a")
    message, *rest = result.stderr.splitlines()
    assert message.startswith("error: --metadata: not valid JSON (Expecting property name")
    assert (result.exit_code, rest) == (
        2,
        [
            """hint: write JSON in single quotes, as in '{"name": "value"}'""",
            "help: scrubjay notes keep-note --help",
        ],
    )


def test_invalid_arguments_get_the_dispatchers_error():
    result = invoke("notes", "keep-note", "--importance", "7", "--scope", "nowhere", "--json")
    error = json.loads(result.stdout)["error"]
    assert result.exit_code == 2
    assert [problem["field"] for problem in error["details"]["problems"]] == ["content", "scope", "importance"]
    assert result.stderr.splitlines()[-1] == "help: scrubjay notes keep-note --help"


def test_nothing_is_opened_for_an_invalid_request():
    def never() -> Any:
        raise AssertionError("opened")

    (group,) = tool_commands(Registry([keep_note]), never)
    toy = type(root)("scrubjay", commands=[group])
    assert CliRunner().invoke(toy, ["notes", "keep-note"]).exit_code == 2


def test_the_client_name_has_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert json.loads(invoke("notes", "keep-note", "tea", "--json").stdout)["client"] == f"cli:{tmp_path}"


def test_without_json_the_result_is_text():
    assert invoke("notes", "erase-note", "--id", "note_1").stdout == "erased: note_1\n"
    assert invoke("notes", "find-notes", "x", "--limit", "0").stdout == "no notes\n\nconsidered 0\n"
