"""Fixtures of the tests of embedding code."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.code_index.discovery.repository import new_repository
from tests.models.batch_service import BatchService, running_batch_service


@pytest.fixture
def service() -> Generator[BatchService]:
    with running_batch_service() as running:
        yield running


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of four files with one chunk each."""
    return new_repository(tmp_path / "repository", {f"{name}.py": source(name) for name in NAMES})


NAMES = ("apples", "pears", "plums", "figs")


def source(name: str) -> str:
    return (
        f'"""Keeps {name} fresh."""\n\n\ndef keep_{name}(basket):\n    return [one for one in basket if one.is_fresh]\n'
    )
