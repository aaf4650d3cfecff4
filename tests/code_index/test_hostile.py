"""Hostile repositories are indexed safely."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from scrubjay.code_index.discovery.limits import IndexLimits
from scrubjay.code_index.facts.packing import unpack_edges
from scrubjay.code_index.index.worker_pool import WorkerPool
from scrubjay.code_index.search.ranker import SignalToggles
from scrubjay.core.errors import InvalidRequest, NotFound, TooLarge
from tests.code_index.discovery.repository import commit, git, new_repository, write
from tests.code_index.indexes import Home, opened


@pytest.fixture
async def home(tmp_path: Path) -> AsyncGenerator[Home]:
    async with opened(tmp_path / "home") as home:
        yield home


async def paths(home: Home, root: Path, rev: str = "HEAD") -> list[str]:
    return [*await home.store.paths((await home.build(root, rev=rev)).record.id)]


async def test_a_thousand_tiny_files_are_indexed_and_a_repository_with_more_files_than_allowed_is_refused(
    home: Home, tmp_path: Path
):
    root = tmp_path / "folder"
    write(root, {f"d{number % 50}/f{number}.txt": f"{number % 700}\n" for number in range(1_000)})
    built = await home.build(root)
    assert (built.record.details["files"], len(await home.store.paths(built.record.id))) == (1_000, 1_000)
    async with opened(tmp_path / "home", limits=IndexLimits(max_files=999)) as strict:
        with pytest.raises(TooLarge, match="more than 999 files"):
            await strict.build(root)


async def test_a_file_of_ninety_megabytes_is_left_out_and_costs_nothing(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def a(): pass\n"})
    with (root / "large.py").open("wb") as large:
        large.truncate(90_000_000)
    built = await home.build(root)
    assert await home.store.paths(built.record.id) == ["a.py"]
    assert [tuple(entry) for entry in built.snapshot.skipped] == [("large.py", "larger than 1,000,000 bytes")]


NESTED = {
    "a.py": b"(",
    "a.tsx": b"{",
    "a.go": b"(",
    "a.rs": b"[",
    "a.java": b"{",
    "a.cpp": b"(",
    "a.rb": b"(",
    "a.json": b"[",
    "a.yaml": b"[",
}


async def test_a_hundred_thousand_brackets_are_indexed_or_reported_as_unparsed_in_every_language_family(tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {path: bracket * 100_000 for path, bracket in NESTED.items()})
    write(root, {"endless.scala": b"[" * 100_000, "fine.py": "def fine(): pass\n"})
    async with opened(tmp_path / "home", WorkerPool(2, file_seconds=0.5)) as home:
        built = await home.build(root)
        assert await home.store.paths(built.record.id) == sorted([*NESTED, "endless.scala", "fine.py"])
        assert built.record.details["unparsed"]["endless.scala"] == "took too long"
        assert (await home.found(built, "fine"))[0] == "fine.py"


async def test_very_long_inheritance_nesting_and_call_chains_are_resolved(home: Home, tmp_path: Path):
    count = 1_200
    root = tmp_path / "folder"
    write(
        root,
        {
            "inherits.py": "".join(f"class A{n + 1}(A{n}): pass\n" for n in range(count)) + f"A{count}().m()\n",
            "inherits.ts": "".join(f"class A{n + 1} extends A{n} {{}}\n" for n in range(count))
            + f"new A{count}().m()\n",
            "nested.js": "function f(){" * count + "}" * count,
            "returns.py": "".join(f"def f{n}(): return f{n + 1}()\n" for n in range(count)),
            "circle.py": "from circle import *\nclass A(B): pass\nclass B(A): pass\nA().x()\n",
            "chain.py": "a" + ".b" * 10_000 + "()\n",
        },
    )
    built = await home.build(root)
    assert (built.record.details["files"], built.record.details["unparsed"]) == (6, {})


async def test_symbolic_links_are_not_followed(home: Home, tmp_path: Path):
    secret = tmp_path / "outside"
    write(secret, {"stolen.py": "def stolen(): pass\n"})
    root = new_repository(tmp_path / "repository", {"a/real.py": "def real(): pass\n"})
    (root / "a" / "loop").symlink_to(root, target_is_directory=True)
    (root / "self.py").symlink_to("self.py")
    (root / "out.py").symlink_to(secret / "stolen.py")
    (root / "out").symlink_to(secret, target_is_directory=True)
    assert await paths(home, root) == ["a/real.py"]
    commit(root, "Links")
    assert await paths(home, root, rev="main") == ["a/real.py"]
    assert await paths(home, root) == ["a/real.py"]


async def test_a_file_replaced_by_a_link_during_indexing_is_not_followed(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    write(tmp_path / "outside", {"a.py": "def a(): pass\n"})

    class Swapping:
        async def report(self, done: float, total: float | None = None, message: str = "") -> None:
            if message.startswith("read") and not (root / "a.py").is_symlink():
                (root / "a.py").unlink()
                (root / "a.py").symlink_to(tmp_path / "outside" / "a.py")

    built = await home.build(root, reporter=Swapping())
    assert await home.store.paths(built.record.id) == ["b.py"]


async def test_contents_and_names_that_are_not_utf8_are_indexed_and_found(home: Home, tmp_path: Path):
    root = new_repository(tmp_path / "repository")
    names = [b"new\nline.py", b"bro\xffken.py", b'quo"te.py', b"tab\t.py", "größe.py".encode(), b"-rf.py", b"a b.py"]
    for number, name in enumerate(names):
        write(root, {os.fsdecode(name): b"def f%d(:\n  x = '\xff\xfe'\n" % number})
    expected = sorted(os.fsdecode(name) for name in names)
    assert sorted(await paths(home, root)) == expected
    commit(root, "Names")
    built = await home.build(root, rev="main")
    assert sorted(await home.store.paths(built.record.id)) == expected
    assert len(built.record.details["broken"]) == len(names)
    assert set(await home.found(built, "f3")) <= set(expected)


async def test_a_root_folder_whose_name_is_not_utf8_is_rejected(home: Home, tmp_path: Path):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/fol\xffder"))
    write(root, {"a.py": "def a(): pass\n"})
    with pytest.raises(InvalidRequest, match=r"fol\\udcffder is not UTF-8"):
        await home.build(root)


async def test_empty_and_bare_repositories_and_repositories_without_commits_are_indexed(home: Home, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    assert await paths(home, folder) == []
    empty = new_repository(tmp_path / "empty")
    assert await paths(home, empty) == []
    with pytest.raises(NotFound, match="no commit"):
        await home.build(empty, rev="main")
    write(empty, {"a.py": "def a(): pass\n", "nothing.py": ""})
    assert await paths(home, empty) == ["a.py", "nothing.py"]
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "--quiet", "--bare", str(new_repository(tmp_path / "full", {"b.py": "b = 1\n"})), str(bare))
    assert await paths(home, bare) == ["b.py"]
    assert await home.found(await home.build(bare), "b") == ["b.py"]
    with pytest.raises(NotFound, match="no folder"):
        await home.build(tmp_path / "missing")


SECRETS = {
    "PASSWORD": "tr0ub4dor-Horse-9!battery",
    "TOKEN": "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8",
    "KEY": "AKIA" + "J7Q4ZK2M5XW3T6VB",
    "LINE": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
}
LEAKING = {
    "a.py": """\"\"\"Uses {TOKEN}.\"\"\"
