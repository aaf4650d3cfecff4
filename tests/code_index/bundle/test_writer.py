"""A bundle contains every documented part of one state of an index, and no secret."""

import hashlib
import io
import json
import shutil
import struct
import tarfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from scrubjay.code_index.bundle import writer
from scrubjay.code_index.bundle.writer import bundle_log, bundle_manifest, make_snippets, write_bundle
from scrubjay.code_index.models import Span
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Cancelled, NotFound
from scrubjay.core.progress import SilentReporter
from tests.code_index.bundle.sample_repository import (
    FILES,
    INSTALLED,
    KEY,
    STORE,
    build_index,
    open_service,
    write_files,
)

Parts = dict[str, bytes]


def read_archive(file: Path) -> Parts:
    content = zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {member.name: (archive.extractfile(member) or io.BytesIO()).read() for member in archive}


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


@pytest.fixture(scope="module")
async def code(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncGenerator[CodeService]:
    async with open_service(tmp_path_factory.mktemp("home")) as code:
        yield code


@pytest.fixture(scope="module")
async def index_id(tmp_path_factory: pytest.TempPathFactory, code: CodeService) -> str:
    return await build_index(code, write_files(tmp_path_factory.mktemp("shop"), {**FILES, **INSTALLED}))


@pytest.fixture(scope="module")
async def parts(code: CodeService, index_id: str) -> Parts:
    return read_archive(await write_bundle(code, index_id, SilentReporter()))


def test_every_documented_part_is_present(parts: Parts) -> None:
    assert list(parts) == [
        "manifest.json",
        "status.json",
        "log.md",
        "events.jsonl",
        "repomap.json",
        "chunks.json",
        "leann.index",
        "serena_graph.jsonl",
        "snippets.jsonl",
        "vectors.bin",
        "types/@types/lodash/index.d.ts",
        "types/yaml/__init__.pyi",
        "vendor_src/lodash/fp.js",
        "vendor_src/yaml/__init__.py",
    ]


def test_no_part_contains_the_secret(parts: Parts) -> None:
    assert not [name for name, content in parts.items() if KEY.encode() in content]


async def test_the_manifest_in_the_bundle_equals_that_of_the_index(
    parts: Parts, code: CodeService, index_id: str
) -> None:
    bundled, manifest = json.loads(parts["manifest.json"]), await bundle_manifest(code, index_id)
    counts = bundled["counts"]
    assert counts == manifest["counts"] | {
        "snippets": counts["chunks"],
        "files_without_text": 0,
        "vendor_types": 2,
        "vendor_sources": 2,
    }
    assert {**bundled, "counts": None} == {**manifest, "counts": None}
    assert (manifest["counts"]["files_indexed"], manifest["config"]["languages"]) == (
        len(FILES),
        ["python", "text", "typescript"],
    )
    assert parts["log.md"].decode() == await bundle_log(code, index_id)
    assert json.loads(parts["status.json"])["state"] == "completed"


def test_there_is_one_vector_per_chunk_in_the_documented_format(parts: Parts) -> None:
    content, chunks = parts["vectors.bin"], json.loads(parts["chunks.json"])
    count, dimension = struct.unpack_from("<II", content)
    assert (count, len(content)) == (len(chunks), 8 + 4 * count * dimension)
    first = struct.unpack_from(f"<{dimension}f", content, 8)
    assert sum(value * value for value in first) == pytest.approx(1, abs=0.01)
    header = json.loads(parts["leann.index"])
    assert (header["chunk_count"], header["dimension"], header["model_name"]) == (count, dimension, "static-v1")
    assert set(chunks[0]) == {"chunk_id", "path", "span", "lines", "token_count"}


def test_the_graph_contains_definitions_imports_and_calls(parts: Parts) -> None:
    graph = [line for line in lines(parts["serena_graph.jsonl"]) if line["path"] == "shop/shop.py"]
    shop = FILES["shop/shop.py"]

    def entry(kind: str, symbol: str) -> dict[str, Any]:
        (found,) = [line for line in graph if (line["type"], line["symbol"]) == (kind, symbol)]
        return found

    sell = entry("def", "Shop.sell")
    assert sell["sig"] == "def sell(self, name: str) -> str"
    assert shop[slice(*sell["span"])].startswith(b"def sell")
    call = entry("call", "load")
    assert (call["caller"], call["callee"], call["line"]) == ("Shop.sell", "shop/store.py::load", 17)
    assert shop[slice(*call["span"])] == b"load"
    imported = entry("import", "load")
    assert (imported["from_module"], shop[slice(*imported["span"])]) == (
        "shop.store",
        b"from shop.store import load",
    )
    fields = {"type", "symbol", "path", "span", "sig", "caller", "callee", "from_module"}
    assert all(fields <= {*line} and line["span"][0] < line["span"][1] for line in graph)


def test_the_map_ranks_files_and_lists_their_dependencies(parts: Parts) -> None:
    found = json.loads(parts["repomap.json"])
    files = {file["path"]: file for file in found["files"]}
    assert sum(file["rank"] for file in files.values()) == pytest.approx(1, abs=1e-6)
    assert files["shop/shop.py"]["dependencies"] == ["shop/store.py"]
    assert files["shop/store.py"]["rank"] > files["shop/shop.py"]["rank"]
    assert [path for path, file in files.items() if file["empty"]] == ["shop/__init__.py"]
    assert found["edges"] == [{"source": "shop/shop.py", "target": "shop/store.py", "weight": 1.0, "type": "import"}]


def test_snippets_have_line_numbers_and_context(parts: Parts) -> None:
    (snippet,) = [line for line in lines(parts["snippets.jsonl"]) if line["path"] == "shop/store.py"]
    text = STORE.strip("\n")
    assert snippet == {
        "path": "shop/store.py",
        "span": [2, 2 + len(text)],
        "hash": hashlib.sha256(text.encode()).hexdigest(),
        "pre": "\n",
        "text": text,
        "post": "\n\n",
        "line_start": 3,
        "line_end": 5,
        "blank": "\n\n",
        "tail": "\n\n\n",
    }


async def test_an_unchanged_index_gives_an_identical_bundle(code: CodeService, index_id: str) -> None:
    file = await write_bundle(code, index_id, SilentReporter())
    content, moment = file.read_bytes(), file.stat().st_mtime_ns
    assert (await write_bundle(code, index_id, SilentReporter())).stat().st_mtime_ns == moment
    (file.parent / writer.STATE_FILE).unlink()
    assert (await write_bundle(code, index_id, SilentReporter())).read_bytes() == content
    assert file.stat().st_mtime_ns != moment


class CancelAtSecondStep:
    """A reporter that cancels the work at its second report."""

    def __init__(self) -> None:
        self.steps = 0

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self.steps += 1
        if self.steps > 1:
            raise Cancelled("enough")


async def test_a_cancelled_bundle_leaves_no_files(tmp_path: Path) -> None:
    root = write_files(tmp_path / "shop", FILES)
    async with open_service(tmp_path / "home") as code:
        index_id = await build_index(code, root)
        await code.load(index_id)
        folder = code.indexer.folder / index_id
        killed = folder / "writing-killed"
        killed.mkdir()
        before = {path.name for path in folder.iterdir()} - {killed.name}
        with pytest.raises(Cancelled):
            await write_bundle(code, index_id, CancelAtSecondStep())
        assert {path.name for path in folder.iterdir()} == before
        # A file that changed since it was indexed has no text.
        (root / "shop/store.py").write_text("changed = True\n")
        inside = json.loads(read_archive(await write_bundle(code, index_id, SilentReporter()))["manifest.json"])
        assert inside["counts"]["files_without_text"] == 1
        # The next state has a bundle of its own.
        await build_index(code, root)
        inside = json.loads(read_archive(await write_bundle(code, index_id, SilentReporter()))["manifest.json"])
        assert (inside["generation"], inside["counts"]["files_without_text"]) == (2, 0)


async def test_an_unknown_index_creates_no_files(code: CodeService) -> None:
    before = {path.name for path in code.indexer.folder.iterdir()}
    with pytest.raises(NotFound):
        await write_bundle(code, "idx_none", SilentReporter())
    assert {path.name for path in code.indexer.folder.iterdir()} == before


async def test_the_bundle_is_deleted_with_its_index(tmp_path: Path) -> None:
    root = write_files(tmp_path / "shop", FILES)
    async with open_service(tmp_path / "home") as code:
        file = await write_bundle(code, await build_index(code, root), SilentReporter())
        assert await code.clean_up() == 0
        assert file.exists()
        shutil.rmtree(root)
        assert await code.clean_up() == 1
        assert not file.parent.exists()


def test_a_masked_text_keeps_all_of_its_lines() -> None:
    text = f'\n\na = 1\n\nKEY = "{KEY}"\n\n\nb = 2\n\n'
    starts = [text.index(part) for part in ("a = 1", "KEY", "b = 2")]
    spans = [Span(starts[0], starts[0] + 5, 3, 3), Span(starts[1], starts[1] + 28, 5, 5), Span(starts[2], 43, 8, 8)]
    found = [*make_snippets("a.py", text.encode(), spans)]
    whole = "".join(snippet["blank"] + snippet["text"] + snippet["tail"] for snippet in found)
    assert KEY not in json.dumps(found)
    assert (whole.count("\n"), whole.startswith("\n\na = 1\n\nKEY = "), whole.endswith("\n\n\nb = 2\n\n")) == (
        text.count("\n"),
        True,
        True,
    )
