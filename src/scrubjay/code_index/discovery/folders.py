"""The files of a folder that is no repository: those that no rule in it says to ignore."""

import os
from collections.abc import Iterator
from pathlib import Path

from scrubjay.code_index.discovery.file_collector import Gathering, unreadable
from scrubjay.code_index.discovery.git import GitFailed, ask
from scrubjay.code_index.discovery.ignore_rules import TOOL_FOLDERS, IgnoreRules
from scrubjay.code_index.discovery.limits import Bounds
from scrubjay.code_index.discovery.rooted_reader import Beneath, text
from scrubjay.core.errors import Unavailable

# The later decides.
RULE_FILES = (".git/info/exclude", ".gitignore", ".ignore")
_MOST_RULE_BYTES = 1_000_000


def gather_folder(root: str, gathering: Gathering, beneath: Beneath) -> None:
    """All files under the folder, links and what tools make left out."""
    for _, paths in walked(gathering, beneath, rules_of_the_user(root, gathering.bounds)):
        for path in paths:
            try:
                status = beneath.status(path)
            except OSError:
                continue  # gone since it was listed
            gathering.take_file(path, status, beneath)


def walked(gathering: Gathering, beneath: Beneath, rules: IgnoreRules) -> Iterator[tuple[str, list[str]]]:
    """Each folder that counts, with the files in it that no rule says to ignore; rules are added as they are found."""
    waiting = [""]
    while waiting:
        gathering.bounds.check()
        folder = waiting.pop()
        prefix = folder + "/" if folder else ""
        try:
            with os.scandir(beneath.folder(folder)) as entries:
                found = sorted(
                    (text(os.fsencode(entry.name)), entry.is_dir(follow_symlinks=False)) for entry in entries
                )
        except OSError as error:
            gathering.skip(folder, unreadable(error))
            continue
        names = {name for name, _ in found}
        for rule_file in RULE_FILES:
            if rule_file.partition("/")[0] in names:
                _add_rules(rules, folder, prefix + rule_file, beneath)
        files: list[str] = []
        for name, is_folder in found:
            path = prefix + name
            if is_folder:
                if name in TOOL_FOLDERS:
                    if name != ".git":
                        gathering.skip(path, "made by tools")
                elif gathering.excludes(path + "/"):
                    gathering.skip(path, "excluded, as asked")
                elif not rules.ignores(path + "/"):
                    waiting.append(path)
            elif name != ".git" and not rules.ignores(path):
                files.append(path)
        yield folder, files


def _add_rules(rules: IgnoreRules, folder: str, path: str, beneath: Beneath) -> None:
    try:
        rules.add_file(folder, beneath.read(path, _MOST_RULE_BYTES))
    except OSError:
        return


def rules_of_the_user(root: str, bounds: Bounds) -> IgnoreRules:
    """What the user has git ignore everywhere."""
    rules = IgnoreRules()
    rules.add("", _lines_of_the_user(root, bounds))
    return rules


def _lines_of_the_user(root: str, bounds: Bounds) -> list[str]:
    try:
        told = text(ask(root, bounds, "config", "--type=path", "--get", "core.excludesFile"))
        path = Path(told.removesuffix("\n"))
    except (GitFailed, Unavailable):
        bounds.check()
        path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"
    try:
        if not path.is_file():
            return []
        return text(path.read_bytes()[:_MOST_RULE_BYTES]).splitlines()
    except OSError:
        return []
