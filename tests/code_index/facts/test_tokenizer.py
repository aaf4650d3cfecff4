"""Code and queries are split into words."""

import pytest

from scrubjay.code_index.facts import tokenizer
from scrubjay.code_index.facts.tokenizer import capitalized_words, query_words, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RootModel root_model", ["root", "model", "=rootmodel", "root", "model", "=rootmodel"]),
        ("__init__ _ Foo__bar", ["init", "foo", "bar", "=foobar"]),
        ("HTTPServer sha256", ["http", "server", "=httpserver", "sha", "256", "=sha256"]),
        ("parsing(parsers)", ["pars", "parser"]),
        ("x = [404]", ["x", "404"]),
        ("größe_max 日本語", ["große", "max", "日本", "本語"]),
        ("naïve—name «größe»", ["naiv", "name", "große"]),
        ("", []),
        ("{};#", []),
        ("QUJD" * 40, []),
    ],
)
def test_code_is_split_into_the_parts_of_its_identifiers(text: str, expected: list[str]):
    assert tokenize(text) == expected


def test_all_spellings_of_an_identifier_have_one_joined_word():
    joined = {word for name in ("getUserId", "get_user_id", "GetUserID", "GET_USER_ID") for word in tokenize(name)[-1:]}

    assert joined == {"=getuserid"}


def test_the_word_cache_is_bounded(monkeypatch: pytest.MonkeyPatch):
    cache = tokenizer._Words()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(tokenizer, "_known", cache)
    monkeypatch.setattr(tokenizer, "_MAX_CACHED", 10)

    found = tokenize(" ".join(f"q{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))

    assert found[-1] == "qz"
    assert len(cache) <= 10


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("connection pool", [("connect", 1.0), ("pool", 1.0), ("=connectpool", 0.7)]),
        ("the pool of a connection", [("pool", 1.0), ("connect", 1.0)]),
        ("fixes RootModel", [("fix", 0.5), ("root", 0.7), ("model", 0.7), ("=rootmodel", 1.0)]),
        ("is_valid", [("valid", 0.7), ("=isvalid", 1.0)]),
        ("pool, cache", [("pool", 1.0), ("cach", 1.0)]),
        ("re-export", [("re", 1.0), ("export", 1.0), ("=reexport", 0.7)]),
        ("why isn't the parser's cache used", [("parser", 1.0), ("cach", 1.0), ("use", 1.0), ("=cachuse", 0.7)]),
        ("model RootModel", [("model", 1.0), ("root", 0.7), ("=rootmodel", 1.0)]),
        ("日本語", [("日本", 0.7), ("本語", 0.7)]),
        ("what is it", [("what", 1.0), ("is", 1.0), ("=whatis", 0.7), ("it", 1.0), ("=isit", 0.7)]),
        ("?!", []),
    ],
)
def test_a_query_gives_weighted_words(query: str, expected: list[tuple[str, float]]):
    assert query_words(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how the Router of a `Context` works", ["router", "context"]),
        ("Router that works. Then more", []),
        ("HTTP and JSON of RootModel and root_model", []),
        ("router", []),
    ],
)
def test_capitalized_words_are_found(query: str, expected: list[str]):
    assert capitalized_words(query) == expected
