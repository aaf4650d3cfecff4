"""Packages of the evaluation are held out of training."""

import re

import pytest

from models import downloads
from models.held_out import DEVELOPMENT_SETS, TEST_SETS, is_held_out


@pytest.mark.parametrize(
    "package",
    [
        "requests",
        "requests-oauthlib",
        "Flask",
        "flask_cors",
        "pydantic-core",
        "@trpc/server",
        "@reduxjs/toolkit",
        "react-redux",
        "express-session",
        "pdf-lib",
        "golang-github-go-chi-chi-dev",
        "golang-github-gin-contrib-cors-dev",
        "librust-serde-json-dev",
        "librust-tokio-util-dev",
        "librust-globset-dev",
    ],
)
def test_evaluation_packages_benchmark_repositories_and_related_packages_are_held_out(package: str):
    assert is_held_out(package)


@pytest.mark.parametrize("package", ["attrs", "enrich", "lodash", "chime", "golang-github-pkg-errors-dev", "pdfjs"])
def test_a_name_that_only_contains_a_held_out_word_is_not_held_out(package: str):
    assert not is_held_out(package)


def test_every_evaluation_package_is_held_out():
    measured = [spec for code_set in (*TEST_SETS.values(), *DEVELOPMENT_SETS.values()) for spec in code_set.packages]

    assert [spec for spec in measured if not is_held_out(re.split("==|@", spec)[0])] == []


def test_no_package_to_harvest_is_held_out():
    specs = [spec for source in downloads.packages_to_harvest().values() for spec in source]

    assert [spec for spec in specs if is_held_out(re.sub(r"(?<=.)[=@].*", "", spec))] == []
