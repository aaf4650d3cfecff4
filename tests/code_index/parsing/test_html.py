"""Facts of HTML files."""

from scrubjay.code_index.models import Language
from scrubjay.code_index.parsing.reader import read_facts
from tests.code_index.parsing.facts_as_text import as_text

IDS_HEADINGS_AND_REFERENCED_FILES = """
<!DOCTYPE html>
<html><head><title>My page</title><link rel="stylesheet" href="a.css"><script src="a.js"></script>
<script>function f() { g(); }</script><style>.a { color: red }</style></head>
<body><div id="main"><h1>Title <b>x</b></h1><p>t</p><h2 id="s">Sub</h2><img src="x.png"></div>
<section id=app>text</section><br><a name="n" href="b.html">x</a></body></html>
""".removeprefix("\n")

IDS_HEADINGS_AND_REFERENCED_FILES_FACTS = """
html 5 My page
0 section main 4-4@4 199:287 in -1
    <div id="main">
1 section Title x 4-4@4 214:237 in 0
    <h1> Title x
2 section s 4-4@4 245:264 in 0
    <h2> Sub
3 section app 5-5@5 288:318 in -1
    <section id=app>
import from a.css @2
import from a.js @2
""".strip("\n")


def test_ids_headings_and_referenced_files():
    assert (
        as_text(read_facts(IDS_HEADINGS_AND_REFERENCED_FILES.encode(), Language.HTML))
        == IDS_HEADINGS_AND_REFERENCED_FILES_FACTS
    )
