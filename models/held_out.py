"""Held-out packages, never trained on: evaluation sets, the repositories of the benchmarks, and related packages."""

import re
from dataclasses import dataclass
from typing import Literal

from models.pairs import DeclarationKind

Source = Literal["pypi", "npm", "debian"]
_FUNCTIONS: frozenset[DeclarationKind] = frozenset({"function"})


@dataclass(frozen=True, slots=True)
class CodeSet:
    """Held-out packages of one language. The question is a summary, the answer is the code it describes."""

    language: str
    source: Source
    packages: tuple[str, ...]
    questions_per_package: int = 250
    kinds: frozenset[DeclarationKind] = frozenset({"function", "type"})


TEST_SETS = {
    "Python": CodeSet(
        "py",
        "pypi",
        (
            "requests==2.34.2",
            "flask==3.1.3",
            "click==8.5.1",
            "networkx==3.6.1",
            "httpx==0.28.1",
            "rich==15.0.0",
            "scrapy==2.19.0",
        ),
        kinds=_FUNCTIONS,
    ),
    "JavaScript": CodeSet("js", "npm", ("luxon@3.7.2", "mathjs@15.2.0")),
    "TypeScript": CodeSet("ts", "npm", ("pdf-lib@1.17.1", "livekit-client@2.23.0")),
    "Go": CodeSet("go", "debian", ("golang-github-spf13-cobra-dev", "golang-github-gin-gonic-gin-dev")),
    "Rust": CodeSet("rs", "debian", ("librust-petgraph-dev", "librust-hyper-dev")),
}
# Choices (checkpoints, weights) are made on these sets, so that the test sets stay unseen.
DEVELOPMENT_SETS = {
    "Python": CodeSet("py", "pypi", ("sqlalchemy==2.1.8",), questions_per_package=600, kinds=_FUNCTIONS),
    "JavaScript": CodeSet("js", "npm", ("nodemailer@10.4.0",)),
    "Go": CodeSet("go", "debian", ("golang-go.uber-zap-dev",)),
    "Rust": CodeSet("rs", "debian", ("librust-itertools-dev",)),
}

_MEASURED = """
    requests flask click networkx httpx rich scrapy luxon mathjs livekit cobra gin petgraph hyper
    sqlalchemy nodemailer zap itertools
"""
_BENCHMARKS = """
    flask express gin tokio zod trpc axum vitest cobra chi serde redux aiohttp pydantic fastapi ripgrep django
"""
# Components and successors whose names lack the held-out word: crates of ripgrep, parts of vitest and redux, httpx2.
_RELATED = """
    grep globset ignore vite rtk reselect reduxjs httpx2 drf werkzeug starlette sqlmodel sqla tower async-httpx
"""
_WORDS = frozenset((_MEASURED + _BENCHMARKS + _RELATED).split())
_NAMES = frozenset({"pdf-lib"})


def is_held_out(package: str) -> bool:
    """Return True when the package is held out or has a held-out name as one of the words of its name."""
    name = package.lower()
    return name in _NAMES or not _WORDS.isdisjoint(re.split(r"[^a-z0-9]+", name))
