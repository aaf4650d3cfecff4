"""A repository that is the active project and indexed."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.features.code_links.repository import House, Repository, house_at


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "apollo")


@pytest.fixture
async def house(tmp_path: Path, repository: Repository) -> AsyncGenerator[House]:
    async with house_at(tmp_path / "home") as house:
        await house("set_project", path=str(repository.root))
        await house("index", action="project")
        yield house
