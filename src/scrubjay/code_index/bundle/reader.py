"""Open a bundle from any source: its texts are written to a folder, which is indexed like any other.

Only names and texts are taken from a bundle. Definitions, uses and vectors are computed again, so a bundle can neither
contain malformed data for our readers nor replace facts of contents in other indexes.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast

import anyio
import anyio.to_thread
import zstandard

from scrubjay.code_index.bundle.manifest import PATHS
from scrubjay.code_index.bundle.paths import OPENED_FOLDER
from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.folder_policy import BUNDLE_FILE
from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.models import FileTrait, Language, Snapshot, SourceFile
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError, TooLarge
from scrubjay.core.progress import Reporter
from scrubjay.core.temporary_files import remove_abandoned, temporary_beside

# Limits against malicious bundles, far above any real one.
MAX_PACKED_BYTES = 2 * 1024**3
MAX_UNPACKED_BYTES = 8 * 1024**3
MAX_COMPRESSION_RATIO = 200
# A small bundle may always unpack to this many bytes.
MIN_UNPACKED_LIMIT = 64 * 1024**2
MAX_MEMBERS = 10_000
MAX_MAP_BYTES = 256 * 1024**2
MAX_MANIFEST_BYTES = 1024**2
MAX_LINE_BYTES = 16 * 1024**2
MAX_DEPTH = 64
MAX_TEXT_LENGTH = 4_096
# Memory limit of zstandard; its command-line tool has the same default.
MAX_WINDOW_BYTES = 1 << 27
REV = "bundle"

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LANGUAGES = frozenset(language.value for language in Language)
_READ_BYTES = 1 << 20


class BundleOrigin(NamedTuple):
    """The index and repository that a bundle names as its origin."""

    index_id: str
    root: str
    rev: str

    def as_data(self) -> dict[str, str]:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class OpenedBundle:
    """A bundle that was indexed and can be queried."""

    record: IndexRecord
    origin: BundleOrigin
    files: int
    without_text: int
    """Number of files whose text is not in the bundle."""


async def open_bundle(indexer: Indexer, path: Path, reporter: Reporter) -> OpenedBundle:
    """Index the bundle, without its repository; returns at once if it was opened before."""
    await reporter.report(0, 100, "acquire: checking the bundle")
    digest = await anyio.to_thread.run_sync(_checksum, path, abandon_on_cancel=True)
    home = indexer.folder / OPENED_FOLDER / digest[:32]
    unpacked = await anyio.to_thread.run_sync(lambda: _load_unpacked(path, home, indexer), abandon_on_cancel=True)
    same: dict[str, Any] = {one.name: getattr(indexer, one.name) for one in fields(Indexer)}
    own = BundleIndexer(**same, unpacked=unpacked, file=str(path))
    built = await own.build(unpacked.snapshot.root, REV, IndexOptions(), reporter)
    return OpenedBundle(built.record, unpacked.origin, len(unpacked.snapshot.files), unpacked.without_text)


@dataclass(frozen=True, slots=True)
class UnpackedBundle:
    """The texts of a bundle, written to a folder."""

    snapshot: Snapshot
    origin: BundleOrigin
    without_text: int


@dataclass
class BundleIndexer(Indexer):
    """Indexes exactly the files of a bundle, whatever ignore files say."""

    unpacked: UnpackedBundle = field(kw_only=True)
    file: str = field(kw_only=True)

    async def snapshot(self, root: str, rev: str, options: IndexOptions) -> Snapshot:
        return self.unpacked.snapshot

    def _record(
        self, index_id: str, rev: str, options: IndexOptions, snapshot: Snapshot, before: IndexRecord | None
    ) -> IndexRecord:
        record = super()._record(index_id, rev, options, snapshot, before)
        own = {"opened_from": self.unpacked.origin.as_data(), BUNDLE_FILE: self.file}
        return replace(record, details={**record.details, **own})


# -- unpacking -------------------------------------------------------------------------------------


def _checksum(path: Path) -> str:
    """Return the checksum of the file; raise `InvalidRequest` if it cannot be a bundle."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", hint="get_repo_bundle writes one and returns its path") from None
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise InvalidRequest(f"{path} is not a file", hint="give the path of a bundle.tar.zst")
    with os.fdopen(descriptor, "rb") as file:
        if found.st_size > MAX_PACKED_BYTES:
            raise TooLarge(f"{path} has more than {MAX_PACKED_BYTES} bytes")
        return hashlib.file_digest(file, "sha256").hexdigest()


