"""The folders that an agent is in. Loads little: hooks ask in a hurry."""

import os
from collections.abc import Sequence
from pathlib import Path


def paths_of(folders: Sequence[str]) -> list[str]:
    """The folders and all that they are in, without links: rules of each of these projects hold.

    Not only those of the nearest project: else to make one inside would switch the rules around it off.
    """
    found: dict[str, None] = {}
    for folder in folders:
        if folder and os.path.isabs(folder) and "\0" not in folder:  # noqa: PTH117
            path = Path(os.path.realpath(folder))
            found.update(dict.fromkeys(map(str, (path, *path.parents))))
    return [*found]
