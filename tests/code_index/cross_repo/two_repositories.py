"""A library in four languages, and an application that uses it."""

from collections.abc import Mapping
from pathlib import Path

LIBRARY = {
    "pyproject.toml": '[project]\nname = "Acme-Auth"\ndependencies = ["requests>=2"]\n',
    "src/acme_auth/__init__.py": "from acme_auth.tokens import sign\n",
    "src/acme_auth/tokens.py": (
        '"""Tokens are signed here, so that sessions can be trusted."""\n\n\n'
        "def sign(token):\n    return token[::-1]\n\n\n"
        "class Signer:\n    def verify(self, token):\n        return sign(token) == token\n"
    ),
    "js/package.json": '{"name": "@acme/auth", "dependencies": {"zod": "^3"}}',
    "js/index.ts": "export function signToken(token: string): string {\n  return token;\n}\n",
    "go/go.mod": "module example.org/acme/auth/v2\n\ngo 1.22\n",
    "go/auth.go": "package auth\n\nfunc Sign(token string) string { return token }\n",
    "rs/Cargo.toml": '[package]\nname = "acme-auth"\n',
    "rs/src/lib.rs": "pub fn sign(token: &str) -> String { token.to_string() }\n",
    "tests/package.json": '{"name": "tests-of-acme"}',
}
APPLICATION = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["acme_auth[fast] >= 1; python_version > \'3\'"]\n',
    "shop/__init__.py": "",
    "shop/login.py": (
        "from acme_auth import sign\nfrom acme_auth.tokens import Signer\nimport other\n\n\n"
        "def login(name):\n    return sign(name)\n\n\n"
        "def check(token):\n    return Signer().verify(token)\n\n\n"
        "def sign_otherwise(name):\n    return other.sign(name)\n\n\n"
        "def enter(name):\n    return login(name)\n"
    ),
    "shop/acme.py": "acme_auth = 1  # only the name\n",
    "package.json": '{"name": "shop", "dependencies": {"@acme/auth": "*"}}',
    "web/login.ts": 'import { signToken } from "@acme/auth";\nexport const login = (a: string) => signToken(a);\n',
    "tool.rs": 'use acme_auth::sign;\n\nfn run() {\n    sign("a");\n}\n',
    "web/other.ts": 'import { auth } from "@acme/authentic";\n',
    "main.go": ('package main\n\nimport "example.org/acme/auth/v2"\n\nfunc main() {\n\tauth.Sign("a")\n}\n'),
    "go.mod": "module example.org/shop\n\nrequire (\n\texample.org/acme/auth/v2 v2.1.0\n)\n",
    "broken/package.json": "{",
    "broken/Cargo.toml": "[[",
}


def write_both(folder: Path) -> tuple[Path, Path]:
    """Write both repositories; return the folders of the library and of the application."""
    for name, files in (("library", LIBRARY), ("application", APPLICATION)):
        write_files(folder / name, files)
    return folder / "library", folder / "application"


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
