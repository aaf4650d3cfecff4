"""The repository map of the shop."""

import pytest

from scrubjay.code_index.questions.repo_map import (
    FILE_CHARACTERS,
    SYMBOL_CHARACTERS,
    RepositoryMap,
    repository_map,
    signature_of,
)
from scrubjay.code_index.service import CodeService, LoadedIndex

Shop = tuple[CodeService, LoadedIndex]


def signatures(found: RepositoryMap, loaded: LoadedIndex) -> dict[str, list[str]]:
    return {
        loaded.corpus.files[one.file].path: [signature_of(symbol.symbol) for symbol in one.symbols]
        for one in found.files
    }


async def test_the_most_important_files_come_first_with_their_signatures(shop: Shop) -> None:
    code, loaded = shop
    found = await repository_map(code, loaded, token_budget=4_000)
    shown = signatures(found, loaded)
    assert [*shown][:2] == ["shop/errors.py", "shop/auth.py"]
    assert shown["shop/store.py"] == ["USERS: dict[str, str] = {}", "def load_user(name: str) -> str"]
    assert shown["web/UserStore.ts"] == [
        "export interface User",
        "export class UserStore",
        "findByName(name: string): User | undefined",
    ]
    ranks = [one.rank for one in found.files]
    assert ranks == sorted(ranks, reverse=True)
    assert "tests/test_auth.py" not in shown


async def test_the_map_can_be_restricted_to_a_folder(shop: Shop) -> None:
    code, loaded = shop
    found = await repository_map(code, loaded, token_budget=4_000, folder="web")
    assert {*signatures(found, loaded)} == {
        "web/errors.ts",
        "web/UserStore.ts",
        "web/AuthService.ts",
        "web/login.ts",
        "web/main.ts",
    }
    assert found.total == 5


@pytest.mark.parametrize("budget", [200, 400])
async def test_the_map_fits_its_budget(shop: Shop, budget: int) -> None:
    code, loaded = shop
    found = await repository_map(code, loaded, token_budget=budget)
    assert 0 < len(found.files) < found.total
    characters = sum(
        FILE_CHARACTERS
        + len(loaded.corpus.files[one.file].path)
        + sum(SYMBOL_CHARACTERS + len(signature_of(each.symbol)) + len(each.symbol.name) for each in one.symbols)
        for one in found.files
    )
    assert 0.4 * budget < characters / 4 <= budget


async def test_importance_is_computed_once_from_uses(shop: Shop) -> None:
    code, loaded = shop
    importance = await code.importance(loaded)
    assert await code.importance(loaded) is importance
    assert (len(importance.files), len(importance.symbols)) == (len(loaded.corpus.files), len(loaded.corpus.names))
    assert importance.files.sum() == pytest.approx(1)
    assert 0 < importance.symbols.sum() < 1  # the rest belongs to module-level code
    links = await code.use_graph(loaded)
    rows = range(len(loaded.corpus.names))
    used, unused = [row for row in rows if links.users_of(row)], [row for row in rows if not links.users_of(row)]
    assert importance.symbols[used].min() > importance.symbols[unused].max()
    assert len({*importance.symbols[unused].round(12).tolist()}) == 1
