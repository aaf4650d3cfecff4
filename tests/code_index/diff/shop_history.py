"""A small shop with a history, whose changes touch definitions in every way."""

import subprocess
from pathlib import Path

STORE = '''USERS = {}


def load_user(name):
    """Read."""
    return USERS.get(name)


def save_user(name, user):
    for key in user:
        check(key)
    USERS[name] = user


def check(key):
    allowed = ("name", "mail", "age")
    return key in allowed


def count():
    return len(USERS)
'''
AUTH = """from shop.store import load_user, save_user


class Session:
    def __init__(self, name):
        self.name = name

    def login(self):
        return load_user(self.name)

    def register(self, user):
        save_user(self.name, user)


def enter(name):
    return Session(name).login()
"""
TESTS = """from shop.auth import Session, enter


def test_enter():
    assert enter("a") is None


def test_register():
    Session("a").register({})
"""
CART = """export function price(item: string): number {
  return item.length * 2;
}

export function total(items: string[]): number {
  return items.map(price).reduce((a, b) => a + b, 0);
}
"""
FIRST = {
    "shop/__init__.py": "",
    "shop/store.py": STORE,
    "shop/auth.py": AUTH,
    "tests/test_auth.py": TESTS,
    "web/cart.ts": CART,
    "README.md": "# Shop\n",
}
STORE_THEN = (
    "import os\n\n"
    + STORE.replace('def load_user(name):\n    """Read."""\n    return USERS.get(name)\n\n\n', "")
    .replace("save_user(name, user):", "save_user(name, user, *, force=False):")
    .replace("check(key)", "check_key(key)")
    .replace("return len(USERS)", "return len(USERS) + 0")
) + "\n\ndef fresh():\n    return 1\n"


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


def first_commit(root: Path) -> None:
    """Commit the first version of the shop."""
    write(root, FIRST)
    git(root, "init", "-q", "-b", "main")
    commit(root, "A shop")


def change_work_tree(root: Path) -> None:
    """Change the shop in the work tree."""
    write(root, {"shop/store.py": STORE_THEN, "shop/cart.ts": CART.replace("length * 2", "length * 3")})
    (root / "web/cart.ts").unlink()
