"""JSON with comments is changed in place and comes back as it was."""

import pytest

from scrubjay.app.install import jsonc

TEXTS = [
    "{}\n",
    '{"a": 1}',
    '{\n  "a": 1\n}\n',
    '{\n\t"a": 1, // one\n\t"servers": {\n\t\t"x": {"y": [1, 2]}\n\t}\n}\n',
    '{\n  // mine\n  "a": "//no", /* x */\n  "servers": {\n    "x": {"c": "x"}, // keep\n  },\n}\n',
    '{\n    "servers": {\n        "x": 1 // last\n    }\n}',
    '{"servers": {}}',
    '\ufeff{"servers": {"a": 1}}',
]


@pytest.mark.parametrize("text", TEXTS)
def test_128_what_is_put_in_is_there_and_taken_out_leaves_the_text_as_it_was(text: str) -> None:
    had = "servers" in jsonc.parse(text)
    with_ours = jsonc.put(text, ("servers", "ours"), {"command": "r", "args": ["mcp"]})
    expected = jsonc.parse(text)
    expected.setdefault("servers", {})["ours"] = {"command": "r", "args": ["mcp"]}
    assert jsonc.parse(with_ours) == expected
    assert jsonc.put(with_ours, ("servers", "ours"), {"command": "r", "args": ["mcp"]}) == with_ours
    without = jsonc.remove(with_ours, ("servers", "ours"))
    if not had:
        without = jsonc.remove(without, ("servers",))
    assert jsonc.parse(without) == jsonc.parse(text)
    if jsonc.parse(text).get("servers") or (had is False and "\n" in text and jsonc.parse(text)):
        assert "".join(without.split()) == "".join(text.split())  # white space aside, every character
    for remark in ("// mine", "/* x */", "// keep", "// one", "// last"):
        assert (remark in with_ours) == (remark in text) == (remark in without)


def test_128_entries_of_lists_come_and_go() -> None:
    text = '{\n  "hooks": {\n    "Stop": [\n      {"a": 1}\n    ]\n  }\n}\n'
    longer = jsonc.append(text, ("hooks", "Stop"), {"b": 2})
    assert jsonc.parse(longer) == {"hooks": {"Stop": [{"a": 1}, {"b": 2}]}}
    assert jsonc.remove(longer, ("hooks", "Stop"), 1) == text
    assert jsonc.parse(jsonc.remove(longer, ("hooks", "Stop"), 0)) == {"hooks": {"Stop": [{"b": 2}]}}


@pytest.mark.parametrize(
    "text", ["", "{", "[1", '{"a" 1}', '{"a": 1} x', '{"a": 1 "b": 2}', '{"a": 1, "a": 2}', "[" * 999]
)
def test_128_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        jsonc.parse(text)
