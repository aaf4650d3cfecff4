"""An indexed repository that is the active project of a client."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.features.code_links.repository import Repository, ToolClient, open_client


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "apollo")


@pytest.fixture
async def client(tmp_path: Path, repository: Repository) -> AsyncGenerator[ToolClient]:
    async with open_client(tmp_path / "home") as client:
        await client("set_project", path=str(repository.root))
        await client("index", action="project")
        yield client
