"""Opens a bundle from anywhere: its texts become a folder of our own, which is indexed like any other.

Nothing in a bundle is believed but names and texts. What they come to (definitions, uses, vectors) is found anew: so a
bundle can neither hold what a reader of ours would stumble over, nor speak for the contents of other indexes.
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

from scrubjay.code_index.bundle.manifest import PATHS
from scrubjay.code_index.index.indexer import Indexer, IndexOptions
from scrubjay.code_index.models import FileTrait, Language, Snapshot, SourceFile
from scrubjay.code_index.store import IndexRecord
from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError, TooLarge
from scrubjay.core.progress import Reporter

# Of the bundle, of what it unpacks to, and how much more that may be: no real one comes near.
MOST_PACKED = 2 * 1024**3
MOST_UNPACKED = 8 * 1024**3
MOST_TIMES = 200
# A small bundle may unpack to this, whatever its size.
ALWAYS_UNPACKED = 64 * 1024**2
MOST_MEMBERS = 10_000
MOST_MAP_BYTES = 256 * 1024**2
MOST_MANIFEST_BYTES = 1024**2
MOST_LINE_BYTES = 16 * 1024**2
MOST_DEPTH = 64
MOST_LETTERS = 4_096
# Of zstandard's memory: what its own programs allow.
MOST_WINDOW = 1 << 27
REV = "bundle"
OPENED = "opened"

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LANGUAGES = frozenset(language.value for language in Language)
_READ = 1 << 20


class Origin(NamedTuple):
    """What a bundle says of where it comes from."""

    index_id: str
    root: str
    rev: str

    def as_data(self) -> dict[str, str]:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Opened:
    """A bundle that can be asked."""

    record: IndexRecord
    origin: Origin
    files: int
    without_text: int
    """Files whose text the bundle does not have."""


async def open_bundle(indexer: Indexer, path: Path, reporter: Reporter) -> Opened:
    """Make the bundle an index of its own, without the repository; at once when it was opened before."""
    await reporter.report(0, 100, "acquire: checking the bundle")
    digest = await anyio.to_thread.run_sync(_checksum, path, abandon_on_cancel=True)
    home = indexer.folder / OPENED / digest[:32]
    unpacked = await anyio.to_thread.run_sync(lambda: _unpacked(path, home, indexer), abandon_on_cancel=True)
    same: dict[str, Any] = {one.name: getattr(indexer, one.name) for one in fields(Indexer)}
    own = BundleIndexer(**same, unpacked=unpacked)
    built = await own.build(unpacked.snapshot.root, REV, IndexOptions(), reporter)
    return Opened(built.record, unpacked.origin, len(unpacked.snapshot.files), unpacked.without_text)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The texts of a bundle in a folder."""

    snapshot: Snapshot
    origin: Origin
    without_text: int


@dataclass
class BundleIndexer(Indexer):
    """Indexes what a bundle held, exactly that, whatever ignore files say."""

    unpacked: Unpacked = field(kw_only=True)

    async def snapshot(self, root: str, rev: str, options: IndexOptions) -> Snapshot:
        return self.unpacked.snapshot

    def _record(
        self, index_id: str, rev: str, options: IndexOptions, snapshot: Snapshot, before: IndexRecord | None
    ) -> IndexRecord:
        record = super()._record(index_id, rev, options, snapshot, before)
        return replace(record, details={**record.details, "opened_from": self.unpacked.origin.as_data()})


# -- from the bundle into a folder -----------------------------------------------------------------


