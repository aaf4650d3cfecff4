"""Texts name code by paths, by qualified names, and between backticks."""

import time

import pytest

from scrubjay.features.code_links.mentions import MOST, mentions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nothing of the sort is said here, at all.", []),
        ("See `login` and `Session.login()`.", ["login", "Session.login"]),
        ("It is in src/auth.py, not in web/cart.ts.", ["src/auth.py", "web/cart.ts"]),
        ("src/auth.py::Session.login signs.", ["src/auth.py::Session.login"]),
        ("Session.login, crypto::sign, Cart#total; a->b.", ["Session.login", "crypto::sign", "Cart#total", "a->b"]),
        ("`not code at all` and `a = b`", []),
        ("`login` and again `login`", ["login"]),
        ("login is a plain word", []),
        ("bin/run starts it", ["bin/run"]),
        ("https://example.org/a/b.html", []),
    ],
)
def test_what_could_be_code_is_found_once_in_its_order(text: str, expected: list[str]) -> None:
    assert mentions(text) == expected


def test_only_so_many_are_looked_up() -> None:
    assert len(mentions(" ".join(f"module.name{number}" for number in range(1000)))) == MOST


@pytest.mark.parametrize("part", ["a", "a.", "a/", "a::", "`", "a->", "/", "a-", "@"])
def test_no_text_takes_long(part: str) -> None:
    began = time.process_time()
    mentions(part * 50_000)
    assert time.process_time() - began < 2
