"""Spool of hook calls, one file each: hooks never wait for the store, and a process that has it open stores them."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scrubjay.core.ids import new_id
from scrubjay.features.hooks.models import HookCall, HookEvent

FOLDER = "hooks"
# Limits disk use when no process ever reads the spool.
MAX_SPOOLED = 10_000
# A call taken longer ago than this belongs to a process that died; another process may take it.
ABANDONED_SECONDS = 120.0
_READY, _TAKEN = ".json", ".taken"


def spool_call(home: Path, call: HookCall) -> bool:
    """Write a call to the spool atomically; return False if the spool is full."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sum(1 for _ in folder.iterdir()) >= MAX_SPOOLED:
        return False
    name = new_id("hook")
    unfinished = folder / f"{name}.tmp"
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        fields = asdict(call)
        del fields["code_reader"]  # spooled calls are stored, not answered
        json.dump({"at": time.time(), "call": fields}, file, ensure_ascii=False)
    unfinished.rename(folder / f"{name}{_READY}")
    return True


def take(home: Path) -> Iterator[tuple[str, float, HookCall]]:
    """Yield key, Unix time and data of the spooled calls, oldest first.

    One process gets each call. A call is deleted when the next one is requested.
    """
    folder = home / FOLDER
    _reclaim_abandoned(folder)
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
            continue  # another process took it
        if (spooled := _read(taken)) is not None:
            yield name.removesuffix(_READY), *spooled
        taken.unlink(missing_ok=True)


def put_back(home: Path, key: str) -> None:
    """Return a call that could not be stored to the spool."""
    taken = home / FOLDER / f"{key}{_TAKEN}"
    try:
        taken.rename(taken.with_suffix(_READY))
    except FileNotFoundError:
        return


def _reclaim_abandoned(folder: Path) -> None:
    """Return the calls of processes that died to the spool, and remove calls that were not written completely."""
    for unfinished in folder.glob("*.tmp"):
        with suppress(FileNotFoundError):
            if time.time() - unfinished.stat().st_mtime > ABANDONED_SECONDS:
                unfinished.unlink()
    for taken in folder.glob(f"*{_TAKEN}"):
        try:
            if time.time() - taken.stat().st_mtime > ABANDONED_SECONDS:
                taken.rename(taken.with_suffix(_READY))
        except FileNotFoundError:
            continue


def _read(file: Path) -> tuple[float, HookCall] | None:
    """Return time and call of a spool file, or None if the file is invalid."""
    try:
        data: dict[str, Any] = json.loads(file.read_text("utf-8"))
        fields: dict[str, Any] = dict(data["call"])
        fields |= {"event": HookEvent(fields["event"]), "folders": tuple(fields["folders"])}
        return float(data["at"]), HookCall(**fields)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
