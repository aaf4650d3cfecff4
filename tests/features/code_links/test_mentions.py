"""Detection of paths, qualified names and names in backticks in texts."""

import time

import pytest

from scrubjay.features.code_links.mentions import MAX_MENTIONS, code_mentions


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
def test_possible_names_are_returned_once_in_text_order(text: str, expected: list[str]) -> None:
    assert code_mentions(text) == expected


def test_the_number_of_names_is_limited() -> None:
    assert len(code_mentions(" ".join(f"module.name{number}" for number in range(1000)))) == MAX_MENTIONS


@pytest.mark.parametrize("part", ["a", "a.", "a/", "a::", "`", "a->", "/", "a-", "@"])
def test_no_text_takes_quadratic_time(part: str) -> None:
    started = time.process_time()
    code_mentions(part * 50_000)
    assert time.process_time() - started < 2
