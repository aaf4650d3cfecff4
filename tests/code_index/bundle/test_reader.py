"""A bundle can be opened where the repository is not, and one with anything strange in it is refused."""

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

from scrubjay.code_index.bundle import reader as opening
from scrubjay.code_index.bundle.reader import Origin, open_bundle
from scrubjay.code_index.bundle.writer import bundle, manifest
from scrubjay.code_index.discovery.contents import blob_id
from scrubjay.code_index.search.ranker import Toggles
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import InvalidRequest, NotFound, ScrubjayError, TooLarge
from scrubjay.core.progress import SilentReporter
from tests.code_index.bundle.house import FILES, KEY, indexed, service, written

MANIFEST: dict[str, Any] = {"index_id": "idx_a", "repo": {"root": "/apollo", "rev": "HEAD"}}


def entry(path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "language": "python", "traits": 0, "empty": False, **more}


def snippet(path: str, text: str = "a = 1\n", **more: Any) -> dict[str, Any]:
    return {"path": path, "text": text, "blank": "", "tail": "", **more}


def members(*snippets: Mapping[str, Any], files: list[Any] | None = None, **changed: bytes | None) -> dict[str, bytes]:
    """The members of a bundle with these texts; `changed` puts others in their place, or takes them out."""
    listed = [entry(one["path"]) for one in snippets] if files is None else files
    whole: dict[str, bytes | None] = {
        "manifest.json": json.dumps(MANIFEST).encode(),
        "repomap.json": json.dumps({"files": listed}).encode(),
        "snippets.jsonl": b"".join(json.dumps(one).encode() + b"\n" for one in snippets),
    } | {name.replace("_", "."): content for name, content in changed.items()}
    return {name: content for name, content in whole.items() if content is not None}


def packed(path: Path, parts: Mapping[str, bytes], *strange: tarfile.TarInfo) -> Path:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for member in strange:
            tar.addfile(member)
        for name, content in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    path.write_bytes(zstandard.ZstdCompressor().compress(archive.getvalue()))
    return path


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


@pytest.fixture(scope="module")
async def code(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncGenerator[CodeService]:
    async with service(tmp_path_factory.mktemp("home")) as code:
        yield code


async def test_what_was_indexed_there_is_found_here(tmp_path: Path) -> None:
    there = written(tmp_path / "there", FILES)
    async with service(tmp_path / "home there") as code:
        index_id = await indexed(code, there)
        counts = (await manifest(code, index_id))["counts"]
        file = shutil.copy(await bundle(code, index_id, SilentReporter()), tmp_path / "bundle.tar.zst")
    shutil.rmtree(there)
    async with service(tmp_path / "home here") as code:
        opened = await open_bundle(code.indexer, Path(file), SilentReporter())
        assert (opened.origin, opened.files, opened.without_text) == (
            Origin(index_id, str(there), "HEAD"),
            len(FILES),
            0,
        )
        assert (await manifest(code, opened.record.id))["counts"] == counts
        found = await code.search(
            opened.record.id, "what is kept under a name", limit=1, toggles=Toggles(), context_lines=2
        )
        assert [hit.file.path for hit in found] == ["shop/store.py"]
        assert found[0].file.content.blob == blob_id(FILES["shop/store.py"])
        assert "def load" in found[0].extract.text
        loaded = await code.load(opened.record.id)
        (load,) = loaded.names.find("load")
        assert [link.line for link in (await code.links(loaded)).to(load)] == [17]
        assert (
            KEY not in (await code.content(loaded, loaded.corpus.files[loaded.corpus.row_of["shop/shop.py"]])).decode()
        )
        again = await open_bundle(code.indexer, Path(file), SilentReporter())
        assert again == opened
        # It can be bundled itself, and is then still the same.
        inside = await bundle(code, opened.record.id, SilentReporter())
        third = await open_bundle(code.indexer, inside, SilentReporter())
        assert (await manifest(code, third.record.id))["counts"] == counts


@pytest.mark.parametrize(
    "path",
    [
        *("../a.py", "/a.py", "a/../../b.py", "", ".", "a//b", "a/./b", "a\0b", ".git/config", "x/.GIT/hooks/a"),
        *("a" * 256, "/".join("a" * 65)),
    ],
)
async def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, code: CodeService, path: str) -> None:
    file = packed(tmp_path / "b", members(snippet(path)))
    await refused(code, file, InvalidRequest, "no path within a repository")


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
async def test_members_that_no_bundle_has_are_refused(
    tmp_path: Path, code: CodeService, strange: tarfile.TarInfo
) -> None:
    await refused(code, packed(tmp_path / "b", members(snippet("a.py")), strange), InvalidRequest, "no bundle")


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
async def test_what_is_not_a_bundle_of_ours_is_refused(
    tmp_path: Path, code: CodeService, parts: Mapping[str, bytes]
) -> None:
    await refused(code, packed(tmp_path / "b", parts), InvalidRequest, "bundle")


@pytest.mark.parametrize("content", [b"", b"no zstandard", zstandard.compress(b"no archive"), zstandard.compress(b"")])
async def test_what_cannot_be_unpacked_is_refused(tmp_path: Path, code: CodeService, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    await refused(code, tmp_path / "b", InvalidRequest, "no bundle")


async def test_a_bundle_that_was_cut_off_is_refused(tmp_path: Path, code: CodeService) -> None:
    file = packed(tmp_path / "b", members(snippet("a.py", os.urandom(50_000).hex())))
    file.write_bytes(file.read_bytes()[:-100])
    await refused(code, file, InvalidRequest, "bundle")


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("MOST_PACKED", 10),
        ("ALWAYS_UNPACKED", 1_000),
        ("MOST_MEMBERS", 1),
        ("MOST_MAP_BYTES", 10),
        ("MOST_MANIFEST_BYTES", 10),
        ("MOST_LINE_BYTES", 100),
    ],
)
async def test_more_than_any_bundle_holds_is_refused(
    tmp_path: Path, code: CodeService, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(opening, limit, value)
    await refused(code, packed(tmp_path / "b", members(snippet("a.py", "a" * 100_000))), TooLarge, "more")


async def test_a_file_larger_than_any_that_is_read_is_refused(tmp_path: Path, code: CodeService) -> None:
    parts = [snippet("a.py", "a" * 1_500_000) for _ in range(4)]
    file = packed(tmp_path / "b", members(*parts, files=[entry("a.py")]))
    await refused(code, file, TooLarge, "a.py")


async def test_what_is_no_file_is_refused(tmp_path: Path, code: CodeService) -> None:
    os.mkfifo(tmp_path / "pipe")
    await refused(code, tmp_path / "pipe", InvalidRequest, "no file")
    await refused(code, tmp_path, InvalidRequest, "no file")
    await refused(code, tmp_path / "none", NotFound, "no file")


async def refused(code: CodeService, file: Path, kind: type[ScrubjayError], why: str) -> None:
    """It is refused, and nothing is left of it."""
    with pytest.raises(kind, match=why):
        await open_bundle(code.indexer, file, SilentReporter())
    assert not [*(code.indexer.folder / opening.OPENED).glob("*")]
    assert not await code.store.indexes()
