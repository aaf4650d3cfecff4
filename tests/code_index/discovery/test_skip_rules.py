"""Files that are not worth reading are recognized by name or content, with a reason."""

import pytest

from scrubjay.code_index.discovery.skip_rules import reason_by_content, reason_by_path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a.py", None),
        ("package.json", None),
        ("a/package-lock.json", "a lock file"),
        ("Cargo.lock", "a lock file"),
        ("yarn.lock", "a lock file"),
        ("go.sum", "a lock file"),
        ("js/jquery.min.js", "minified"),
        ("admin.js", None),
        ("logo.PNG", "an image"),
        ("locale/de/django.po", "translations"),
        ("id.pem", "a key or a certificate"),
        ("bundle.js.map", "a source map"),
        (".lock", None),
        (".github/a.yml", None),
        ("a/.git/config", "an invalid path"),
        ("../a.py", "an invalid path"),
        ("a/../b.py", "an invalid path"),
        ("/a.py", "an invalid path"),
        ("a//b.py", "an invalid path"),
        ("a/...py", None),
    ],
)
def test_a_name_gives_the_reason_to_skip_a_file(path: str, reason: str | None) -> None:
    assert reason_by_path(path) == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", None),
        (b"def f():\n\treturn 1\r\n\f", None),
        ("größer als 草".encode() * 99, None),
        (b"caf\xe9 in latin-1, which people wrote", None),
        (b"\x1b[31mred\x1b[0m", None),
        (b"text\0", "a binary"),
        (b"\x01\x02\x03\x04abcd", "a binary"),
        (b"\x80\x81\xfe\xff" * 9, "a binary"),
        (b"a" * 8192 + b"\0", None),
    ],
)
def test_a_binary_content_is_recognized(content: bytes, reason: str | None) -> None:
    assert reason_by_content(content) == reason
