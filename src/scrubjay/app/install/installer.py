"""Installation and removal: plan the changes of each file, apply them, and record what was created."""

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from scrubjay.app.install import jsonc, toml_text
from scrubjay.app.install.agents import (
    HOOKS,
    NAME,
    Installation,
    configuration_file,
    hook_groups,
    hooks_file,
    merge_entry,
    own_handler_indexes,
    server_entry,
    servers_key,
    was_installed,
)
from scrubjay.app.install.file_change import Change, Edit, apply_change, plan_change
from scrubjay.core.errors import InvalidRequest
from scrubjay.core.temporary_files import temporary_beside

RECORD = "installed.json"


def changes_to_install(installation: Installation, environment: Mapping[str, str]) -> list[Change]:
    """Plan the changes that configure the agent. The list can contain changes that are not needed."""
    _check_options(installation)
    changes = [
        plan_change(configuration_file(installation, environment), lambda text: _with_server(text, installation))
    ]
    if installation.hooks:
        changes.append(plan_change(hooks_file(installation, environment), lambda text: _with_hooks(text, installation)))
    return changes


def changes_to_uninstall(
    installation: Installation, environment: Mapping[str, str], record: Mapping[str, Any]
) -> list[Change]:
    """Plan the changes that remove our entries, and the files, objects and lists created for them if they are empty.

    An entry of the owner that ours replaced is restored.
    """
    configuration = configuration_file(installation, environment)
    replaced = _replaced_entry(record.get(str(configuration), {}).get("backup"), installation)
    files: list[tuple[Path, Edit]] = [
        (configuration, partial(_without_server, installation=installation, replaced=replaced))
    ]
    if installation.agent == "claude-code":
        files.append((hooks_file(installation, environment), _without_hooks))
    changes: list[Change] = []
    for file, edit in files:
        if not file.exists():
            continue
        created = record.get(str(file), {})
        change = plan_change(file, partial(_remove_ours, edit=edit, created=created.get("paths", ())))
        if change.is_needed and created.get("file") and (change.after or "").strip() in ("", "{}"):
            change = Change(file, change.before, None)
        elif change.is_needed and created.get("text") == _digest(change.before):  # not edited since the installation
            original = _clean_backup(created.get("backup"), edit)
            change = Change(file, change.before, change.after if original is None else original)
        changes.append(change)
    return changes


def _clean_backup(backup: str | None, edit: Edit) -> str | None:
    """Return the backed-up content from before the installation; None if it is lost or contains entries of ours."""
    text = _backed_up(backup)
    try:
        return text if text is not None and (not text.strip() or edit(text) == text) else None
    except ValueError:
        return None


def _backed_up(backup: str | None) -> str | None:
    try:
        return Path(backup).read_bytes().decode() if backup else None
    except (OSError, ValueError):
        return None


def _replaced_entry(backup: str | None, installation: Installation) -> Any:
    """Return the owner's entry of our name from before the installation; None if there was none."""
    text = _backed_up(backup)
    try:
        found = _entry_in(text, installation) if text and text.strip() else None
    except (ValueError, RecursionError):
        return None
    return None if was_installed(found, installation) else found


def _entry_in(text: str, installation: Installation) -> Any:
    path = (servers_key(installation.agent), NAME)
    return toml_text.table_at(text, path) if installation.agent == "codex" else jsonc.value_at(text, path)


def apply_changes(changes: list[Change], home: Path, *, installs: bool) -> list[Path]:
    """Write the needed changes, record what they created, and return the backups."""
    record, backups = read_record(home), list[Path]()
    for change in changes:
        if not change.is_needed:
            continue
        if backup := apply_change(change):
            backups.append(backup)
        if not installs:
            record.pop(str(change.file), None)
        elif (known := record.get(str(change.file))) is None:
            text = {"text": _digest(change.after), "backup": str(backup) if backup else None}
            record[str(change.file)] = {**_created(change), **text}
        elif known.get("text") == _digest(change.before):  # not edited since the last installation
            known["text"] = _digest(change.after)
        else:
            known.pop("text", None)
        _write_record(home, record)
    return backups


