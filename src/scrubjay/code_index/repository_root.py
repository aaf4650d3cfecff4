"""The folder of a repository, from a path that a caller gives."""

from collections.abc import Sequence
from pathlib import Path

from scrubjay.core.errors import Forbidden, InvalidRequest


def resolve_root(path: str, working_directory: str | None, allowed: Sequence[Path]) -> str:
    """Return the folder without links; raise `Forbidden` when it is in none of the allowed folders, if any are set."""
    if "\0" in path:
        raise InvalidRequest("path: contains a NUL character")
    given = Path(path).expanduser()
    if not given.is_absolute():
        if working_directory is None:
            raise InvalidRequest(f"{path!r} is relative, and it is not known to what", hint="give an absolute path")
        given = Path(working_directory) / given
    root = given.resolve()
    if allowed and not any(root.is_relative_to(folder) for folder in allowed):
        raise Forbidden(
            f"{root} is in none of the folders that this server may index", hint="SCRUBJAY_CODE_ROOTS names them"
        )
    return str(root)
