"""What is never trained on: the packages that measure the model, the benchmarks' repositories, and their close kin."""

import re
from dataclasses import dataclass
from typing import Literal

from models.described import Kind

Source = Literal["pypi", "npm", "debian"]
_FUNCTIONS: frozenset[Kind] = frozenset({"function"})


@dataclass(frozen=True, slots=True)
class CodeSet:
    """Held-out packages of one language; the question is a summary, the answer the code it describes."""

    language: str
    source: Source
    packages: tuple[str, ...]
    questions_per_package: int = 250
    kinds: frozenset[Kind] = frozenset({"function", "type"})


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
# Choices (checkpoints, weights) are made on these, so that the sets above stay unseen.
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
# Parts and successors that do not carry the name: ripgrep's crates, vitest's and redux' parts, httpx' second life.
_KIN = """
    grep globset ignore vite rtk reselect reduxjs httpx2 drf werkzeug starlette sqlmodel sqla tower async-httpx
"""
_WORDS = frozenset((_MEASURED + _BENCHMARKS + _KIN).split())
_NAMES = frozenset({"pdf-lib"})


def is_held_out(package: str) -> bool:
    """Whether a package is measured on, or is kin: it bears a held-out name as one of its words."""
    name = package.lower()
    return name in _NAMES or not _WORDS.isdisjoint(re.split(r"[^a-z0-9]+", name))
