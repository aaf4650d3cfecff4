"""What the tests of discovery share."""

import pytest

from tests.code_index.discovery.repository import ENVIRONMENT


@pytest.fixture(autouse=True)
def nobodys_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