def read_record(home: Path) -> dict[str, Any]:
    """Return the record of what earlier installations created; empty if it is missing or damaged."""
    try:
        found = json.loads((home / RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _write_record(home: Path, record: Mapping[str, Any]) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = temporary_beside(home / RECORD)
    unfinished.write_text(json.dumps(record, indent=1), "utf-8")
    unfinished.replace(home / RECORD)


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def _check_options(installation: Installation) -> None:
    if installation.hooks and installation.agent != "claude-code":
        raise InvalidRequest(f"{installation.agent} has no hooks that Scrubjay supports", hint="leave --hooks out")
    if installation.url is not None and not installation.url.startswith(("http://", "https://")):
        raise InvalidRequest(f"{installation.url!r} is not an HTTP URL", hint="for example http://127.0.0.1:4000/mcp")
    if installation.key_env is not None and not installation.key_env.isidentifier():
        raise InvalidRequest(
            "--key-env takes the name of an environment variable; the key itself is never written to a file",
            hint="for example --key-env SCRUBJAY_API_KEY",
        )


def _with_server(text: str, installation: Installation) -> str:
    path = (servers_key(installation.agent), NAME)
    if installation.agent == "codex":
        return toml_text.put_table(text, path, merge_entry(toml_text.table_at(text, path), server_entry(installation)))
    return jsonc.put(text, path, merge_entry(jsonc.value_at(text, path), server_entry(installation)))


def _without_server(text: str, installation: Installation, replaced: Any) -> str:
    path = (servers_key(installation.agent), NAME)
    if replaced is not None:
        return (
            toml_text.put_table(text, path, replaced)
            if installation.agent == "codex"
            else jsonc.put(text, path, replaced)
        )
    return toml_text.remove_table(text, path) if installation.agent == "codex" else jsonc.remove(text, path)


def _with_hooks(text: str, installation: Installation) -> str:
    for agent_event, group in hook_groups(installation).items():
        path = ("hooks", agent_event)
        present: Any = jsonc.value_at(text, path) or []
        if not isinstance(present, list):
            raise ValueError(f"hooks.{agent_event} is not a list")
        if [present_group for present_group in present if own_handler_indexes(present_group)] == [group]:  # pyright: ignore[reportUnknownVariableType]
            continue
        text = jsonc.append(_without_hooks_at(text, agent_event), path, group)
    return text


def _without_hooks(text: str) -> str:
    for agent_event in HOOKS:
        text = _without_hooks_at(text, agent_event)
    return text


def _without_hooks_at(text: str, agent_event: str) -> str:
    """Remove our handlers, and groups that have no others."""
    path = ("hooks", agent_event)
    present: Any = jsonc.value_at(text, path)
    for index, group in reversed([*enumerate(present)]) if isinstance(present, list) else ():  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        ours = own_handler_indexes(group)
        if ours and len(ours) == len(cast(dict[str, list[Any]], group)["hooks"]):
            text = jsonc.remove(text, path, index)
        else:
            for handler in reversed(ours):
                text = jsonc.remove(text, (*path, str(index), "hooks"), handler)
    return text


def _created(change: Change) -> dict[str, Any]:
    """Return the objects and lists that a change creates around our entries, innermost first."""
    if change.file.suffix == ".toml":
        return {"file": change.before is None, "paths": []}
    before: Any = jsonc.parse(change.before) if change.before and change.before.strip() else {}
    after: Any = jsonc.parse(change.after or "{}")
    candidates = [("hooks", moment) for moment in HOOKS] + [(name,) for name in ("hooks", "mcpServers", "servers")]
    paths = [path for path in candidates if _has(after, path) and not _has(before, path)]
    return {"file": change.before is None, "paths": [list(path) for path in paths]}


def _has(value: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]  # pyright: ignore[reportUnknownVariableType]
    return True


def _remove_ours(text: str, edit: Edit, created: Any) -> str:
    return _remove_empty(edit(text), created)


def _remove_empty(text: str, paths: Any) -> str:
    for path in paths:
        if jsonc.value_at(text, tuple(path)) in ({}, []):
            text = jsonc.remove(text, tuple(path))
    return text
