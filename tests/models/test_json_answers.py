"""JSON in answers of language models is parsed and repaired, never invented."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.models.json_answers import MAX_DEPTH, read_object

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
SCALAR = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9, allow_nan=False) | TEXT
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))
OBJECT = st.dictionaries(TEXT, VALUE, max_size=5)
# Text that may surround the JSON object of an answer.
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="{}\x00<"), max_size=40)
# Realistic names and texts: repairs based on the character after a quote fail on arbitrary quotes and commas.
PLAIN = st.text("abcdefgh -.0123456789äß/", min_size=1, max_size=12)
PLAIN_OBJECT = st.dictionaries(
    PLAIN, SCALAR.filter(lambda value: not isinstance(value, str)) | PLAIN | st.lists(PLAIN, max_size=3), max_size=5
)


@given(OBJECT)
def test_valid_json_is_parsed_unchanged(expected: dict[str, Any]) -> None:
    assert read_object(json.dumps(expected)) == expected
    assert read_object(json.dumps(expected, indent=2, ensure_ascii=False)) == expected


@given(OBJECT, WORDS, WORDS, st.sampled_from(["{}", "```json\n{}\n```", "<think>Is it {{1}}?</think>\n{}"]))
def test_text_code_fences_and_thinking_around_the_json_are_ignored(
    expected: dict[str, Any], before: str, after: str, form: str
) -> None:
    assert read_object(before + form.replace("{}", json.dumps(expected)) + after) == expected


@given(PLAIN_OBJECT)
def test_superfluous_commas_are_ignored(expected: dict[str, Any]) -> None:
    broken = json.dumps(expected).replace("]", ",]")[:-1] + ",}"
    assert read_object(broken) == expected


@given(PLAIN_OBJECT)
def test_single_quotes_and_python_literals_are_accepted(expected: dict[str, Any]) -> None:
    assert read_object(repr(expected)) == expected


@given(PLAIN_OBJECT, st.data())
def test_a_truncated_answer_loses_only_its_end(expected: dict[str, Any], data: st.DataObject) -> None:
    whole = json.dumps(expected, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(whole)))
    found = read_object(whole[:cut])
    assert found is not None
    names = list(found)
    assert names == list(expected)[: len(names)]
    for name in names[:-1]:
        assert found[name] == expected[name]
    for name in names[-1:]:
        assert is_beginning(found[name], expected[name])


def is_beginning(found: Any, whole: Any) -> bool:
    if isinstance(found, str) and isinstance(whole, str):
        return whole.startswith(found)
    if isinstance(found, list) and isinstance(whole, list):
        entries: list[Any] = found  # pyright: ignore[reportUnknownVariableType]
        return len(entries) <= len(whole) and all(map(is_beginning, entries, whole))  # pyright: ignore[reportUnknownArgumentType]
    return found == whole


@settings(max_examples=400)
@given(st.text(st.sampled_from("{}[]\"':,\\u/*0129.e-truefalsnb \n`\u201c\u201d\ud800"), max_size=60) | st.text())
def test_any_text_is_parsed_without_error_and_the_result_is_serializable(text: str) -> None:
    found = read_object(text)
    assert found is None or isinstance(found, dict)
    written = json.dumps(found, ensure_ascii=False, allow_nan=False)
    assert "\x00" not in written
    written.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("I cannot answer that.", None),
        ("[1, 2]", None),
        ("{", {}),
        ('use {x} like this: {"title": "A"}', {"title": "A"}),
        ('{"a": "He said "yes", then left.", "b": 2}', {"a": 'He said "yes", then left.', "b": 2}),
        ('{"a": ["the "old" one", "b"]}', {"a": ['the "old" one', "b"]}),
        ("{'a': 'it's so', 'b': None}", {"a": "it's so", "b": None}),
        ('{"a": "x"\n "b": "y"}', {"a": "x", "b": "y"}),
        ('{"a": ["x"\n"y"]}', {"a": ["x", "y"]}),
        ('{"a": "two\nlines", "b": "\\_"}', {"a": "two\nlines", "b": "_"}),
        ("{a: 1, // one\n b: bugfix, /* two */ c: [x, 2]}", {"a": 1, "b": "bugfix", "c": ["x", 2]}),
        ("{\u201ca\u201d: \u201cquoted\u201d}", {"a": "quoted"}),
        ('{"a": {"b": 1}, "c": "cut o', {"a": {"b": 1}, "c": "cut o"}),
        ('{"quality": 8', {}),
        ('{"ok": tru', {}),
        ('{"a": 1, "b', {"a": 1}),
        ('{"a": 1, "b":', {"a": 1}),
        ('```json\n{"a": "cut o\n```', {"a": "cut o"}),
        ('{"a": NaN, "b": 1e999, "c": -Infinity}', {"a": None, "b": None, "c": None}),
        ('{"a": NaN, "b": 1e999,}', {"a": None, "b": None}),
        ('{"a": ' + "9" * 5000 + "}", {"a": None}),
        ('{"a": "\\ud83d\\ude00 \\ud800 \\u0000."}', {"a": "\U0001f600 \ufffd ."}),
        ('{"a": "\\ud83d\\ude00",}', {"a": "\U0001f600"}),
        ('{"a" , "b": 3}', {"b": 3}),
        ('{"u": http://x.example/y, "b": 1}', {"u": "http://x.example/y", "b": 1}),
    ],
)
def test_real_answers_of_models_are_parsed(text: str, expected: dict[str, Any] | None) -> None:
    assert read_object(text) == expected


def test_very_deep_nesting_is_no_answer() -> None:
    found = read_object('{"a":' * 100_000)
    depth = 0
    while found:
        found = found["a"]
        depth += 1
    assert depth <= MAX_DEPTH
    assert read_object("[{" * 100_000) == {}
