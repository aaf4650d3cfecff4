"""Fixtures of the discovery tests."""

import pytest

from tests.code_index.discovery.repository import ENVIRONMENT


@pytest.fixture(autouse=True)
def isolated_git_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
