"""Files that a name may mean, and lines that contain it."""

import re

import pytest

from scrubjay.code_index.models import FileFacts, Import, Language
from scrubjay.code_index.questions.locations import external_imports, files_named, find_occurrences, import_lines
from scrubjay.code_index.service import CodeService, LoadedIndex

Shop = tuple[CodeService, LoadedIndex]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("shop/auth.py", ["shop/auth.py"]),
        ("./shop/auth.py", ["shop/auth.py"]),
        ("auth.py", ["shop/auth.py"]),
        ("shop.auth", ["shop/auth.py"]),
        ("web/AuthService", ["web/AuthService.ts"]),
        ("errors", ["shop/errors.py", "web/errors.ts"]),
        ("web", ["web/AuthService.ts", "web/UserStore.ts", "web/errors.ts", "web/login.ts", "web/main.ts"]),
        ("auth.p", []),
        ("", []),
    ],
)
async def test_files_are_found_by_path_module_and_folder(shop: Shop, name: str, paths: list[str]) -> None:
    corpus = shop[1].corpus
    assert sorted(corpus.files[row].path for row in files_named(name, corpus)) == paths


async def test_a_package_name_means_all_files_in_it(shop: Shop) -> None:
    corpus = shop[1].corpus
    found = {corpus.files[row].path for row in files_named("shop", corpus)}
    assert found == {path for path in corpus.row_of if path.startswith("shop/")}


async def test_lines_are_found_by_text(shop: Shop) -> None:
    code, loaded = shop
    found = await find_occurrences(re.compile(r"\bDATABASE_URL\b"), ["DATABASE_URL"], code, loaded)
    assert [(loaded.corpus.files[one.file].path, one.line, one.text) for one in found.found] == [
        ("config.yaml", 3, "DATABASE_URL: sqlite"),
        ("web/UserStore.ts", 8, "  private readonly url = process.env.DATABASE_URL;"),
    ]
    assert found.unread == 0


def test_imports_of_a_file_or_library_are_recognized_by_name() -> None:
    imports = [
        Import("shop", "auth", line=1),
        Import("./errors", "UserNotFoundError", line=2),
        Import("os.path", "join", line=3),
        Import("osmium", line=4),
        Import("..", "Session", line=5),
    ]
    facts = FileFacts(Language.PYTHON, 5, imports=imports)
    assert import_lines(facts, "shop/auth.py", ["Session"]) == imports[:1]
    assert import_lines(facts, "web/errors.ts", []) == imports[1:2]
    assert import_lines(facts, "shop/session/__init__.py", ["Session"]) == imports[4:]
    assert external_imports(facts, "os") == imports[2:3]
    assert external_imports(facts, "os.path.join") == imports[2:3]
