"""Facts of CSS files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

SELECTORS_RULES_AND_VARIABLES = """
/* Doc */
@import url("base.css");
@import "x.css";
:root { --main: red; }
.a > b, #id:hover { color: var(--main); }
@media (max-width: 3px) { .b { color: red } }
@keyframes spin { from { a: b } to { c: d } }
@font-face { font-family: x }
.c { .nested & { color: red } }
""".removeprefix("\n")

SELECTORS_RULES_AND_VARIABLES_FACTS = """
css 9 Doc
0 section :root 4-4@4 52:74 in -1
    :root
1 variable --main 4-4@4 60:72 in 0
    --main: red
2 section .a > b, #id:hover 5-5@5 75:116 in -1
    .a > b, #id:hover
3 section @media (max-width: 3px) 6-6@6 117:162 in -1
    @media (max-width: 3px)
4 section .b 6-6@6 143:160 in 3
    .b
5 section @keyframes spin 7-7@7 163:208 in -1
    @keyframes spin
6 section @font-face 8-8@8 209:238 in -1
    @font-face
7 section .c 9-9@9 239:270 in -1
    .c
8 section .nested & 9-9@9 244:268 in 7
    .nested &
import * from base.css @2
import * from x.css @3
read --main @5:106 in 2
problem 9 this cannot be read
""".strip("\n")


def test_selectors_rules_and_variables():
    assert (
        as_text(read_facts(SELECTORS_RULES_AND_VARIABLES.encode(), Language.CSS)) == SELECTORS_RULES_AND_VARIABLES_FACTS
    )
