"""Fixtures of the tests of embedders."""

from collections.abc import Generator

import pytest

from tests.models.service import Service, running_service


@pytest.fixture
def service() -> Generator[Service]:
    with running_service() as running:
        yield running
