"""Folders whose rules apply to an agent. Imports little, because hooks must start fast."""

import os
from collections.abc import Sequence
from pathlib import Path


def paths_of(folders: Sequence[str]) -> list[str]:
    """Return the folders and all their parents, with links resolved; the rules of all these projects apply.

    Not only the nearest project's: otherwise a new nested project would disable the rules around it.
    """
    found: dict[str, None] = {}
    for folder in folders:
        if folder and os.path.isabs(folder) and "\0" not in folder:  # noqa: PTH117
            path = Path(os.path.realpath(folder))
            found.update(dict.fromkeys(map(str, (path, *path.parents))))
    return [*found]