def _load_unpacked(path: Path, home: Path, indexer: Indexer) -> UnpackedBundle:
    """Unpack the bundle into the folder `home`, unless that was done before, and return what it holds."""
    listing = home / "files.json"
    if not listing.is_file():
        remove_abandoned([home.parent])
        unfinished = temporary_beside(home)
        unfinished.mkdir(mode=0o700, parents=True)
        try:
            _unpack(path, unfinished, indexer)
            try:
                unfinished.rename(home)
            except OSError:  # another process was first
                if not listing.is_file():
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    listed = json.loads(listing.read_text("utf-8"))
    origin = BundleOrigin(**listed["origin"])
    files = [
        SourceFile(path, blob, size, Language(language), FileTrait(traits))
        for path, blob, size, language, traits in listed["files"]
    ]
    snapshot = Snapshot(
        root=str((home / "tree").resolve()),
        rev=REV,
        commit=origin.rev if _COMMIT.fullmatch(origin.rev) else None,
        files=files,
        is_git=False,
    )
    return UnpackedBundle(snapshot, origin, listed["without_text"])


def _unpack(path: Path, folder: Path, indexer: Indexer) -> None:
    with path.open("rb") as file:
        max_bytes = min(
            MAX_UNPACKED_BYTES, max(MIN_UNPACKED_LIMIT, os.fstat(file.fileno()).st_size * MAX_COMPRESSION_RATIO)
        )
        reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(file, read_size=_READ_BYTES)
        try:
            with tarfile.open(fileobj=cast(IO[bytes], _LimitedStream(reader.read, max_bytes)), mode="r|") as archive:
                _extract(archive, folder, indexer)
        except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
            raise _invalid_bundle(f"it cannot be unpacked ({type(error).__name__})") from None
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
            raise _invalid_bundle("it contains invalid JSON") from None


class _LimitedStream:
    """A stream that fails when it yields more than a limit."""

    def __init__(self, read: Callable[[int], bytes], max_bytes: int) -> None:
        self._read = read
        self._left = max_bytes

    def read(self, size: int) -> bytes:
        content = self._read(size)
        self._left -= len(content)
        if self._left < 0:
            raise TooLarge("the bundle unpacks to more bytes than a bundle may have")
        return content


def _extract(archive: tarfile.TarFile, folder: Path, indexer: Indexer) -> None:
    """Read the members once, in order; only three of them are used."""
    origin: BundleOrigin | None = None
    tree: _TextFolder | None = None
    done = False
    for number, member in enumerate(archive):
        if number >= MAX_MEMBERS:
            raise TooLarge(f"the bundle has more than {MAX_MEMBERS} members")
        _check_member(member)
        content = archive.extractfile(member) if member.isreg() else None
        if content is None:
            continue
        if member.name == "manifest.json":
            origin = _parse_origin(_read_json(content, member, MAX_MANIFEST_BYTES))
        elif member.name == PATHS["repomap"]:
            tree = _TextFolder(
                folder / "tree", _parse_files(_read_json(content, member, MAX_MAP_BYTES), indexer), indexer
            )
        elif member.name == PATHS["snippets"]:
            if tree is None:
                raise _invalid_bundle("its texts come before its list of files")
            tree.fill(_read_snippets(content))
            done = True
    if origin is None or tree is None or not done:
        raise _invalid_bundle(f"it lacks manifest.json, {PATHS['repomap']} or {PATHS['snippets']}")
    listing = {"origin": origin.as_data(), "files": tree.files(), "without_text": tree.without_text}
    (folder / "files.json").write_text(json.dumps(listing), "utf-8")


def _check_member(member: tarfile.TarInfo) -> None:
    """Refuse members that no bundle of ours has."""
    if not (member.isreg() or member.isdir()):
        raise _invalid_bundle(f"{_quoted(member.name)} is a link or a device")
    _check_path(member.name.rstrip("/"))


def _check_path(path: str) -> Sequence[str]:
    """Return the components of a path, which must stay inside its folder."""
    parts = path.split("/")
    if (
        path.startswith("/")
        or "\0" in path
        or len(parts) > MAX_DEPTH
        or any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
        or any(len(part.encode("utf-8", "surrogatepass")) > 255 for part in parts)
    ):
        raise _invalid_bundle(f"{_quoted(path)} is not a path inside a repository")
    return parts


def _read_json(content: IO[bytes], member: tarfile.TarInfo, max_bytes: int) -> Mapping[str, Any]:
    if member.size > max_bytes:
        raise TooLarge(f"{member.name} in the bundle has more than {max_bytes} bytes")
    found = json.loads(content.read())
    if not isinstance(found, dict):
        raise _invalid_bundle(f"{member.name} is not a JSON object")
    return cast(Mapping[str, Any], found)


