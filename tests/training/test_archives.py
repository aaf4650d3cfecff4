"""Package archives yield their metadata, readme and sources."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from models.archives import SourceFile, language_of, open_archive, parse_debian_licences

CODE = "export function close(pool) {\n  pool.clear()\n}\n"


def test_a_wheel_yields_metadata_readme_and_own_sources(tmp_path: Path):
    path = tmp_path / "pool-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(
            "pool-1.2.dist-info/METADATA",
            "Name: Pool\nVersion: 1.2\nLicense: MIT\nClassifier: License :: OSI Approved :: MIT License\n"
            "Classifier: Topic :: Database\n\nKeeps connections open.\n",
        )
        wheel.writestr("pool/core.py", "size = 4\n")
        wheel.writestr("pool/_vendor/other.py", "size = 5\n")
        wheel.writestr("pool/tests/test_core.py", "size = 6\n")

    archive = open_archive(path)

    assert (archive.package, archive.version, archive.readme) == ("pool", "1.2", "Keeps connections open.\n")
    assert archive.licences == ["MIT / License :: OSI Approved :: MIT License"]
    assert list(archive.sources()) == [SourceFile("py", "size = 4\n")]


def test_an_npm_package_yields_sources_before_built_files_and_nothing_minified_or_generated(tmp_path: Path):
    path = tmp_path / "pool-1.2.0.tgz"
    path.write_bytes(
        gzip.compress(
            tar_of(
                {
                    "package/package.json": json.dumps({"name": "Pool", "version": "1.2.0", "license": "MIT"}),
                    "package/README.md": "# Pool",
                    "package/index.d.ts": "export declare function close(): void;\n",
                    "package/i.js": CODE + "// in front\n",
                    "package/dist/index.js": CODE + "// built\n",
                    "package/src/index.ts": CODE,
                    "package/lib/generated.js": CODE,
                    "package/lib/small.js": "x=1;" * 200,
                    "package/lib/made.js": "// DO NOT EDIT\n" + CODE,
                }
            )
        )
    )

    archive = open_archive(path)

    assert (archive.package, archive.version, archive.licences, archive.readme) == ("pool", "1.2.0", ["MIT"], "# Pool")
    assert list(archive.sources()) == [
        SourceFile("ts", CODE),
        SourceFile("js", CODE + "// in front\n"),
        SourceFile("js", CODE + "// built\n"),
        SourceFile("dts", "export declare function close(): void;\n"),
    ]


def test_debian_licences_are_read_for_all_files_except_the_packaging(tmp_path: Path):
    text = (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\n"
        "Files: *\nCopyright: Someone\nLicense: Expat\n\n"
        "Files: codec/*\nLicense: BSD-3-clause\n\n"
        "Files: debian/*\nLicense: GPL-2+\n\n"
        "License: Expat\n Permission is hereby granted\n"
    )

    assert parse_debian_licences(text) == ["BSD-3-clause", "Expat"]


@pytest.mark.parametrize(
    ("path", "language"),
    [("a/b.py", "py"), ("a.d.ts", "dts"), ("a.d.mts", "dts"), ("a.tsx", "ts"), ("a.cjs", "js"), ("a.md", None)],
)
def test_the_suffix_decides_the_language(path: str, language: str | None):
    assert language_of(path) == language


def tar_of(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return content.getvalue()
