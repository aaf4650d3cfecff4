"""A name imported from another repository's package resolves to its definition there, in both directions."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from scrubjay.code_index.cross_repo import definitions as definers
from scrubjay.code_index.cross_repo.definitions import defined_elsewhere
from scrubjay.code_index.cross_repo.dependents import UsedSymbol, used_elsewhere
from scrubjay.code_index.questions.impact import definitions_named
from scrubjay.code_index.service import LoadedIndex
from tests.code_index.cross_repo.two_repositories import write_both, write_files
from tests.code_index.indexes import Home, opened

ALIASES = {
    "shop/alias.py": (
        "from acme_auth import sign as s\nimport acme_auth as a\n"
        "import acme_auth.tokens\nfrom acme_auth import tokens\n\n\n"
        "def renamed(x):\n    return s(x)\n\n\n"
        "def of_module(x):\n    return a.sign(x)\n\n\n"
        "def by_path(x):\n    acme_auth.tokens.sign(x)\n    return tokens.sign(x)\n\n\n"
        "def of_class(x):\n    return tokens.Signer.verify(None, x)\n\n\n"
        "def of_value():\n    y = tokens.Signer()\n    return y.verify(1), y.sign(2)\n\n\n"
        "@s\ndef decorated():\n    pass\n\n\n"
        "def of_something(x):\n    return a.client.sign(x)\n"
    ),
    "shop/star.py": "from acme_auth.tokens import *\n\n\ndef starred(x):\n    return sign(x)\n",
    "web/alias.ts": (
        'import { signToken as st } from "@acme/auth";\nimport * as auth from "@acme/auth";\n'
        'import dflt from "@acme/auth";\nconst r = require("@acme/auth");\n'
        "export function inTypeScript(a: string) {\n"
        "  return st(a) + auth.signToken(a) + dflt.signToken(a) + r.signToken(a);\n}\n"
    ),
    "cmd/x.go": 'package cmd\n\nimport tok "example.org/acme/auth/v2"\n\nfunc InGo() {\n\ttok.Sign("a")\n}\n',
    "tool2.rs": (
        'use acme_auth::sign as s;\nuse acme_auth;\n\nfn in_rust() {\n    s("a");\n    acme_auth::sign("b");\n}\n'
    ),
}
SURE, GUESS = ("imported", 0.9), ("name", 0.4)
Calls = set[tuple[str, int, str, float]]


async def build_both(
    home: Home, folder: Path, library: Mapping[str, str] | None = None
) -> tuple[LoadedIndex, LoadedIndex]:
    roots = write_both(folder)
    write_files(roots[0], library or {})
    write_files(roots[1], ALIASES)
    first, second = [await home.code.load((await home.build(root)).record.id) for root in roots]
    return first, second


async def callers(home: Home, name: str, library: LoadedIndex, application: LoadedIndex) -> Calls:
    found = await used_elsewhere(
        home.code, library, dict.fromkeys(definitions_named(name, library), UsedSymbol()), [library, application], 1
    )
    return {
        (application.names.qualified(one.node.symbol), one.line, str(one.evidence), one.confidence)
        for there in found
        for one in there.direct
        if one.node.symbol >= 0
    }


async def callees(home: Home, name: str, library: LoadedIndex, application: LoadedIndex) -> Calls:
    found = await defined_elsewhere(
        home.code, application, definitions_named(name, application), [application, library]
    )
    files = library.corpus.files
    return {
        (
            f"{files[int(library.corpus.symbols.files[one.row])].path}::{library.names.qualified(one.row)}",
            one.line,
            str(one.evidence),
            one.confidence,
        )
        for there in found
        for one in there.calls
    }


async def test_calls_are_resolved_under_whatever_name_the_import_gives(tmp_path: Path) -> None:
    sign, verify = "src/acme_auth/tokens.py::sign", "src/acme_auth/tokens.py::Signer.verify"
    async with opened(tmp_path / "home") as home:
        library, application = await build_both(home, tmp_path)

        async def calls_in(name: str) -> Calls:
            return await callees(home, name, library, application)

        assert await calls_in("shop/login.py::login") == {(sign, 7, *SURE)}
        assert await calls_in("renamed") == {(sign, 8, *SURE)}
        assert await calls_in("of_module") == {(sign, 12, *SURE)}
        assert await calls_in("by_path") == {(sign, 16, *SURE), (sign, 17, *SURE)}
        assert await calls_in("of_class") == {(verify, 21, *SURE)}
        # The type of a value from the package is unknown here; a method may have the name of a function.
        assert await calls_in("of_value") == {
            ("src/acme_auth/tokens.py::Signer", 25, *SURE),
            (verify, 26, *GUESS),
            (sign, 26, *GUESS),
        }
        assert await calls_in("decorated") == {(sign, 29, *SURE)}
        assert await calls_in("of_something") == {(sign, 35, *GUESS)}
        assert await calls_in("starred") == {(sign, 5, *GUESS)}
        assert await calls_in("inTypeScript") == {("js/index.ts::signToken", 6, *SURE)}
        assert await calls_in("InGo") == {("go/auth.go::Sign", 6, *SURE)}
        assert await calls_in("in_rust") == {("rs/src/lib.rs::sign", 5, *SURE), ("rs/src/lib.rs::sign", 6, *SURE)}
        assert await calls_in("sign_otherwise") == set()  # of a library that is not indexed
        assert await calls_in("enter") == set()  # calls only local functions


async def test_callers_are_found_under_whatever_name_the_import_gives(tmp_path: Path) -> None:
    async with opened(tmp_path / "home") as home:
        library, application = await build_both(home, tmp_path)

        async def calls_of(name: str) -> Calls:
            return await callers(home, name, library, application)

        assert await calls_of("src/acme_auth/tokens.py::sign") == {
            ("login", 7, *SURE),
            ("renamed", 8, *SURE),
            ("of_module", 12, *SURE),
            ("by_path", 16, *SURE),
            ("by_path", 17, *SURE),
            ("of_value", 26, *GUESS),
            ("decorated", 29, *SURE),
            ("of_something", 35, *GUESS),
            ("starred", 5, *GUESS),
        }
        assert await calls_of("Signer.verify") == {
            ("check", 11, *GUESS),
            ("of_class", 21, *SURE),
            ("of_value", 26, *GUESS),
        }
        assert await calls_of("signToken") == {("login", 2, *SURE), ("inTypeScript", 6, *SURE)}
        assert await calls_of("go/auth.go::Sign") == {("main", 6, *SURE), ("InGo", 6, *SURE)}
        assert await calls_of("rs/src/lib.rs::sign") == {
            ("run", 4, *SURE),
            ("in_rust", 5, *SURE),
            ("in_rust", 6, *SURE),
        }


async def test_of_two_definitions_with_one_name_the_imported_one_is_chosen(tmp_path: Path) -> None:
    old = {
        "src/acme_auth/old.py": "def sign(token):\n    return token\n",
        "tests/test_tokens.py": "def sign(token):\n    return token\n",
    }
    tokens = "src/acme_auth/tokens.py::sign"
    async with opened(tmp_path / "home") as home:
        library, application = await build_both(home, tmp_path, old)
        assert await callees(home, "by_path", library, application) == {(tokens, 16, *SURE), (tokens, 17, *SURE)}
        # The package itself re-exports one of them.
        assert await callees(home, "shop/login.py::login", library, application) == {(tokens, 7, *SURE)}
        assert ("login", 7, *SURE) in await callers(home, tokens, library, application)
        assert await callers(home, "src/acme_auth/old.py::sign", library, application) == {
            ("of_value", 26, *GUESS),
            ("of_something", 35, *GUESS),
            ("starred", 5, *GUESS),
        }
        assert await callers(home, "tests/test_tokens.py::sign", library, application) == set()


async def test_an_ambiguous_import_gives_two_guesses(tmp_path: Path) -> None:
    old = {
        "src/acme_auth/old.py": "def sign(token):\n    return token\n",
        "src/acme_auth/__init__.py": "from acme_auth.tokens import *\nfrom acme_auth.old import *\n",
    }
    async with opened(tmp_path / "home") as home:
        library, application = await build_both(home, tmp_path, old)
        assert await callees(home, "shop/login.py::login", library, application) == {
            ("src/acme_auth/old.py::sign", 7, *GUESS),
            ("src/acme_auth/tokens.py::sign", 7, *GUESS),
        }


async def test_a_name_with_many_definitions_is_not_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definers, "MAX_CANDIDATES", 0)
    async with opened(tmp_path / "home") as home:
        library, application = await build_both(home, tmp_path)
        assert await callees(home, "renamed", library, application) == set()
