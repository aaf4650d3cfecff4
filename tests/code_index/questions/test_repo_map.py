"""The map of the shop."""

import pytest

from scrubjay.code_index.questions.repo_map import (
    FILE_CHARACTERS,
    SYMBOL_CHARACTERS,
    RepositoryMap,
    repository_map,
    signature_of,
)
from scrubjay.code_index.service import CodeService, Loaded

Shop = tuple[CodeService, Loaded]


def told(found: RepositoryMap, loaded: Loaded) -> dict[str, list[str]]:
    return {
        loaded.corpus.files[one.file].path: [signature_of(symbol.symbol) for symbol in one.symbols]
        for one in found.files
    }


async def test_the_files_that_most_leads_to_come_first_with_their_signatures(shop: Shop) -> None:
    code, loaded = shop
    found = await repository_map(code, loaded, token_budget=4_000)
    shown = told(found, loaded)
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


async def test_a_folder_has_a_map_of_its_own(shop: Shop) -> None:
    code, loaded = shop
    found = await repository_map(code, loaded, token_budget=4_000, folder="web")
    assert {*told(found, loaded)} == {
        "web/errors.ts",
        "web/UserStore.ts",
        "web/AuthService.ts",
        "web/login.ts",
        "web/main.ts",
    }
    assert found.total == 5


@pytest.mark.parametrize("budget", [200, 400])
async def test_a_map_keeps_to_its_budget(shop: Shop, budget: int) -> None:
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


async def test_how_important_something_is_is_worked_out_once_and_follows_from_who_uses_it(shop: Shop) -> None:
    code, loaded = shop
    importance = await code.importance(loaded)
    assert await code.importance(loaded) is importance
    assert (len(importance.files), len(importance.symbols)) == (len(loaded.corpus.files), len(loaded.corpus.names))
    assert importance.files.sum() == pytest.approx(1)
    assert 0 < importance.symbols.sum() < 1  # the rest is of what is at the top of files
    links = await code.links(loaded)
    rows = range(len(loaded.corpus.names))
    used, unused = [row for row in rows if links.to(row)], [row for row in rows if not links.to(row)]
    assert importance.symbols[used].min() > importance.symbols[unused].max()
    assert len({*importance.symbols[unused].round(12).tolist()}) == 1
