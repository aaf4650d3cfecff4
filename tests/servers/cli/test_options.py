from typing import Any

import click
import pytest
from pydantic import Field

from scrubjay.servers.cli.options import FieldOption, command_line, shorthand, tool_parameters
from scrubjay.tooling.declaration import Request, Result, tool
from tests.servers.cli.toy_program import count_slowly, erase_note, find_notes, keep_many, keep_note


class OddRequest(Request):
    help: str = Field(description="A name that is taken.")
    anything: Any = Field(None, description="Whatever it is.")
    either: str | int = Field(5, description="One or the other.")
    pairs: list[list[int]] = Field(default_factory=list[list[int]], description="Lists in a list.")


class OddResult(Result):
    done: bool


@tool("odd")
async def odd(request: OddRequest) -> OddResult:
    """Take odd things."""
    return OddResult(done=True)


def parsed(*words: str) -> dict[str, Any]:
    command = click.Command("odd", params=tool_parameters(odd))
    return command.make_context("odd", list(words)).params


def test_only_a_single_required_text_has_a_shorthand():
    assert [shorthand(each) for each in (keep_note, keep_many, find_notes, erase_note, count_slowly)] == [
        "content",
        None,
        "query",
        None,
        None,
    ]


def test_a_field_with_a_reserved_name_is_left_to_the_request():
    names = [parameter.note.name for parameter in tool_parameters(odd) if isinstance(parameter, FieldOption)]
    assert names == ["anything", "either", "pairs"]


@pytest.mark.parametrize(("typed", "value"), [("[1, 2]", [1, 2]), ("no json", "no json"), ("5", 5)])
def test_a_field_of_any_type_accepts_json_or_text(typed: str, value: object):
    assert parsed("--anything", typed)["anything"] == value


def test_a_text_field_gets_text():
    assert parsed("--either", "5")["either"] == "5"


def test_lists_in_lists_are_json():
    assert parsed("--pairs", "[1, 2]", "--pairs", "[3]")["pairs"] == ([1, 2], [3])


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        ({"content": "it's tea"}, """scrubjay notes keep-note 'it'"'"'s tea'"""),
        ({"content": "x", "pinned": True}, "scrubjay notes keep-note x --pinned"),
        ({"content": "x", "pinned": False}, "scrubjay notes keep-note x --no-pinned"),
        ({"tags": ["a", "b c"], "content": "x"}, "scrubjay notes keep-note x --tags a --tags 'b c'"),
        (
            {"metadata": {"a": 1}, "importance": 0.5},
            """scrubjay notes keep-note --metadata '{"a": 1}' --importance 0.5""",
        ),
    ],
)
def test_command_lines_are_quoted_and_use_the_positional_argument(arguments: dict[str, Any], typed: str):
    assert command_line(keep_note, arguments) == typed
