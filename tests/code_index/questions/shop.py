"""A small shop in Python and TypeScript, whose code the tests ask about."""

from pathlib import Path

FILES = {
    "shop/__init__.py": "",
    "shop/settings.py": '''"""What can be set."""

import os

SESSION_TTL = int(os.environ.get("SESSION_TTL", "3600"))
DEBUG = os.getenv("SHOP_DEBUG") == "1"
''',
    "shop/errors.py": '''class ShopError(Exception):
    """Anything that goes wrong in the shop."""


class UserNotFoundError(ShopError):
    """Nobody is called like that."""
''',
    "shop/store.py": '''"""Keeps users."""

from shop.errors import UserNotFoundError

USERS: dict[str, str] = {}


def load_user(name: str) -> str:
    """The password of a user. It is kept as it is."""
    if name not in USERS:
        raise UserNotFoundError(name)
    return USERS[name]
''',
    "shop/auth.py": '''"""Authentication: who may come in."""

from shop.errors import UserNotFoundError
from shop.settings import SESSION_TTL
from shop.store import load_user


def validate_password(name: str, password: str) -> bool:
    """Whether this is the password of that user."""
    return load_user(name) == password


class Session:
    """Somebody who came in."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds = SESSION_TTL

    def login(self, password: str) -> bool:
        """Let a user in."""
        try:
            return validate_password(self.name, password)
        except UserNotFoundError:
            return False
''',
    "shop/handlers.py": '''"""Answers requests."""

from shop.auth import Session
from shop.errors import ShopError


def handle_login(request):
    try:
        return Session(request.name).login(request.password)
    except ShopError:
        raise ValueError("no")


def warm_up(caches):
    for cache in caches:
        cache.refill_now()
''',
    "shop/cache.py": """class Cache:
    def refill_now(self):
        return []
""",
    "tests/test_auth.py": """from shop.auth import Session


def test_login():
    assert not Session("nobody").login("x")
""",
    "web/errors.ts": "export class UserNotFoundError extends Error {}\n",
    "web/AuthService.ts": """import { UserNotFoundError } from "./errors";
import { UserStore } from "./UserStore";

/** Lets users in. */
export class AuthService {
  constructor(private readonly store: UserStore) {}

  validatePassword(name: string, password: string): boolean {
    const user = this.store.findByName(name);
    if (!user) {
      throw new UserNotFoundError(name);
    }
    return user.password === password;
  }

  authenticate(name: string, password: string): boolean {
    return this.validatePassword(name, password);
  }
}
""",
    "web/UserStore.ts": """export interface User {
  name: string;
  password: string;
}

export class UserStore {
  private users: User[] = [];
  private readonly url = process.env.DATABASE_URL;

  findByName(name: string): User | undefined {
    return this.users.find((user) => user.name === name);
  }
}
""",
    "web/login.ts": """import { AuthService } from "./AuthService";
import { UserNotFoundError } from "./errors";

export function loginHandler(service: AuthService, name: string, password: string): string {
  try {
    return service.authenticate(name, password) ? "welcome" : "wrong";
  } catch (error) {
    if (error instanceof UserNotFoundError) {
      return "unknown";
    }
    throw error;
  }
}

export function changePassword(service: AuthService, name: string, old: string): boolean {
  return service.validatePassword(name, old);
}
""",
    "web/main.ts": """import { AuthService } from "./AuthService";
import { UserStore } from "./UserStore";

export function start(): AuthService {
  return new AuthService(new UserStore());
}
""",
    "config.yaml": """session:
  cookie_name: shop
DATABASE_URL: sqlite
""",
}


def write_shop(root: Path) -> None:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
