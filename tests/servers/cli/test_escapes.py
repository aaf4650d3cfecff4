import json

import pytest

from scrubjay.servers.cli.escapes import one_line, visible, visible_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain naïve 漢字 ⚑ 👩‍🚀", "plain naïve 漢字 ⚑ 👩‍🚀"),
        ("line\nbreak\tand tab", "line\nbreak\tand tab"),
        ("dos\r\nline", "dos\nline"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\x1b]0;title\x07\x1b[31m", "\\x1b]0;title\\x07\\x1b[31m"),
        ("\x9b2J\x7f\x00", "\\x9b2J\\x7f\\x00"),
        ("\u202egnp.exe\u2066\u200f", "\\u202egnp.exe\\u2066\\u200f"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str):
    assert visible(text) == shown


def test_escaping_json_keeps_its_data():
    data = {"a": "\x1b[31m \x9b \u202e \x7f naïve ⚑ \n"}
    document = visible_json(json.dumps(data, ensure_ascii=False))
    assert document == '{"a": "\\u001b[31m \\u009b \\u202e \\u007f naïve ⚑ \\n"}'
    assert json.loads(document) == data


def test_one_line_escapes_breaks_and_tabs():
    assert one_line("a\nb\tc") == "a\\nb\\tc"
