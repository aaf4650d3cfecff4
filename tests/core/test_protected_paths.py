"""The shared list of paths that are kept from callers."""

import os
from pathlib import Path

import pytest

from scrubjay.core.protected_paths import SECRET, STORE, ProtectedPaths, is_secret_name

SECRET_NAMES = (
    *(
        ".env",
        ".ENV",
        ".env.local",
        ".env.production",
        "app/.env",
        "prod.env",
        "deploy/Prod.Env",
        ".env.bak",
        ".env_local",
    ),
    *(".ssh/config", "a/.SSH/id_x", "home/.ssh", ".aws/credentials", ".gnupg/ring", ".password-store/mail"),
    *(".netrc", "_netrc", "x/.pgpass", ".git-credentials", ".pypirc", ".my.cnf", ".htpasswd", "id_rsa"),
    *("keys/id_ed25519", "ID_ECDSA", ".vault-token", ".azure/token.json"),
)
ORDINARY_NAMES = (
    *(
        ".env.example",
        ".env.sample",
        ".env.template",
        "app/.env.dist",
        ".env.md",
        "env.py",
        "src/env.ts",
        "environment.md",
    ),
    *("example.env", "sample.env", "template.env", ".env/lib/site.py", "ssh/config", "aws/credentials.py", "netrc.py"),
    *("id_rsa.md", "src/id_rsa_test.py", ".envrc", ".docker/Dockerfile", ".kube/deployment.yaml"),
)


@pytest.mark.parametrize("path", SECRET_NAMES)
def test_names_of_secret_files_are_recognised_in_any_case_and_place(path: str) -> None:
    assert is_secret_name(path)


@pytest.mark.parametrize("path", ORDINARY_NAMES)
def test_examples_and_programs_are_not_taken_for_secrets(path: str) -> None:
    assert not is_secret_name(path)


@pytest.mark.parametrize("place", ["/etc", "/etc/ssl", "/proc", "/proc/self", "/sys", "/run/secrets", "/x/.SSH"])
def test_places_of_secrets_of_the_machine(place: str) -> None:
    assert ProtectedPaths().is_secret(place)
    assert not ProtectedPaths().is_secret("/srv/etc/program")


def test_places_of_secrets_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    protected = ProtectedPaths()
    assert protected.is_secret(str(tmp_path / ".kube"))
    assert protected.is_secret(str(tmp_path / ".config" / "gcloud" / "legacy"))
    assert not protected.is_secret(str(tmp_path / "code" / ".kube"))
    below = protected.below(str(tmp_path))
    assert below.reason(".kube/config") == below.reason(".Docker/config.json") == SECRET
    assert below.reason("code/.kube/config") is None


def test_the_store_is_recognised_by_every_name(tmp_path: Path) -> None:
    home = tmp_path / "Café" / "Home"
    (home / "derived").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    protected = ProtectedPaths(tmp_path / "link")
    for name in (home, home / "derived", tmp_path / "cafe\u0301" / "home" / "x"):
        assert protected.in_store(os.path.realpath(name)), name
    assert not protected.in_store(str(tmp_path / "Café"))
    assert not protected.in_store(f"{home}2")
    below = protected.below(str(tmp_path))
    assert below.reason("Café/Home/scrubjay.db") == below.reason("café/HOME/") == below.reason("café/home") == STORE
    assert below.reason("Café/Home2/a.py") is None
    assert protected.below("/").reason(f"{home}/audit.jsonl"[1:]) == STORE
    assert ProtectedPaths(home, (home / "derived",)).in_store(str(home))
    assert not ProtectedPaths(home, (home / "derived",)).in_store(str(home / "derived" / "x"))


def test_the_store_is_recognised_under_a_name_that_only_the_file_system_knows(tmp_path: Path) -> None:
    """As through a bind mount: the path is another one, device and inode are the same."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "other").symlink_to(home)
    assert ProtectedPaths(home).in_store(f"{tmp_path}/other")
    assert ProtectedPaths(home).in_store(f"{tmp_path}/other/missing")
