"""Installing and uninstalling: which files change, and how."""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from scrubjay.app.install import jsonc, toml_text
from scrubjay.app.install.agents import (
    HOOKS,
    NAME,
    Wish,
    configuration_file,
    entry,
    hook_groups,
    hooks_file,
    merged,
    our_handlers,
    servers_name,
)
from scrubjay.app.install.file_change import Change, Edit, carry_out, plan
from scrubjay.core.errors import InvalidRequest

RECORD = "installed.json"


def changes_to_install(wish: Wish, environment: Mapping[str, str]) -> list[Change]:
    """What has to change so that the agent uses us; changes that are not needed are among them."""
    _refuse_unfit(wish)
    changes = [plan(configuration_file(wish, environment), lambda text: _with_server(text, wish))]
    if wish.hooks:
        changes.append(plan(hooks_file(wish, environment), lambda text: _with_hooks(text, wish)))
    return changes


def changes_to_uninstall(wish: Wish, environment: Mapping[str, str], record: Mapping[str, Any]) -> list[Change]:
    """What has to change so that nothing of ours is left: what we added, and what we made for it if it is empty."""
    files: list[tuple[Path, Edit]] = [(configuration_file(wish, environment), partial(_without_server, wish=wish))]
    if wish.agent == "claude-code":
        files.append((hooks_file(wish, environment), _without_hooks))
    changes: list[Change] = []
    for file, edit in files:
        if not file.exists():
            continue
        made = record.get(str(file), {})
        change = plan(file, partial(_without_ours, edit=edit, made=made.get("paths", ())))
        if change.is_needed and made.get("file") and (change.after or "").strip() in ("", "{}"):
            change = Change(file, change.before, None)
        elif change.is_needed and made.get("text") == _digest(change.before):  # as we left it
            was = _copy_without_ours(made.get("backup"), edit)
            change = Change(file, change.before, change.after if was is None else was)
        changes.append(change)
    return changes


def _copy_without_ours(backup: str | None, edit: Edit) -> str | None:
    """What was there before we came, when it is still known and had nothing of ours."""
    try:
        text = Path(backup).read_bytes().decode() if backup else None
        return text if text is not None and (not text.strip() or edit(text) == text) else None
    except (OSError, ValueError):
        return None


def carry_out_all(changes: list[Change], home: Path, *, installs: bool) -> list[Path]:
    """Write what is needed, and note what was made for us; the copies of what was there before."""
    record, backups = read_record(home), list[Path]()
    for change in changes:
        if not change.is_needed:
            continue
        if backup := carry_out(change):
            backups.append(backup)
        if not installs:
            record.pop(str(change.file), None)
        elif (known := record.get(str(change.file))) is None:
            text = {"text": _digest(change.after), "backup": str(backup) if backup else None}
            record[str(change.file)] = {**_made(change), **text}
        elif known.get("text") == _digest(change.before):  # as we left it
            known["text"] = _digest(change.after)
        else:
            known.pop("text", None)
        _write_record(home, record)
    return backups


def read_record(home: Path) -> dict[str, Any]:
    """What we made in files of agents beside our own part, as far as it is known."""
    try:
        found = json.loads((home / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _write_record(home: Path, record: Mapping[str, Any]) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = home / f".{RECORD}.{os.getpid()}"
    unfinished.write_text(json.dumps(record, indent=1), "utf-8")
    unfinished.replace(home / RECORD)


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def _refuse_unfit(wish: Wish) -> None:
    if wish.hooks and wish.agent != "claude-code":
        raise InvalidRequest(f"{wish.agent} is not known to have hooks that we can answer", hint="leave --hooks out")
    if wish.url is not None and not wish.url.startswith(("http://", "https://")):
        raise InvalidRequest(f"{wish.url!r} is no address", hint="such as http://127.0.0.1:4000/mcp")
    if wish.key_env is not None and not wish.key_env.isidentifier():
        raise InvalidRequest("the key is named by a variable, never written into a file", hint="--key-env NAME")


def _with_server(text: str, wish: Wish) -> str:
    path = (servers_name(wish.agent), NAME)
    if wish.agent == "codex":
        return toml_text.put_table(text, path, merged(toml_text.table_at(text, path), entry(wish)))
    return jsonc.put(text, path, merged(jsonc.value_at(text, path), entry(wish)))


def _without_server(text: str, wish: Wish) -> str:
    path = (servers_name(wish.agent), NAME)
    return toml_text.remove_table(text, path) if wish.agent == "codex" else jsonc.remove(text, path)


def _with_hooks(text: str, wish: Wish) -> str:
    for moment, group in hook_groups(wish).items():
        path = ("hooks", moment)
        present: Any = jsonc.value_at(text, path) or []
        if not isinstance(present, list):
            raise ValueError(f"hooks.{moment} is no list")
        if [one for one in present if our_handlers(one)] == [group]:  # pyright: ignore[reportUnknownVariableType]
            continue
        text = jsonc.append(_without_hooks_at(text, moment), path, group)
    return text


def _without_hooks(text: str) -> str:
    for moment in HOOKS:
        text = _without_hooks_at(text, moment)
    return text


def _without_hooks_at(text: str, moment: str) -> str:
    """Without our handlers, and without groups that have no others."""
    path = ("hooks", moment)
    present: Any = jsonc.value_at(text, path)
    for place, group in reversed([*enumerate(present)]) if isinstance(present, list) else ():  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        ours = our_handlers(group)
        if ours and len(ours) == len(cast(dict[str, list[Any]], group)["hooks"]):
            text = jsonc.remove(text, path, place)
        else:
            for handler in reversed(ours):
                text = jsonc.remove(text, (*path, str(place), "hooks"), handler)
    return text


def _made(change: Change) -> dict[str, Any]:
    """Which objects and lists a change makes on the way to our part, innermost first."""
    if change.file.suffix == ".toml":
        return {"file": change.before is None, "paths": []}
    before: Any = jsonc.parse(change.before) if change.before and change.before.strip() else {}
    after: Any = jsonc.parse(change.after or "{}")
    ways = [("hooks", moment) for moment in HOOKS] + [(name,) for name in ("hooks", "mcpServers", "servers")]
    paths = [way for way in ways if _has(after, way) and not _has(before, way)]
    return {"file": change.before is None, "paths": [list(way) for way in paths]}


def _has(value: Any, way: tuple[str, ...]) -> bool:
    for name in way:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]  # pyright: ignore[reportUnknownVariableType]
    return True


def _without_ours(text: str, edit: Edit, made: Any) -> str:
    return _tidied(edit(text), made)


def _tidied(text: str, paths: Any) -> str:
    for way in paths:
        if jsonc.value_at(text, tuple(way)) in ({}, []):
            text = jsonc.remove(text, tuple(way))
    return text
