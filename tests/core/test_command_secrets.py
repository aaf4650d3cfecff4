"""Secrets in commands are masked, and no word of an ordinary command is."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.command_secrets import masked_arguments, masked_command
from scrubjay.core.secrets import masked, redacted
from scrubjay.features.hooks.context_text import redact_call
from scrubjay.features.hooks.models import HookCall, HookEvent
from tests.core.secret_cases import (
    COMMANDS,
    NOT_SECRET_COMMANDS,
    NOT_SECRET_TEXTS,
    TEXTS,
    gaps_of_masked,
    with_gaps,
    without_marks,
)


def test_the_tables_are_large() -> None:
    assert len({*COMMANDS, *TEXTS}) >= 100
    assert len({*NOT_SECRET_COMMANDS, *NOT_SECRET_TEXTS}) >= 100


@pytest.mark.parametrize("command", COMMANDS)
def test_a_secret_in_a_command_is_masked(command: str) -> None:
    assert gaps_of_masked(masked_command(without_marks(command))) == with_gaps(command)


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_in_any_text_is_masked(text: str) -> None:
    assert gaps_of_masked(masked(without_marks(text))) == with_gaps(text)


@pytest.mark.parametrize("command", NOT_SECRET_COMMANDS)
def test_a_command_without_secrets_is_left_alone(command: str) -> None:
    assert masked_command(command) == command
    assert masked(command) == command


@pytest.mark.parametrize("text", NOT_SECRET_TEXTS)
def test_a_text_without_secrets_is_left_alone(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("command", [*COMMANDS, *NOT_SECRET_COMMANDS])
def test_masking_a_command_again_changes_nothing(command: str) -> None:
    once = masked_command(without_marks(command))
    assert masked_command(once) == once


@given(st.lists(st.sampled_from([*map(without_marks, COMMANDS), *"'\"\\|;&\n $`", "$(", "-p", "[secret: password]"])))
def test_masking_mixed_commands_is_idempotent(pieces: list[str]) -> None:
    once = masked_command(" ".join(pieces))
    assert masked_command(once) == once


@given(st.text())
def test_any_text_can_be_masked_as_a_command(text: str) -> None:
    assert "«" in text or masked_command(masked_command(text)) == masked_command(text)


def test_commands_in_structured_data_are_masked() -> None:
    assert redacted({"command": "mysql -u root -pblue42horse", "description": "mysql -u root -pblue42horse"}) == {
        "command": "mysql -u root -p[secret: password]",
        "description": "mysql -u root -pblue42horse",
    }
    assert redacted({"cmd": ["bash", "-lc", "sshpass -p x ssh host"]}) == {
        "cmd": ["bash", "-lc", "sshpass -p [secret: password] ssh host"]
    }
    assert redacted({"tool_input": {"script": "export DB_PASS=tulip"}}) == {
        "tool_input": {"script": "export DB_PASS=[secret: password]"}
    }
    assert redacted({"command": {"nested": ["mysql", "-ptulip"]}}) == {"command": {"nested": ["mysql", "-ptulip"]}}


def test_the_password_of_a_name_in_structured_data_is_masked() -> None:
    assert redacted({"db_pass": "tulip", "SMTP_PASS": 4711, "pass": "blue42horse", "compass": "north42x"}) == {
        "db_pass": "[secret: password]",
        "SMTP_PASS": "[secret: password]",
        "pass": "[secret: password]",
        "compass": "north42x",
    }
    assert redacted({"pass": 120, "fail": 3, "max_pass": 4}) == {"pass": 120, "fail": 3, "max_pass": 4}


def test_a_hook_records_commands_without_passwords() -> None:
    command = "mysql -u root -pblue42horse; export DB_PASS=green77cow; curl -u admin:blue42horse https://example.com"
    call = redact_call(HookCall(event=HookEvent.POST_TOOL_USE, tool_name="Bash", tool_input={"command": command}))
    assert dict(call.tool_input) == {
        "command": "mysql -u root -p[secret: password]; export DB_PASS=[secret: password]; "
        "curl -u admin:[secret: password] https://example.com"
    }


def test_arguments_are_masked_one_by_one() -> None:
    assert masked_arguments(["mysql", "-u", "root", "-pblue horse"]) == ["mysql", "-u", "root", "-p[secret: password]"]
    assert masked_arguments(["sh", "-c", "curl -u a:b https://example.com"]) == [
        "sh",
        "-c",
        "curl -u a:[secret: password] https://example.com",
    ]
    assert masked_arguments(["ssh", "-p", "22", "host"]) == ["ssh", "-p", "22", "host"]


@pytest.mark.parametrize(
    "piece", ["mysql -p", "'", '"', "$(", "`", "\\", "a=b ", "export PASS=x; ", "bash -c '", "--password ", "| ", "<<<"]
)
def test_no_command_takes_long_to_mask(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    before = time.process_time()
    masked_command(text)
    assert time.process_time() - before < 5  # quadratic time would take minutes


def test_json_of_a_command_stays_json() -> None:
    given_json = json.dumps({"command": 'mysql -p"a b" -e \'select "x"\''})
    assert json.loads(json.dumps(redacted(json.loads(given_json)))) == {
        "command": 'mysql -p"[secret: password]" -e \'select "x"\''
    }
