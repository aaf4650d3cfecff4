"""The files of a folder that is no repository: those that no rule in it says to ignore."""

import os
from pathlib import Path

from recollect.codebase.discovery.beneath import Beneath, text
from recollect.codebase.discovery.gathering import Gathering, unreadable
from recollect.codebase.discovery.git import GitFailed, ask
from recollect.codebase.discovery.ignoring import TOOL_FOLDERS, IgnoreRules
from recollect.domain.errors import Unavailable

# The later decides.
_RULE_FILES = (".git/info/exclude", ".gitignore", ".ignore")
_MOST_RULE_BYTES = 1_000_000


def gather_folder(root: str, gathering: Gathering, beneath: Beneath) -> None:
    """All files under the folder, links and what tools make left out."""
    rules = IgnoreRules()
    rules.add("", _rules_of_the_user(root, gathering))
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
        for rule_file in _RULE_FILES:
            if rule_file.partition("/")[0] in names:
                _add_rules(rules, folder, prefix + rule_file, beneath)
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
                try:
                    status = beneath.status(path)
                except OSError:
                    continue  # gone since it was listed
                gathering.take_file(path, status, beneath)


def _add_rules(rules: IgnoreRules, folder: str, path: str, beneath: Beneath) -> None:
    try:
        rules.add_file(folder, beneath.read(path, _MOST_RULE_BYTES))
    except OSError:
        return


def _rules_of_the_user(root: str, gathering: Gathering) -> list[str]:
    """What the user has git ignore everywhere."""
    try:
        told = text(ask(root, gathering.bounds, "config", "--type=path", "--get", "core.excludesFile"))
        path = Path(told.removesuffix("\n"))
    except (GitFailed, Unavailable):
        gathering.bounds.check()
        path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"
    try:
        if not path.is_file():
            return []
        return text(path.read_bytes()[:_MOST_RULE_BYTES]).splitlines()
    except OSError:
        return []
