"""Whether another process still runs."""

from pathlib import Path


def is_alive(pid: int) -> bool:
    """Return False for a process that has ended, even if nobody has waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended between opening and reading
        return False
