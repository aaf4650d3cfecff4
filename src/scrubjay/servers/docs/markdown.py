"""Markdown building blocks of the reference pages."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

GENERATED = "<!-- Generated from the code. Change the declarations, not this page. -->"


def page(title: str, parts: Iterable[str]) -> str:
    return "\n\n".join([GENERATED, f"# {title}", *(part for part in parts if part)]) + "\n"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)


def code(text: object) -> str:
    """Return the text as inline code."""
    return f"`{text}`"


def block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def value(data: Any) -> str:
    """Return the value as inline JSON; an empty string for None."""
    return "" if data is None else code(json.dumps(data, ensure_ascii=False))


def prose(text: str) -> str:
    """Return plain text with `<` escaped."""
    return text.replace("<", "\\<")


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split("\n"))
