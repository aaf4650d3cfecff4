"""Facts of Markdown files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

HEADINGS_ARE_NESTED_SECTIONS = """
---
title: x
---
# Title

Intro text.

## Part *one*

text

```python
# not a heading
def f(): pass
```

### Deep

Setext
======

para

Sub
---

- item
  # Heading in list?
""".removeprefix("\n")

HEADINGS_ARE_NESTED_SECTIONS_FACTS = """
markdown 28 Intro text.
0 section Title 4-17@4 17:113 in -1
    # Title
1 section Part one 8-17@8 39:113 in 0
    ## Part one
2 section ```python 12-15@12 60:104 in 1 hidden
    python
3 section Deep 17-17@17 105:114 in 1
    ### Deep
4 section Setext 19-28@19 115:172 in -1
    # Setext
5 section Sub 24-28@24 136:172 in 4
    ## Sub
""".strip("\n")


def test_headings_are_nested_sections():
    assert (
        as_text(read_facts(HEADINGS_ARE_NESTED_SECTIONS.encode(), Language.MARKDOWN))
        == HEADINGS_ARE_NESTED_SECTIONS_FACTS
    )
