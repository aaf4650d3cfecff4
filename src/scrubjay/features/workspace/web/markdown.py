"""Convert HTML to Markdown without navigation and scripts; depth and size of the result are limited."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

# Elements whose content is not part of the text of a page.
_BOILERPLATE = frozenset(
    {"script", "style", "nav", "footer", "svg", "header", "aside", "iframe", "noscript", "template"}
)
_EMBEDDED = frozenset({"head", "object", "embed", "canvas", "audio", "video", "select", "textarea", "button", "math"})
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_BLOCKS = frozenset(
    {"address", "article", "body", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure"}
    | {"form", "hgroup", "html", "main", "p", "section", "summary", "center", "caption"}
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
# Open elements that a new element ends implicitly, as in HTML without end tags,
_IMPLIED_ENDS = {
    "li": {"li"},
    "p": {"p"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "tr": {"tr", "td", "th"},
    "td": {"td", "th"},
    "th": {"td", "th"},
    "option": {"option"},
}
# unless one of these elements is between them.
_SCOPING = frozenset({"ul", "ol", "table", "dl", "blockquote", "div", "section", "article", "body"})
MAX_DEPTH = 200
MAX_CELLS = 20_000
_SPACES = re.compile(r"[ \t\n\r\f\v]+")
_RUNS = re.compile(r" {2,}")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,30})")
_UNSAFE = re.compile(r"^\s*(?:javascript|vbscript|data)\s*:", re.IGNORECASE)


@dataclass(slots=True)
class _OpenElement:
    """An open element and its Markdown so far."""

    tag: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list[str])
    items: int = 0
    """Number of items of a list so far."""
    rows: list[list[str]] = field(default_factory=list[list[str]])
    """Cells of a table so far."""


class _Converter(HTMLParser):
    def __init__(self, base_url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base_url = base_url
        self._open = [_OpenElement("", {})]
        self._dropping: list[str] = []
        """The open elements that are dropped, outermost first."""
        self._pre = 0
        self._cells = 0
        self.title = ""
        self._in_title = False

    # -- callbacks of the parser -----------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and self._dropping in ([], ["head"]):
            self._in_title = True
        if self._dropping:
            if tag == "body" and self._dropping == ["head"]:
                self._dropping = []
            else:
                if tag in _BOILERPLATE | _EMBEDDED and tag not in _VOID and len(self._dropping) < MAX_DEPTH:
                    self._dropping.append(tag)
                return
        if tag in _BOILERPLATE | _EMBEDDED:
            if tag not in _VOID:
                self._dropping.append(tag)
            return
        attributes = {name: value or "" for name, value in attrs}
        if tag in _VOID:
            self._add_void(tag, attributes)
            return
        self._end_open(tag)
        if len(self._open) >= MAX_DEPTH:
            return  # the content is added to the parent element
        if tag == "pre":
            self._pre += 1
        self._open.append(_OpenElement(tag, attributes))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # HTML ignores the slash of a self-closing tag.
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._dropping:
            if tag in self._dropping:
                while self._dropping.pop() != tag:
                    pass
            return
        if tag == "br":
            self._add("  \n")
        elif any(node.tag == tag for node in self._open[1:]):
            while self._close() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = (self.title + data)[:300]
        elif not self._dropping:
            self._add(data if self._pre else _SPACES.sub(" ", data))

    def text(self) -> str:
        while len(self._open) > 1:
            self._close()
        return _tidy("".join(self._open[0].pieces))

    # -- conversion of elements ------------------------------------------------------------------------

    def _add(self, text: str) -> None:
        self._open[-1].pieces.append(text)

    def _add_void(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "br":
            self._add("\n" if self._pre else "  \n")
        elif tag == "hr":
            self._add("\n\n---\n\n")
        elif tag == "img" and (source := self._link(attributes.get("src", ""))):
            self._add(f"![{_one_line(attributes.get('alt', ''))}]({source})")

    def _end_open(self, tag: str) -> None:
        """End the open elements that a new element ends implicitly."""
        ended = _IMPLIED_ENDS.get(tag)
        if ended is None:
            if (tag in _BLOCKS or tag in _HEADINGS or tag in ("ul", "ol", "table", "pre", "blockquote")) and (
                self._open[-1].tag == "p"
            ):
                self._close()
            return
        for place in range(len(self._open) - 1, 0, -1):
            tag_here = self._open[place].tag
            if tag_here in ended:
                while len(self._open) > place:
                    self._close()
            elif tag_here in _SCOPING:
                return

    def _close(self) -> str:
        node = self._open.pop()
        parent = self._open[-1]
        text = "".join(node.pieces)
        tag = node.tag
        if tag == "pre":
            self._pre -= 1
            parent.pieces.append(_fenced(text, node.attributes))
        elif self._pre:
            if tag == "code" and parent.tag == "pre" and "class" in node.attributes:
                parent.attributes.setdefault("class", node.attributes["class"])
            parent.pieces.append(text)
        elif tag in _HEADINGS:
            if content := _one_line(text):
                parent.pieces.append(f"\n\n{_HEADINGS[tag]} {content}\n\n")
        elif tag == "a":
            parent.pieces.append(self._anchor(text, node.attributes.get("href", "")))
        elif tag in _EMPHASIS:
            parent.pieces.append(_emphasized(text, _EMPHASIS[tag]))
        elif tag in ("code", "kbd", "samp", "tt"):
            parent.pieces.append(_code(text))
        elif tag == "li":
            self._close_item(text)
        elif tag in ("ul", "ol"):
            nested = any(outer.tag == "li" for outer in self._open)
            parent.pieces.append(f"\n{text.strip(chr(10))}\n" if nested else f"\n\n{text.strip(chr(10))}\n\n")
        elif tag == "blockquote":
            quoted = "\n".join(f"> {line}".rstrip() for line in _tidy(text).split("\n"))
            parent.pieces.append(f"\n\n{quoted}\n\n" if quoted != ">" else "")
        elif tag in ("td", "th"):
            self._cells += 1
            if self._cells <= MAX_CELLS:
                self._row().append(_one_line(_tidy(text)).replace("|", "\\|"))
        elif tag == "tr":
            parent.pieces.append(text)
        elif tag == "table":
            parent.pieces.append(f"\n\n{_table(node.rows) or text.strip()}\n\n")
        elif tag in _BLOCKS:
            parent.pieces.append(f"\n\n{text}\n\n")
        else:
            parent.pieces.append(text)
        if tag == "tr" and (table := self._table()) is not None:
            table.rows.append([])
        return tag

    def _close_item(self, text: str) -> None:
        place = next((outer for outer in reversed(self._open) if outer.tag in ("ul", "ol")), None)
        marker = "-"
        if place is not None and place.tag == "ol":
            start = place.attributes.get("start", "1")
            marker = f"{(int(start) if start.isdecimal() and len(start) < 7 else 1) + place.items}."
        if place is not None:
            place.items += 1
        first, *others = _tidy(text).split("\n")
        indent = " " * (len(marker) + 1)
        lines = [f"{marker} {first}", *(f"{indent}{line}".rstrip() for line in others)]
        self._open[-1].pieces.append("\n" + "\n".join(lines).rstrip())

    def _table(self) -> _OpenElement | None:
        return next((node for node in reversed(self._open) if node.tag == "table"), None)

    def _row(self) -> list[str]:
        table = self._table()
        if table is None:
            return self._open[-1].pieces
        if not table.rows:
            table.rows.append([])
        return table.rows[-1]

    def _anchor(self, text: str, href: str) -> str:
        link = self._link(href)
        inside = _SPACES.sub(" ", text)
        content = inside.strip()
        if not link or not content:
            return text
        if "\n\n" in text.strip():  # a link parent whole blocks
            return f"{text}\n\n[{link}]({link})\n\n" if len(content) > 500 else f"[{content}]({link})"
        before, after = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
        return f"{before}[{content}]({link}){after}"

    def _link(self, address: str) -> str:
        """Return an absolute URL; empty for an anchor in the page or a URL that runs code."""
        address = address.strip()
        if not address or address.startswith("#") or _UNSAFE.match(address) or len(address) > 4_096:
            return ""
        try:
            whole = urljoin(self._base_url, address) if self._base_url else address
            urlsplit(whole)
        except ValueError:
            return ""
        return re.sub(r"[\s()<>]", lambda marker: f"%{ord(marker[0]):02X}" if ord(marker[0]) < 128 else "", whole)


def to_markdown(html: str, base_url: str = "") -> str:
    """Return the text of a page as Markdown; relative links are resolved against `base_url`."""
    converter = _Converter(base_url)
    converter.feed(html)
    converter.close()
    text = converter.text()
    if not text and "<" not in html:
        return html.strip()
    title = _one_line(converter.title)
    return f"# {title}\n\n{text}".strip() if title and not text.startswith("# ") else text


def convert_isolated(given: dict[str, Any]) -> Iterator[str]:
    """Yield the result of `to_markdown`; for `run_isolated`."""
    yield to_markdown(given["html"], given["base_url"])


def _tidy(text: str) -> str:
    """Remove redundant spaces and empty lines outside of code blocks."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        stripped = line.strip()
        if fence:
            lines.append(line)
            fence = "" if stripped == fence else fence
            continue
        if stripped.startswith("```"):
            fence = "`" * (len(stripped) - len(stripped.lstrip("`")))
        if not stripped:
            if lines and lines[-1]:
                lines[-1] = lines[-1].rstrip()  # a line break before an empty line is redundant
                lines.append("")
            continue
        # Two or more leading spaces are the indentation of a list; two trailing spaces are a line break.
        indent = line[: len(line) - len(line.lstrip(" "))] if line.startswith("  ") else ""
        lines.append(indent + _RUNS.sub(" ", stripped) + ("  " if line.endswith("  ") else ""))
    return "\n".join(lines).strip("\n").rstrip()


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _emphasized(text: str, mark: str) -> str:
    content = text.strip()
    if not content or "\n\n" in content:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{content}{mark}{after}"


def _code(text: str) -> str:
    content = _SPACES.sub(" ", text)
    if not content.strip():
        return text
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * (longest + 1) if longest else "`"
    space = " " if longest else ""
    return f"{fence}{space}{content.strip()}{space}{fence}"


def _fenced(text: str, attributes: dict[str, str]) -> str:
    if not text.strip():
        return ""
    language = _LANGUAGE.search(attributes.get("class", ""))
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"\n\n{fence}{language[1] if language else ''}\n{text.strip(chr(10)).rstrip()}\n{fence}\n\n"


def _table(rows: list[list[str]]) -> str:
    filled = [row for row in rows if any(row)]
    if not filled:
        return ""
    width = max(map(len, filled))
    if width == 1:  # a table for the layout only
        return "\n\n".join(row[0] for row in filled)
    head, *body = (row + [""] * (width - len(row)) for row in filled)
    lines = [head, ["---"] * width, *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)