def _parse_origin(manifest: Mapping[str, Any]) -> BundleOrigin:
    match manifest:
        case {"index_id": str(index_id), "repo": {"root": str(root), "rev": str(rev)}} if (
            max(map(len, (index_id, root, rev))) <= MAX_TEXT_LENGTH
        ):
            return BundleOrigin(_replace_invalid(index_id), _replace_invalid(root), _replace_invalid(rev))
        case _:
            raise _invalid_bundle("its manifest does not name its origin")


class _FileEntry(NamedTuple):
    language: Language
    traits: FileTrait
    empty: bool


def _parse_files(found: Mapping[str, Any], indexer: Indexer) -> dict[str, _FileEntry]:
    listed = found.get("files")
    if not isinstance(listed, list):
        raise _invalid_bundle(f"{PATHS['repomap']} lists no files")
    files = cast(list[Any], listed)
    if len(files) > indexer.limits.max_files:
        raise TooLarge(f"the bundle has more than {indexer.limits.max_files} files")
    entries: dict[str, _FileEntry] = {}
    for file in files:
        match file:
            case {"path": str(path), "language": str(language), "traits": int(traits), "empty": bool(empty)} if (
                language in _LANGUAGES and path not in entries and 0 <= traits <= sum(FileTrait)
            ):
                _check_path(path)
                path.encode()  # raises for text that is not Unicode
                entries[path] = _FileEntry(Language(language), FileTrait(traits), empty)
            case _:
                raise _invalid_bundle(f"{PATHS['repomap']} has an invalid or duplicate entry")
    return entries


class _BundledChunk(NamedTuple):
    """A piece of a file's text, as a line of the bundle's snippets."""

    path: str
    text: str


def _read_snippets(content: IO[bytes]) -> Iterator[_BundledChunk]:
    while line := content.readline(MAX_LINE_BYTES):
        if not line.endswith(b"\n"):
            raise TooLarge(f"a line of {PATHS['snippets']} has more than {MAX_LINE_BYTES} bytes, or is cut off")
        match json.loads(line):
            case {"path": str(path), "text": str(text), "blank": str(blank), "tail": str(tail)}:
                yield _BundledChunk(path, blank + text + tail)
            case _:
                raise _invalid_bundle(f"{PATHS['snippets']} has a line that is not a snippet")


class _TextFolder:
    """The folder that the texts are written to."""

    def __init__(self, root: Path, entries: Mapping[str, _FileEntry], indexer: Indexer) -> None:
        self._root = root
        self._entries = entries
        # Masking can lengthen a text, and each undecodable byte becomes three.
        self._max_length = 4 * indexer.limits.max_file_bytes
        self._written: dict[str, tuple[str, int]] = {}
        root.mkdir(mode=0o700)

    @property
    def without_text(self) -> int:
        return len(self._entries) - len(self._written)

    def fill(self, snippets: Iterator[_BundledChunk]) -> None:
        """Write all files; the snippets of a file must be consecutive."""
        path, parts, size = "", list[str](), 0
        for snippet in snippets:
            if snippet.path != path:
                self._write(path, parts)
                path, parts, size = snippet.path, [], 0
            size += len(snippet.text)
            if size > self._max_length:
                raise TooLarge(f"{_quoted(path)} in the bundle is larger than the limit for files")
            parts.append(snippet.text)
        self._write(path, parts)
        for path, entry in self._entries.items():
            if entry.empty:
                self._write(path, [])

    def files(self) -> list[tuple[str, str, int, str, int]]:
        return [
            (path, *self._written[path], entry.language, int(entry.traits))
            for path, entry in sorted(self._entries.items(), key=lambda item: item[0].encode())
            if path in self._written
        ]

    def _write(self, path: str, parts: Sequence[str]) -> None:
        if not path and not parts:  # before the first file
            return
        if path not in self._entries or path in self._written:
            raise _invalid_bundle(f"the text of {_quoted(path)} is duplicated, or not in the list of files")
        content = "".join(parts).encode("utf-8", "replace")
        target = self._root / PurePosixPath(path)
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except OSError as error:  # another file has the name of its folder, or the disk is full
            raise InvalidRequest(f"{_quoted(path)} of the bundle cannot be written: {error.strerror}") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        self._written[path] = blob_id(content), len(content)


def _invalid_bundle(why: str) -> ScrubjayError:
    return InvalidRequest(f"this bundle cannot be opened: {why}", hint="bundles are written by get_repo_bundle")


def _replace_invalid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _quoted(path: str) -> str:
    return repr(path.encode("utf-8", "backslashreplace").decode()[:100])
