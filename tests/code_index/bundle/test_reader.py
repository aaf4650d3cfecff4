"""A bundle can be opened without its repository, and a malformed one is rejected."""

import io
import json
import os
import shutil
import tarfile
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from scrubjay.code_index.bundle import reader
from scrubjay.code_index.bundle.reader import BundleOrigin, open_bundle
from scrubjay.code_index.bundle.writer import bundle_manifest, write_bundle
from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.search.ranker import SignalToggles
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError, TooLarge
from scrubjay.core.progress import SilentReporter
from tests.code_index.bundle.sample_repository import FILES, KEY, build_index, open_service, write_files

MANIFEST: dict[str, Any] = {"index_id": "idx_a", "repo": {"root": "/apollo", "rev": "HEAD"}}


def entry(path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "language": "python", "traits": 0, "empty": False, **more}


def snippet(path: str, text: str = "a = 1\n", **more: Any) -> dict[str, Any]:
    return {"path": path, "text": text, "blank": "", "tail": "", **more}


def members(*snippets: Mapping[str, Any], files: list[Any] | None = None, **changed: bytes | None) -> dict[str, bytes]:
    """Return the members of a bundle with these texts; `changed` replaces or removes some."""
    listed = [entry(one["path"]) for one in snippets] if files is None else files
    contents: dict[str, bytes | None] = {
        "manifest.json": json.dumps(MANIFEST).encode(),
        "repomap.json": json.dumps({"files": listed}).encode(),
        "snippets.jsonl": b"".join(json.dumps(one).encode() + b"\n" for one in snippets),
    } | {name.replace("_", "."): content for name, content in changed.items()}
    return {name: content for name, content in contents.items() if content is not None}


