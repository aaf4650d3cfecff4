"""A bundle holds every documented part of one state, and no secret."""

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

from scrubjay.code_index.bundle import writer as writing
from scrubjay.code_index.bundle.writer import bundle, log, manifest, snippets_of
from scrubjay.code_index.models import Span
from scrubjay.code_index.service import CodeService
from scrubjay.core.errors import Cancelled, NotFound
from scrubjay.core.progress import SilentReporter
from tests.code_index.bundle.house import BESIDE, FILES, KEY, STORE, indexed, service, written

Parts = dict[str, bytes]


def unpacked(file: Path) -> Parts:
    content = zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {member.name: (archive.extractfile(member) or io.BytesIO()).read() for member in archive}


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


@pytest.fixture(scope="module")
async def code(tmp_path_factory: pytest.TempPathFactory, anyio_backend: str) -> AsyncGenerator[CodeService]:
    async with service(tmp_path_factory.mktemp("home")) as code:
        yield code


@pytest.fixture(scope="module")
async def index_id(tmp_path_factory: pytest.TempPathFactory, code: CodeService) -> str:
    return await indexed(code, written(tmp_path_factory.mktemp("shop"), {**FILES, **BESIDE}))


@pytest.fixture(scope="module")
async def parts(code: CodeService, index_id: str) -> Parts:
    return unpacked(await bundle(code, index_id, SilentReporter()))


def test_every_documented_part_is_there(parts: Parts) -> None:
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


def test_no_part_has_the_secret(parts: Parts) -> None:
    assert not [name for name, content in parts.items() if KEY.encode() in content]


async def test_the_manifest_inside_is_that_of_the_index(parts: Parts, code: CodeService, index_id: str) -> None:
    inside, told = json.loads(parts["manifest.json"]), await manifest(code, index_id)
    counts = inside["counts"]
    assert counts == told["counts"] | {
        "snippets": counts["chunks"],
        "files_without_text": 0,
        "vendor_types": 2,
        "vendor_sources": 2,
    }
    assert {**inside, "counts": None} == {**told, "counts": None}
    assert (told["counts"]["files_indexed"], told["config"]["languages"]) == (
        len(FILES),
        ["python", "text", "typescript"],
    )
    assert parts["log.md"].decode() == await log(code, index_id)
    assert json.loads(parts["status.json"])["state"] == "completed"


def test_vectors_are_as_documented_one_for_each_chunk(parts: Parts) -> None:
    content, chunks = parts["vectors.bin"], json.loads(parts["chunks.json"])
    count, dimension = struct.unpack_from("<II", content)
    assert (count, len(content)) == (len(chunks), 8 + 4 * count * dimension)
    first = struct.unpack_from(f"<{dimension}f", content, 8)
    assert sum(value * value for value in first) == pytest.approx(1, abs=0.01)
    told = json.loads(parts["leann.index"])
    assert (told["chunk_count"], told["dimension"], told["model_name"]) == (count, dimension, "static-v1")
    assert set(chunks[0]) == {"chunk_id", "path", "span", "lines", "token_count"}


def test_the_graph_says_who_defines_imports_and_calls_what(parts: Parts) -> None:
    graph = [line for line in lines(parts["serena_graph.jsonl"]) if line["path"] == "shop/shop.py"]
    shop = FILES["shop/shop.py"]

    def said(kind: str, symbol: str) -> dict[str, Any]:
        (found,) = [line for line in graph if (line["type"], line["symbol"]) == (kind, symbol)]
        return found

    sell = said("def", "Shop.sell")
    assert sell["sig"] == "def sell(self, name: str) -> str"
    assert shop[slice(*sell["span"])].startswith(b"def sell")
    call = said("call", "load")
    assert (call["caller"], call["callee"], call["line"]) == ("Shop.sell", "shop/store.py::load", 17)
    assert shop[slice(*call["span"])] == b"load"
    taken = said("import", "load")
    assert (taken["from_module"], shop[slice(*taken["span"])]) == (
        "shop.store",
        b"from shop.store import load",
    )
    fields = {"type", "symbol", "path", "span", "sig", "caller", "callee", "from_module"}
    assert all(fields <= {*line} and line["span"][0] < line["span"][1] for line in graph)


