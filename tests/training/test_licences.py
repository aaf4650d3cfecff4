"""Only permissive licences are accepted."""

import pytest

from models.licences import is_permissive


@pytest.mark.parametrize(
    "statements",
    [
        ["MIT"],
        ["Apache-2.0 / License :: OSI Approved :: Apache Software License"],
        ["BSD-3-Clause", "Expat"],
        ["(MIT OR CC0-1.0)"],
        ["MIT License. THE SOFTWARE IS PROVIDED AS IS, WITHOUT WARRANTY, EXPRESS OR IMPLIED, REPLACEABLE OR NOT"],
    ],
)
def test_permissive_licences_are_accepted(statements: list[str]):
    assert is_permissive(statements)


@pytest.mark.parametrize(
    "statements",
    [
        [],
        ["unknown"],
        ["GPL-3.0-or-later"],
        ["LGPL-2.1"],
        ["MIT or GPL-2"],
        ["MIT", "MPL-2.0"],
        ["Apache-2.0 with Commons Clause"],
        ["UNLICENSED"],
        ["SEE LICENSE IN LICENSE.md (MIT)"],
    ],
)
def test_a_missing_unknown_or_restrictive_licence_is_refused(statements: list[str]):
    assert not is_permissive(statements)
