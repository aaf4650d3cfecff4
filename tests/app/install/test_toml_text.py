"""Adding and removing a table of a TOML file leaves the surrounding text unchanged."""

import tomllib
from itertools import permutations
from typing import Any

from scrubjay.app.install.toml_text import put_table, remove_table

PATH = ("mcp_servers", "scrubjay")
VALUES: dict[str, Any] = {"command": "/x", "args": ["mcp"], "env": {"SCRUBJAY_HOME": "/h", "a b": "c"}}
PIECES = [
    'model = "o3"\n',
    "# a remark\n",
    '[projects."/home/me/[slug]"] # mine\ntrust_level = "trusted"\n',
    '[projects."/a#b.c"]\nx = 1\n',
    "[[things]]\na = 1\n",
    '[mcp_servers.other]\nargs = [\n  "[mcp_servers.scrubjay]",\n]\n',
    'text = """\n[mcp_servers.scrubjay]\n\\""" hi\n"""\n',
    "raw = '''\n[mcp_servers.scrubjay]\n'''\n",
    '[ tui . "x y" ]  # note\n y = [\n [1, 2]\n]\n',
    "[mcp_servers.'scrubjay-x']\ncommand='y'\n",
    "[mcp_servers]\n",
    "\n\n",
]
APPENDED = ["", '[projects."/home/[x]"]\ntrust_level = "trusted"\n', "\n# mine\n[later]\nq = 1\n"]


def parse(text: str) -> dict[str, Any]:
    return {name: value for name, value in tomllib.loads(text).items() if value != {}}


def test_128_adding_and_removing_a_table_leaves_all_other_text_unchanged() -> None:
    count = 0
    for pieces in (pieces for length in (1, 2, 3) for pieces in permutations(PIECES, length)):
        text = "".join(pieces)
        try:
            expected = parse(text)
        except tomllib.TOMLDecodeError:
            continue
        count += 1
        installed = put_table(text, PATH, VALUES)
        servers = {**expected.get("mcp_servers", {}), "scrubjay": VALUES}
        assert parse(installed) == {**expected, "mcp_servers": servers}
        assert put_table(installed, PATH, VALUES) == installed
        assert remove_table(installed, PATH) == text
        for appended in APPENDED:
            assert parse(remove_table(installed + appended, PATH)) == parse(text + appended)
            changed = put_table(installed + appended, PATH, {"command": "/y"})
            assert parse(remove_table(changed, PATH)) == parse(text + appended)
    assert count > 500


def test_128_comments_before_the_next_table_stay() -> None:
    """tomlkit assigns them to the previous table and would remove them with it."""
    text = put_table('model = "o3"\n', PATH, VALUES) + "\n# mine\n[later]\nq = 1\n"
    assert remove_table(text, PATH) == 'model = "o3"\n\n# mine\n[later]\nq = 1\n'
    assert "\n# mine\n[later]\n" in put_table(text, PATH, {"command": "/y"})
