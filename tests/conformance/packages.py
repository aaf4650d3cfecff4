"""Install the official MCP programs and the Node.js that they run on; `make test` does this in parallel."""

import fcntl
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"


def install() -> None:
    """Install the packages unless those of the lock file are installed."""
    installed = MODULES / ".installed-lock.json"
    lock = (HERE / "package-lock.json").read_text()
    with (HERE / "package-lock.json").open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # other test workers wait for the first
        if not installed.exists() or installed.read_text() != lock:
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
            subprocess.run(command, cwd=HERE, check=True, timeout=600)
            installed.write_text(lock)


if __name__ == "__main__":
    install()