PASSWORD = "{PASSWORD}"

@route("{TOKEN}")
def login(password="{PASSWORD}", token="{TOKEN}"):
    \"\"\"With {KEY}.\"\"\"
    known = {{"{TOKEN}": "{KEY}"}}
    return known["{TOKEN}"].get(password="{PASSWORD}").{TOKEN}()
""",
    "a.ts": """// {TOKEN}
import x from "https://example.com/{TOKEN}"
export const token = "{TOKEN}"
export class A {{ key = "{KEY}"; ["{TOKEN}"]() {{}} {TOKEN}() {{}} }}
login({{ "{TOKEN}": "{KEY}" }})["{TOKEN}"].{TOKEN}()
""",
    "a.go": 'package a\n\nimport "example.com/{TOKEN}"\n\n// {KEY}\nconst Token = "{TOKEN}"\n',
    "a.json": '{{"token": "{TOKEN}", "{TOKEN}": {{"aws": "{KEY}"}}, "password": "{PASSWORD}"}}\n',
    "a.yaml": "password: {PASSWORD}\n{TOKEN}:\n  key: {KEY}\n",
    "a.md": "# Login with {TOKEN}\n\npassword: {PASSWORD}\n\n## {KEY}\n\ntext\n",
    "a.sh": 'export TOKEN="{TOKEN}"\nlogin --password "{PASSWORD}"\n',
    "a.rs": '/// {TOKEN}\npub const KEY: &str = "{KEY}";\n',
    "a.html": '<div id="{TOKEN}">{KEY}</div>\n',
    "a.css": "#{TOKEN} {{ color: red }}\n",
    "key.txt": "-----BEGIN PRIVATE KEY-----\n" + "{LINE}\n" * 80 + "-----END PRIVATE KEY-----\n",
    "empty.py": "",
}


async def test_secrets_of_files_are_neither_stored_nor_returned(home: Home, tmp_path: Path):
    root = tmp_path / "folder"
    write(root, {path: content.format(**SECRETS) for path, content in LEAKING.items()})
    built = await home.build(root)
    hits = await home.code.search(
        built.record.id, "private key login", limit=20, toggles=SignalToggles(), context_lines=20
    )
    shown = {hit.file.path: repr(hit.excerpt) for hit in hits}
    files = await home.store.files(built.record.id)
    facts = {path: repr(own) for path, own in (await home.indexer.facts(files)).items()}
    packed = await home.store.edges(built.record.id)
    edges = {path: repr(unpack_edges(own)) for path, own in packed.items()}
    stored_bytes = {str(file): file.read_bytes().decode("latin-1") for file in files_of(tmp_path / "home")}
    assert (len(facts), "key.txt" in shown, len(stored_bytes) > 1) == (12, True, True)
    leaks = [
        (name, path)
        for texts in (shown, facts, edges, stored_bytes)
        for path, text in texts.items()
        for name, secret in SECRETS.items()
        if secret in text
    ]
    assert leaks == []


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
