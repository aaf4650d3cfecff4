"""What hooks leave behind for a process that has the store open: one small file each, so that no agent ever waits."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.features.hooks.models import HookCall, HookEvent

FOLDER = "hooks"
# When nobody ever comes for them, no more are left: a disk is not for what nobody reads.
MOST_WAITING = 10_000
# What a process took and did not finish by then, it never will.
TAKEN_SECONDS = 120.0
_READY, _TAKEN = ".json", ".taken"


def leave(home: Path, call: HookCall) -> bool:
    """Leave what an agent told, whole or not at all; False when too much is waiting already."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sum(1 for _ in folder.iterdir()) >= MOST_WAITING:
        return False
    name = new_id("hook")
    unfinished = folder / f"{name}.tmp"
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({"at": time.time(), "call": asdict(call)}, file, ensure_ascii=False)
    unfinished.rename(folder / f"{name}{_READY}")
    return True


def take(home: Path) -> Iterator[tuple[str, float, HookCall]]:
    """What was left, in order: its key, when it was told, and what. Each is given to one process, and gone after."""
    folder = home / FOLDER
    _give_back(folder)
    try:
        names = sorted(file.name for file in folder.iterdir() if file.name.endswith(_READY))
    except FileNotFoundError:
        return
    for name in names:
        taken = folder / f"{name.removesuffix(_READY)}{_TAKEN}"
        try:
            (folder / name).rename(taken)
            os.utime(taken)
        except FileNotFoundError:
            continue  # another process was faster
        if (told := _read(taken)) is not None:
            yield name.removesuffix(_READY), *told
        taken.unlink(missing_ok=True)


def give_back(home: Path, key: str) -> None:
    """What could not be kept now is there for the next time."""
    taken = home / FOLDER / f"{key}{_TAKEN}"
    try:
        taken.rename(taken.with_suffix(_READY))
    except FileNotFoundError:
        return


def _give_back(folder: Path) -> None:
    """Let others have what a process took that was killed meanwhile."""
    for taken in folder.glob(f"*{_TAKEN}"):
        try:
            if time.time() - taken.stat().st_mtime > TAKEN_SECONDS:
                taken.rename(taken.with_suffix(_READY))
        except FileNotFoundError:
            continue


def _read(file: Path) -> tuple[float, HookCall] | None:
    """What a file tells; None when it is none of ours."""
    try:
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
        fields: dict[str, Any] = dict(told["call"])
        fields |= {"event": HookEvent(fields["event"]), "folders": tuple(fields["folders"])}
        return float(told["at"]), HookCall(**fields)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
