"""A small repository with everything that a bundle can contain, and helpers that index it."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from scrubjay.code_index.index.indexer import Indexer
from scrubjay.code_index.index.options import IndexOptions
from scrubjay.code_index.service import CodeService
from scrubjay.core.progress import SilentReporter
from scrubjay.features.code.sqlite import SqliteCode

KEY = "AKIA" + "Z7QXW3ELKT5RNM2B"
SHOP = f'''"""Sells things."""

import os

import yaml

from shop.store import load


KEY = "{KEY}"


class Shop:
    """Where things are sold."""

    def sell(self, name: str) -> str:
        return load(name)
'''
STORE = '''

def load(name: str) -> str:
    """What is kept under a name."""
    return name


'''
FILES: Mapping[str, bytes] = {
    ".gitignore": b"node_modules/\n.venv/\nignored.py\n",
    "shop/__init__.py": b"",
    "shop/shop.py": SHOP.encode(),
    "shop/store.py": STORE.encode(),
    "shop/latin.py": b"# caf\xe9\nlatin = 1\n",
    "web/cart.ts": b'import { map } from "lodash/fp";\nexport const cart = map(1);\n',
}
INSTALLED: Mapping[str, bytes] = {
    "node_modules/lodash/fp.js": b"module.exports = {};\n",
    "node_modules/lodash/node_modules/deep/deep.js": b"too deep\n",
    "node_modules/@types/lodash/index.d.ts": b"export declare const map: any;\n",
    "node_modules/unused/index.js": b"nobody imports this\n",
    ".venv/lib/python3.11/site-packages/yaml/__init__.py": f'TOKEN = "{KEY}"\n'.encode(),
    ".venv/lib/python3.11/site-packages/yaml/__init__.pyi": b"def load(text: str) -> object: ...\n",
}


def write_files(root: Path, files: Mapping[str, bytes]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root.resolve()


@asynccontextmanager
async def open_service(home: Path) -> AsyncGenerator[CodeService]:
    store = await SqliteCode.open(home)
    try:
        yield CodeService(store, Indexer(store, home / "code"))
    finally:
        await store.close()


async def build_index(code: CodeService, root: Path) -> str:
    """Bring the index of this folder up to date and return its id."""
    return (await code.indexer.build(str(root), "HEAD", IndexOptions(), SilentReporter())).record.id