def test_the_map_ranks_files_and_says_which_use_which(parts: Parts) -> None:
    found = json.loads(parts["repomap.json"])
    files = {file["path"]: file for file in found["files"]}
    assert sum(file["rank"] for file in files.values()) == pytest.approx(1, abs=1e-6)
    assert files["shop/shop.py"]["dependencies"] == ["shop/store.py"]
    assert files["shop/store.py"]["rank"] > files["shop/shop.py"]["rank"]
    assert [path for path, file in files.items() if file["empty"]] == ["shop/__init__.py"]
    assert found["edges"] == [{"source": "shop/shop.py", "target": "shop/store.py", "weight": 1.0, "type": "import"}]


def test_snippets_have_their_lines_and_what_is_around_them(parts: Parts) -> None:
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


async def test_the_same_state_is_the_same_file(code: CodeService, index_id: str) -> None:
    file = await bundle(code, index_id, SilentReporter())
    content, moment = file.read_bytes(), file.stat().st_mtime_ns
    assert (await bundle(code, index_id, SilentReporter())).stat().st_mtime_ns == moment
    (file.parent / writing.STATE).unlink()
    assert (await bundle(code, index_id, SilentReporter())).read_bytes() == content
    assert file.stat().st_mtime_ns != moment


class Impatient:
    """Asks the work to stop at its second step."""

    def __init__(self) -> None:
        self.steps = 0

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        self.steps += 1
        if self.steps > 1:
            raise Cancelled("enough")


async def test_a_bundle_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    root = written(tmp_path / "shop", FILES)
    async with service(tmp_path / "home") as code:
        index_id = await indexed(code, root)
        await code.load(index_id)
        folder = code.indexer.folder / index_id
        killed = folder / "writing-killed"
        killed.mkdir()
        before = {path.name for path in folder.iterdir()} - {killed.name}
        with pytest.raises(Cancelled):
            await bundle(code, index_id, Impatient())
        assert {path.name for path in folder.iterdir()} == before
        # A file that changed since it was indexed has no text that could be told.
        (root / "shop/store.py").write_text("changed = True\n")
        inside = json.loads(unpacked(await bundle(code, index_id, SilentReporter()))["manifest.json"])
        assert inside["counts"]["files_without_text"] == 1
        # The next state has its own bundle.
        await indexed(code, root)
        inside = json.loads(unpacked(await bundle(code, index_id, SilentReporter()))["manifest.json"])
        assert (inside["generation"], inside["counts"]["files_without_text"]) == (2, 0)


async def test_nothing_is_made_for_an_index_that_is_not_there(code: CodeService) -> None:
    before = {path.name for path in code.indexer.folder.iterdir()}
    with pytest.raises(NotFound):
        await bundle(code, "idx_none", SilentReporter())
    assert {path.name for path in code.indexer.folder.iterdir()} == before


async def test_what_is_kept_beside_an_index_goes_with_it(tmp_path: Path) -> None:
    root = written(tmp_path / "shop", FILES)
    async with service(tmp_path / "home") as code:
        file = await bundle(code, await indexed(code, root), SilentReporter())
        assert await code.clean_up() == 0
        assert file.exists()
        shutil.rmtree(root)
        assert await code.clean_up() == 1
        assert not file.parent.exists()


def test_a_text_in_which_something_was_masked_is_still_whole() -> None:
    text = f'\n\na = 1\n\nKEY = "{KEY}"\n\n\nb = 2\n\n'
    starts = [text.index(part) for part in ("a = 1", "KEY", "b = 2")]
    spans = [Span(starts[0], starts[0] + 5, 3, 3), Span(starts[1], starts[1] + 28, 5, 5), Span(starts[2], 43, 8, 8)]
    found = [*snippets_of("a.py", text.encode(), spans)]
    whole = "".join(snippet["blank"] + snippet["text"] + snippet["tail"] for snippet in found)
    assert KEY not in json.dumps(found)
    assert (whole.count("\n"), whole.startswith("\n\na = 1\n\nKEY = "), whole.endswith("\n\n\nb = 2\n\n")) == (
        text.count("\n"),
        True,
        True,
    )
