"""The language of a file follows from its extension, its name or its first line."""

import pytest

from scrubjay.code_index.discovery.languages import language_by_content, language_by_name
from scrubjay.code_index.models import Language


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", Language.PYTHON),
        ("a/b.PYI", Language.PYTHON),
        ("x.mts", Language.TYPESCRIPT),
        ("x.d.ts", Language.TYPESCRIPT),
        ("x.tsx", Language.TSX),
        ("x.jsx", Language.JAVASCRIPT),
        ("x.h", Language.C),
        ("x.hpp", Language.CPP),
        ("Rakefile", Language.RUBY),
        ("deploy/Dockerfile", Language.TEXT),
        ("Dockerfile.dev", Language.TEXT),
        ("Makefile", Language.TEXT),
        ("a/.bashrc", Language.BASH),
        ("README", Language.TEXT),
        ("README.md", Language.MARKDOWN),
        ("x.yml", Language.YAML),
        ("bin/run", None),
        ("x.unknown", None),
        ("py", None),
        (".gitignore", Language.TEXT),
    ],
)
def test_a_name_implies_the_language_or_none(path: str, language: Language | None) -> None:
    assert language_by_name(path) is language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/usr/bin/env python3\n", Language.PYTHON),
        (b"#!/usr/bin/python3.11 -u\n", Language.PYTHON),
        (b"#! /bin/sh -e\n", Language.BASH),
        (b"#!/usr/bin/env -S A=1 node --flag\n", Language.JAVASCRIPT),
        (b"#!/usr/bin/env ruby\r\n", Language.RUBY),
        (b"\xef\xbb\xbf#!/bin/bash\n", Language.BASH),
        (b"#!/usr/bin/awk -f\n", Language.TEXT),
        (b"#!\n", Language.TEXT),
        (b"#!/usr/bin/env\n", Language.TEXT),
        (b"words\n#!/bin/sh\n", Language.TEXT),
        (b"", Language.TEXT),
    ],
)
def test_the_first_line_implies_the_language_of_a_program(head: bytes, language: Language) -> None:
    assert language_by_content(head) is language
