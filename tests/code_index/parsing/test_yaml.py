"""Facts of YAML files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS = """
# Doc
name: CI
on:
  push:
    branches: [main]
jobs:
  build:
    runs-on: x
    steps:
      - uses: a
"quoted": 1
---
kind: Deployment
metadata: {name: a}
""".removeprefix("\n")

THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS_FACTS = """
yaml 14 Doc
0 section name 1-2@2 0:14 in -1
    name: CI
    says Doc
1 section on 3-5@3 15:47 in -1
    on: push: branches: [main]
2 section push 4-5@4 21:47 in 1
    push: branches: [main]
3 section jobs 6-10@6 48:104 in -1
    jobs: build: runs-on: x steps: - uses: a
4 section build 7-10@7 56:104 in 3
    build: runs-on: x steps: - uses: a
5 section quoted 11-11@11 105:116 in -1
    "quoted": 1
6 section kind 13-13@13 121:137 in -1
    kind: Deployment
7 section metadata 14-14@14 138:157 in -1
    metadata: {name: a}
8 section name 14-14@14 149:156 in 7
    name: a
""".strip("\n")


def test_the_keys_of_two_levels_are_sections():
    assert (
        as_text(read_facts(THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS.encode(), Language.YAML))
        == THE_KEYS_OF_TWO_LEVELS_ARE_SECTIONS_FACTS
    )