def write_archive(path: Path, parts: Mapping[str, bytes], *extra: tarfile.TarInfo) -> Path:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for member in extra:
            tar.addfile(member)
        for name, content in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    path.write_bytes(zstandard.ZstdCompressor().compress(archive.getvalue()))
    return path


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture(scope="module")
async def code(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncGenerator[CodeService]:
    async with open_service(tmp_path_factory.mktemp("home")) as code:
        yield code


async def test_a_bundle_opened_elsewhere_gives_the_same_results(tmp_path: Path) -> None:
    root = write_files(tmp_path / "root", FILES)
    async with open_service(tmp_path / "home root") as code:
        index_id = await build_index(code, root)
        counts = (await bundle_manifest(code, index_id))["counts"]
        file = shutil.copy(await write_bundle(code, index_id, SilentReporter()), tmp_path / "bundle.tar.zst")
    shutil.rmtree(root)
    async with open_service(tmp_path / "home here") as code:
        opened = await open_bundle(code.indexer, Path(file), SilentReporter())
        assert (opened.origin, opened.files, opened.without_text) == (
            BundleOrigin(index_id, str(root), "HEAD"),
            len(FILES),
            0,
        )
        assert (await bundle_manifest(code, opened.record.id))["counts"] == counts
        found = await code.search(
            opened.record.id, "what is kept under a name", limit=1, toggles=SignalToggles(), context_lines=2
        )
        assert [hit.file.path for hit in found] == ["shop/store.py"]
        assert found[0].file.content.blob == blob_id(FILES["shop/store.py"])
        assert "def load" in found[0].excerpt.text
        loaded = await code.load(opened.record.id)
        (load,) = loaded.names.find("load")
        assert [link.line for link in (await code.use_graph(loaded)).users_of(load)] == [17]
        assert (
            KEY not in (await code.content(loaded, loaded.corpus.files[loaded.corpus.row_of["shop/shop.py"]])).decode()
        )
        again = await open_bundle(code.indexer, Path(file), SilentReporter())
        assert again == opened
        # A bundle of the opened index has the same counts.
        inside = await write_bundle(code, opened.record.id, SilentReporter())
        third = await open_bundle(code.indexer, inside, SilentReporter())
        assert (await bundle_manifest(code, third.record.id))["counts"] == counts


@pytest.mark.parametrize(
    "path",
    [
        *("../a.py", "/a.py", "a/../../b.py", "", ".", "a//b", "a/./b", "a\0b", ".git/config", "x/.GIT/hooks/a"),
        *("a" * 256, "/".join("a" * 65)),
    ],
)
async def test_a_path_that_leads_out_of_the_folder_is_rejected(tmp_path: Path, code: CodeService, path: str) -> None:
    file = write_archive(tmp_path / "b", members(snippet(path)))
    await assert_rejected(code, file, InvalidRequest, "not a path inside a repository")


@pytest.mark.parametrize(
    "strange",
    [
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("hard", tarfile.LNKTYPE, "manifest.json"),
        member("pipe", tarfile.FIFOTYPE),
        member("device", tarfile.CHRTYPE),
        member("../up", tarfile.REGTYPE),
        member("types/../../up", tarfile.REGTYPE),
    ],
    ids=lambda one: one.name,
)
async def test_links_and_devices_are_rejected(tmp_path: Path, code: CodeService, strange: tarfile.TarInfo) -> None:
    await assert_rejected(
        code,
        write_archive(tmp_path / "b", members(snippet("a.py")), strange),
        InvalidRequest,
        "bundle cannot be opened",
    )


@pytest.mark.parametrize(
    "parts",
    [
        {},
        members(snippet("a.py"), manifest_json=None),
        members(snippet("a.py"), repomap_json=None),
        members(snippet("a.py"), snippets_jsonl=None),
        members(snippet("a.py"), manifest_json=b"[]"),
        members(snippet("a.py"), manifest_json=b"{"),
        members(snippet("a.py"), manifest_json=b"\xff"),
        members(snippet("a.py"), manifest_json=b'{"index_id": 1}'),
        members(snippet("a.py"), repomap_json=b'{"files": {}}'),
        members(snippet("a.py"), repomap_json=b"[" * 100_000),
        members(snippet("a.py"), snippets_jsonl=b"{}\n"),
        members(snippet("a.py"), files=[]),
        members(snippet("a.py"), files=[entry("a.py"), entry("a.py")]),
        members(snippet("a.py"), files=[entry("a.py", language="cobol")]),
        members(snippet("a.py"), files=[entry("a.py", traits=-1)]),
        members(snippet("a.py"), files=[entry("a.py", traits=256)]),
        members(snippet("a.py"), files=[entry("a.py", empty=True)]),
        members(snippet("a.py"), files=["a.py"]),
        members(snippet("a.py"), snippet("b.py"), snippet("a.py"), files=[entry("a.py"), entry("b.py")]),
        members(snippet("a"), snippet("a/b"), files=[entry("a"), entry("a/b")]),
        dict(reversed(members(snippet("a.py")).items())),
    ],
)
async def test_a_malformed_bundle_is_rejected(tmp_path: Path, code: CodeService, parts: Mapping[str, bytes]) -> None:
    await assert_rejected(code, write_archive(tmp_path / "b", parts), InvalidRequest, "bundle")


@pytest.mark.parametrize("content", [b"", b"no zstandard", zstandard.compress(b"no archive"), zstandard.compress(b"")])
async def test_an_invalid_archive_is_rejected(tmp_path: Path, code: CodeService, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    await assert_rejected(code, tmp_path / "b", InvalidRequest, "bundle cannot be opened")


async def test_a_truncated_bundle_is_rejected(tmp_path: Path, code: CodeService) -> None:
    file = write_archive(tmp_path / "b", members(snippet("a.py", os.urandom(50_000).hex())))
    file.write_bytes(file.read_bytes()[:-100])
    await assert_rejected(code, file, InvalidRequest, "bundle")


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("MAX_PACKED_BYTES", 10),
        ("MIN_UNPACKED_LIMIT", 1_000),
        ("MAX_MEMBERS", 1),
        ("MAX_MAP_BYTES", 10),
        ("MAX_MANIFEST_BYTES", 10),
        ("MAX_LINE_BYTES", 100),
    ],
)
async def test_a_bundle_above_a_limit_is_rejected(
    tmp_path: Path, code: CodeService, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(reader, limit, value)
    await assert_rejected(
        code, write_archive(tmp_path / "b", members(snippet("a.py", "a" * 100_000))), TooLarge, "more"
    )


async def test_a_file_above_the_size_limit_is_rejected(tmp_path: Path, code: CodeService) -> None:
    parts = [snippet("a.py", "a" * 1_500_000) for _ in range(4)]
    file = write_archive(tmp_path / "b", members(*parts, files=[entry("a.py")]))
    await assert_rejected(code, file, TooLarge, "a.py")


async def test_a_path_that_is_not_a_file_is_rejected(tmp_path: Path, code: CodeService) -> None:
    os.mkfifo(tmp_path / "pipe")
    await assert_rejected(code, tmp_path / "pipe", InvalidRequest, "not a file")
    await assert_rejected(code, tmp_path, InvalidRequest, "not a file")
    await assert_rejected(code, tmp_path / "none", NotFound, "no file")


async def assert_rejected(code: CodeService, file: Path, kind: type[ScrubjayError], message: str) -> None:
    """Check that opening fails and leaves nothing behind."""
    with pytest.raises(kind, match=message):
        await open_bundle(code.indexer, file, SilentReporter())
    assert not [*(code.indexer.folder / reader.OPENED_FOLDER).glob("*")]
    assert not await code.store.indexes()
