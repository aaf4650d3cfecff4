"""Read wheels, npm tarballs and Debian packages: name, version, declared licences, README and source files."""

import email
import gzip
import io
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAX_FILE_BYTES = 300_000
_MAX_README_CHARACTERS = 30_000
_MAX_CHARACTERS = 6_000_000
# Vendored copies, tests, data and generated code are not the package's own documented code.
_SKIPPED_FOLDERS = re.compile(
    r"_*(?:vendor\w*|third_party|extern\w*|node_modules|deps|tests?|testdata|bench\w*|examples?|locales?|compiled)_*"
)
_SKIPPED_FILES = re.compile(r"(?:test_|conftest\.).*|.*generated.*|.*(?:_test|_string|\.pb|\.min|\.test|\.spec)\.\w+")
_BUILT_FOLDERS = {"build", "cjs", "dist", "es5", "esm2015", "fesm5", "umd"}
_LANGUAGES = {
    ".py": "py",
    ".go": "go",
    ".rs": "rs",
    ".js": "js",
    ".mjs": "js",
    ".cjs": "js",
    ".jsx": "js",
    ".ts": "ts",
    ".mts": "ts",
    ".tsx": "ts",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Archive:
    """An opened package. Files are read on demand."""

    package: str
    version: str
    licences: list[str]
    readme: str
    _sizes: Mapping[str, int]
    _read: Callable[[str], bytes]

    def sources(self) -> Iterator[SourceFile]:
        """Yield the package's own source files, hand-written before built ones, up to `_MAX_CHARACTERS` in total."""
        left = _MAX_CHARACTERS
        for path in sorted(self._sizes, key=_source_order):
            language = language_of(path)
            if language is None or _is_skipped(path) or self._sizes[path] > min(left, _MAX_FILE_BYTES):
                continue
            text = self._read(path).decode("utf-8", "ignore")
            left -= len(text)
            minified = len(text) > 200 * (text.count("\n") + 1)
            if not minified and "DO NOT EDIT" not in text[:500]:
                yield SourceFile(language, text)

    def files(self, pattern: str) -> Iterator[tuple[str, str]]:
        """Yield path and text of every file whose path matches the regular expression `pattern` anywhere."""
        for path in sorted(self._sizes):
            if re.search(pattern, path):
                yield path, self._read(path).decode("utf-8", "ignore")


def language_of(path: str) -> str | None:
    if re.search(r"\.d\.[mc]?ts$", path):
        return "dts"
    return _LANGUAGES.get(Path(path).suffix)


def open_archive(path: Path) -> Archive:
    match path.suffix:
        case ".whl":
            return _open_wheel(path)
        case ".tgz":
            return _open_npm(path)
        case _:
            return _open_debian(path)


def _is_skipped(path: str) -> bool:
    *folders, name = path.split("/")
    return any(map(_SKIPPED_FOLDERS.fullmatch, folders)) or _SKIPPED_FILES.fullmatch(name) is not None


def _source_order(path: str) -> tuple[bool, bool, bool, int, str]:
    folders = set(path.split("/")[:-1])
    return language_of(path) == "dts", "src" not in folders, not folders.isdisjoint(_BUILT_FOLDERS), len(path), path


def _open_wheel(path: Path) -> Archive:
    wheel = zipfile.ZipFile(path)
    sizes = {entry.filename: entry.file_size for entry in wheel.infolist()}
    metadata = email.message_from_bytes(
        wheel.read(next(name for name in sizes if name.endswith(".dist-info/METADATA")))
    )
    # `email` returns a `Header` instead of a string for a field with non-ASCII characters.
    licences = [str(metadata[field]) for field in ("License-Expression", "License") if metadata[field]]
    licences += [str(line) for line in metadata.get_all("Classifier", []) if str(line).startswith("License ::")]
    # Joined into one statement: a licence field may hold a whole text, so one permissive name is enough, but a
    # restrictive word anywhere refuses the package.
    statement = [" / ".join(licences)] if licences else []
    readme = metadata.get_payload()
    readme = readme if isinstance(readme, str) else ""
    return Archive(
        metadata["Name"].lower(), metadata["Version"], statement, readme[:_MAX_README_CHARACTERS], sizes, wheel.read
    )


def _open_npm(path: Path) -> Archive:
    sizes, read = _read_tar(gzip.decompress(path.read_bytes()))
    manifest: dict[str, Any] = json.loads(read(next(n for n in sizes if re.fullmatch(r"[^/]+/package\.json", n))))
    declared: Any = manifest.get("license") or manifest.get("licenses") or []
    statement = [declared if isinstance(declared, str) else json.dumps(declared)] if declared else []
    readme = _find_readme(sizes, read, r"^[^/]+/readme\.(?:md|markdown|rst)$")
    return Archive(manifest["name"].lower(), manifest["version"], statement, readme, sizes, read)


def _open_debian(path: Path) -> Archive:
    sizes, read = _read_tar(
        subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
    )
    copyright_file = next((name for name in sizes if name.endswith("/copyright")), None)
    statements = parse_debian_licences(read(copyright_file).decode("utf-8", "ignore")) if copyright_file else []
    name, version, _ = path.name.split("_", 2)
    readme = _find_readme(sizes, read, r"/readme(?:\.md|\.rst|\.markdown)?(?:\.gz)?$")
    return Archive(name, version.replace("%3a", ":"), statements, readme, sizes, read)


def parse_debian_licences(copyright_text: str) -> list[str]:
    """Return the licences in a machine-readable Debian copyright file, without those of `debian/*` itself."""
    statements: set[str] = set()
    for stanza in re.split(r"\n\s*\n", copyright_text):
        files = re.search(r"^Files:\s*(.*)$", stanza, re.MULTILINE)
        licence = re.search(r"^License:\s*(.*)$", stanza, re.MULTILINE)
        if files and licence and not files[1].strip().startswith("debian/"):
            statements.add(licence[1].strip())
    return sorted(statements)


def _read_tar(content: bytes) -> tuple[dict[str, int], Callable[[str], bytes]]:
    tar = tarfile.open(fileobj=io.BytesIO(content))  # noqa: SIM115 - in memory, lives as long as the archive
    members = {member.name: member for member in tar.getmembers() if member.isfile()}

    def read(name: str) -> bytes:
        extracted = tar.extractfile(members[name])
        return extracted.read() if extracted else b""

    return {name: member.size for name, member in members.items()}, read


def _find_readme(sizes: Mapping[str, int], read: Callable[[str], bytes], pattern: str) -> str:
    for name in sorted(sizes):
        if re.search(pattern, name, re.IGNORECASE):
            content = gzip.decompress(read(name)) if name.endswith(".gz") else read(name)
            return content.decode("utf-8", "ignore")[:_MAX_README_CHARACTERS]
    return ""
