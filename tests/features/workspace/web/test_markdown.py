"""Conversion of HTML to Markdown. Numbers are rows of the feature table."""

import anyio
import pytest

from scrubjay.core.errors import ScrubjayError, TooLarge
from scrubjay.features.workspace.web.markdown import to_markdown
from scrubjay.features.workspace.web.page_converter import convert_page


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h1>One</h1><h6>Six</h6>", "# One\n\n###### Six"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<p>a<p>b", "a\n\nb"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("a<br>b", "a  \nb"),
        ("a<hr/>b", "a\n\n---\n\nb"),
        ("<b>bold</b> <i>it</i> <strong> x </strong>y", "**bold** *it* **x** y"),
        ("<code>a  b</code> <code>x`y</code>", "`a b` `` x`y ``"),
        ("<pre>a\n  b\n\n\nc</pre>", "```\na\n  b\n\n\nc\n```"),
        ('<pre><code class="language-py">x &lt; 1</code></pre>', "```py\nx < 1\n```"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol><li>a<li>b<ul><li>c</ul></ol>", "1. a\n2. b\n   - c"),
        ('<ol start="9"><li>a<li>b</ol>', "9. a\n10. b"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"),
        ("<table><tr><th>A<th>B<tr><td>1<td>a|b</table>", "| A | B |\n| --- | --- |\n| 1 | a\\|b |"),
        ("<table><tr><td>only<tr><td>layout</table>", "only\n\nlayout"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ('<a href="/x">y</a>', "[y](https://e.com/x)"),
        ('<a href="sub?q=1">y</a>', "[y](https://e.com/a/sub?q=1)"),
        ('<a href="#part">y</a>', "y"),
        ('<a href="JavaScript:x()">y</a>', "y"),
        ('<a href="/a b(c)">y</a>', "[y](https://e.com/a%20b%28c%29)"),
        ('<img src="i.png" alt="a  b">', "![a b](https://e.com/a/i.png)"),
        ('<img src="data:image/png;base64,x">', ""),
        ("<nav>n</nav><header>h</header>x<footer>f</footer><aside>s</aside>", "x"),
        ("<script>if (a < b) {}</script><style>p{}</style><noscript>n</noscript><svg><text>t</text></svg>x", "x"),
        ("<iframe>i</iframe><template>t</template>x", "x"),
        ("<nav><nav>a</nav>b</nav>c", "c"),
        ("<title>T</title><p>x</p>", "# T\n\nx"),
        ("<title>T</title><h1>H</h1>", "# H"),
        ("a &amp; b &lt;c&gt; &#252;", "a & b <c> ü"),
        ("plain text", "plain text"),
        ("  ", ""),
        ("<p>  a \n b  </p>", "a b"),
        ("</p></div>x</b>", "x"),
        ("<b>x", "**x**"),
        ("<dl><dt>t<dd>d</dl>", "t\n\nd"),
        ("x<!-- hidden -->y", "xy"),
    ],
)
def test_31_html_is_converted_to_markdown(html: str, markdown: str) -> None:
    assert to_markdown(html, "https://e.com/a/b") == markdown


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 20_000,
        "<ul><li>" * 20_000 + "x",
        "<table><tr><td>" * 5_000,
        "<b>" * 20_000,
        "<a href=x>" * 20_000 + "t",
    ],
)
def test_31_very_deep_nesting_is_converted(html: str) -> None:
    to_markdown(html)


async def test_31_a_conversion_that_takes_too_long_is_stopped() -> None:
    with anyio.fail_after(30), pytest.raises(ScrubjayError, match="takes too long"):
        await convert_page("<!--" * 200_000, max_characters=10_000_000, seconds=2.0)


async def test_31_a_large_page_is_converted_in_a_child_process() -> None:
    text = await convert_page("<p>word</p>" * 2_000, max_characters=1_000_000)
    assert text.split("\n\n") == ["word"] * 2_000
    with pytest.raises(TooLarge):
        await convert_page("x" * 100, max_characters=99)
