"""Facts of JSON files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS = """
{
  "name": "x",
  "scripts": { "build": "tsc", "nested": {"a": 1} },
  "deps": ["a", {"b": 1}]
}
""".removeprefix("\n")

THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS_FACTS = """
json 5
0 section name 2-2@2 4:15 in -1
    "name": "x"
1 section scripts 3-3@3 19:68 in -1
    "scripts": { "build": "tsc", "nested": {"a": 1} }
2 section build 3-3@3 32:46 in 1
    "build": "tsc"
3 section nested 3-3@3 48:66 in 1
    "nested": {"a": 1}
4 section deps 4-4@4 72:95 in -1
    "deps": ["a", {"b": 1}]
""".strip("\n")


def test_the_keys_of_two_levels_are_sections():
    assert (
        as_text(read_facts(THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS.encode(), Language.JSON))
        == THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS_FACTS
    )
