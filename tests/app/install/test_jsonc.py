"""JSON with comments is edited in place and can be restored."""

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
def test_128_removing_a_value_restores_the_text_from_before_it_was_put(text: str) -> None:
    had_servers = "servers" in jsonc.parse(text)
    installed = jsonc.put(text, ("servers", "ours"), {"command": "r", "args": ["mcp"]})
    expected = jsonc.parse(text)
    expected.setdefault("servers", {})["ours"] = {"command": "r", "args": ["mcp"]}
    assert jsonc.parse(installed) == expected
    assert jsonc.put(installed, ("servers", "ours"), {"command": "r", "args": ["mcp"]}) == installed
    restored = jsonc.remove(installed, ("servers", "ours"))
    if not had_servers:
        restored = jsonc.remove(restored, ("servers",))
    assert jsonc.parse(restored) == jsonc.parse(text)
    if jsonc.parse(text).get("servers") or (had_servers is False and "\n" in text and jsonc.parse(text)):
        assert "".join(restored.split()) == "".join(text.split())  # identical except for white space
    for remark in ("// mine", "/* x */", "// keep", "// one", "// last"):
        assert (remark in installed) == (remark in text) == (remark in restored)


def test_128_list_entries_can_be_appended_and_removed() -> None:
    text = '{\n  "hooks": {\n    "Stop": [\n      {"a": 1}\n    ]\n  }\n}\n'
    longer = jsonc.append(text, ("hooks", "Stop"), {"b": 2})
    assert jsonc.parse(longer) == {"hooks": {"Stop": [{"a": 1}, {"b": 2}]}}
    assert jsonc.remove(longer, ("hooks", "Stop"), 1) == text
    assert jsonc.parse(jsonc.remove(longer, ("hooks", "Stop"), 0)) == {"hooks": {"Stop": [{"b": 2}]}}


@pytest.mark.parametrize(
    "text", ["", "{", "[1", '{"a" 1}', '{"a": 1} x', '{"a": 1 "b": 2}', '{"a": 1, "a": 2}', "[" * 999]
)
def test_128_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        jsonc.parse(text)