def _checksum(path: Path) -> str:
    """The file's own; `InvalidRequest` for what cannot be a bundle."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", hint="get_repo_bundle tells where one was written") from None
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise InvalidRequest(f"{path} is no file", hint="give the path of a bundle.tar.zst")
    with os.fdopen(descriptor, "rb") as file:
        if found.st_size > MOST_PACKED:
            raise TooLarge(f"{path} has more than {MOST_PACKED} bytes")
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpacked(path: Path, home: Path, indexer: Indexer) -> Unpacked:
    """What the bundle holds, in the folder `home`; read from there when it was unpacked before."""
    listing = home / "files.json"
    if not listing.is_file():
        unfinished = home.with_name(f"{home.name}.{os.urandom(4).hex()}")
        unfinished.mkdir(mode=0o700, parents=True)
        try:
            _unpack(path, unfinished, indexer)
            try:
                unfinished.rename(home)
            except OSError:  # another process was faster
                if not listing.is_file():
                    raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    told = json.loads(listing.read_text("utf-8"))
    origin = Origin(**told["origin"])
    files = [
        SourceFile(path, blob, size, Language(language), FileTrait(traits))
        for path, blob, size, language, traits in told["files"]
    ]
    snapshot = Snapshot(
        root=str((home / "tree").resolve()),
        rev=REV,
        commit=origin.rev if _COMMIT.fullmatch(origin.rev) else None,
        files=files,
        is_git=False,
    )
    return Unpacked(snapshot, origin, told["without_text"])


def _unpack(path: Path, folder: Path, indexer: Indexer) -> None:
    import zstandard

    with path.open("rb") as file:
        most = min(MOST_UNPACKED, max(ALWAYS_UNPACKED, os.fstat(file.fileno()).st_size * MOST_TIMES))
        reader = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW).stream_reader(file, read_size=_READ)
        try:
            with tarfile.open(fileobj=cast(IO[bytes], _Bounded(reader.read, most)), mode="r|") as archive:
                _take(archive, folder, indexer)
        except (zstandard.ZstdError, tarfile.TarError, EOFError) as error:
            raise _no_bundle(f"it cannot be unpacked ({type(error).__name__})") from None
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
            raise _no_bundle("it holds something else than JSON") from None


class _Bounded:
    """A stream that is refused when more comes out of it than anybody would put in."""

    def __init__(self, read: Callable[[int], bytes], most: int) -> None:
        self._read = read
        self._left = most

    def read(self, size: int) -> bytes:
        content = self._read(size)
        self._left -= len(content)
        if self._left < 0:
            raise TooLarge("the bundle unpacks to far more than a bundle holds")
        return content


def _take(archive: tarfile.TarFile, folder: Path, indexer: Indexer) -> None:
    """Go through the members once, as they stand; only three of them are read."""
    origin: Origin | None = None
    tree: _Tree | None = None
    done = False
    for number, member in enumerate(archive):
        if number >= MOST_MEMBERS:
            raise TooLarge(f"the bundle has more than {MOST_MEMBERS} members")
        _refuse_strange(member)
        content = archive.extractfile(member) if member.isreg() else None
        if content is None:
            continue
        if member.name == "manifest.json":
            origin = _origin(_json(content, member, MOST_MANIFEST_BYTES))
        elif member.name == PATHS["repomap"]:
            tree = _Tree(folder / "tree", _entries(_json(content, member, MOST_MAP_BYTES), indexer), indexer)
        elif member.name == PATHS["snippets"]:
            if tree is None:
                raise _no_bundle("its texts come before its files")
            tree.fill(_snippets(content))
            done = True
    if origin is None or tree is None or not done:
        raise _no_bundle(f"it lacks manifest.json, {PATHS['repomap']} or {PATHS['snippets']}")
    told = {"origin": origin.as_data(), "files": tree.files(), "without_text": tree.without_text}
    (folder / "files.json").write_text(json.dumps(told), "utf-8")


def _refuse_strange(member: tarfile.TarInfo) -> None:
    """Members that no bundle of ours has: whoever made them wants something else than to be searched."""
    if not (member.isreg() or member.isdir()):
        raise _no_bundle(f"{_shown(member.name)} is a link or a device")
    _safe_parts(member.name.rstrip("/"))


def _safe_parts(path: str) -> Sequence[str]:
    """The parts of a path that stays where it is put."""
    parts = path.split("/")
    if (
        path.startswith("/")
        or "\0" in path
        or len(parts) > MOST_DEPTH
        or any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
        or any(len(part.encode("utf-8", "surrogatepass")) > 255 for part in parts)
    ):
        raise _no_bundle(f"{_shown(path)} is no path within a repository")
    return parts


def _json(content: IO[bytes], member: tarfile.TarInfo, most: int) -> Mapping[str, Any]:
    if member.size > most:
        raise TooLarge(f"{member.name} in the bundle has more than {most} bytes")
    found = json.loads(content.read())
    if not isinstance(found, dict):
        raise _no_bundle(f"{member.name} is no JSON object")
    return cast(Mapping[str, Any], found)


def _origin(manifest: Mapping[str, Any]) -> Origin:
    match manifest:
        case {"index_id": str(index_id), "repo": {"root": str(root), "rev": str(rev)}} if (
            max(map(len, (index_id, root, rev))) <= MOST_LETTERS
        ):
            return Origin(_clean(index_id), _clean(root), _clean(rev))
        case _:
            raise _no_bundle("its manifest does not say what it is of")


class _Entry(NamedTuple):
    language: Language
    traits: FileTrait
    empty: bool


def _entries(found: Mapping[str, Any], indexer: Indexer) -> dict[str, _Entry]:
    listed = found.get("files")
    if not isinstance(listed, list):
        raise _no_bundle(f"{PATHS['repomap']} lists no files")
    files = cast(list[Any], listed)
    if len(files) > indexer.limits.max_files:
        raise TooLarge(f"the bundle has more than {indexer.limits.max_files} files")
    entries: dict[str, _Entry] = {}
    for file in files:
        match file:
            case {"path": str(path), "language": str(language), "traits": int(traits), "empty": bool(empty)} if (
                language in _LANGUAGES and path not in entries and 0 <= traits <= sum(FileTrait)
            ):
                _safe_parts(path)
                path.encode()  # text that is not Unicode is refused
                entries[path] = _Entry(Language(language), FileTrait(traits), empty)
            case _:
                raise _no_bundle(f"{PATHS['repomap']} lists something that is no file, or one twice")
    return entries


class _Snippet(NamedTuple):
    path: str
    text: str


def _snippets(content: IO[bytes]) -> Iterator[_Snippet]:
    while line := content.readline(MOST_LINE_BYTES):
        if not line.endswith(b"\n"):
            raise TooLarge(f"a line of {PATHS['snippets']} has more than {MOST_LINE_BYTES} bytes, or is cut off")
        match json.loads(line):
            case {"path": str(path), "text": str(text), "blank": str(blank), "tail": str(tail)}:
                yield _Snippet(path, blank + text + tail)
            case _:
                raise _no_bundle(f"{PATHS['snippets']} has a line that is no snippet")


class _Tree:
    """The folder that the texts are put into; nobody else writes there."""

    def __init__(self, root: Path, entries: Mapping[str, _Entry], indexer: Indexer) -> None:
        self._root = root
        self._entries = entries
        # Masking can make a text longer, and what could not be read becomes three bytes.
        self._most = 4 * indexer.limits.max_file_bytes
        self._written: dict[str, tuple[str, int]] = {}
        root.mkdir(mode=0o700)

    @property
    def without_text(self) -> int:
        return len(self._entries) - len(self._written)

    def fill(self, snippets: Iterator[_Snippet]) -> None:
        """Write all files; the snippets of each come one after the other."""
        path, parts, size = "", list[str](), 0
        for snippet in snippets:
            if snippet.path != path:
                self._write(path, parts)
                path, parts, size = snippet.path, [], 0
            size += len(snippet.text)
            if size > self._most:
                raise TooLarge(f"{_shown(path)} in the bundle is larger than any file that is read")
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
        from scrubjay.code_index.discovery.contents import blob_id

        if not path and not parts:  # before the first
            return
        if path not in self._entries or path in self._written:
            raise _no_bundle(f"the text of {_shown(path)} comes twice, or of no file of the bundle")
        content = "".join(parts).encode("utf-8", "replace")
        target = self._root / PurePosixPath(path)
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except OSError as error:  # one path is a folder of the other, or the disk is full
            raise InvalidRequest(f"{_shown(path)} of the bundle cannot be written: {error.strerror}") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        self._written[path] = blob_id(content), len(content)


def _no_bundle(why: str) -> ScrubjayError:
    return InvalidRequest(f"this is no bundle that can be opened: {why}", hint="get_repo_bundle writes bundles")


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _shown(path: str) -> str:
    return repr(path.encode("utf-8", "backslashreplace").decode()[:100])
