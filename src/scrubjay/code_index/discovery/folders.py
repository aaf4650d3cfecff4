"""List the files of a folder that is not a repository, without ignored ones."""

import os
from collections.abc import Iterator
from pathlib import Path

from scrubjay.code_index.discovery.file_collector import FileCollector, unreadable_reason
from scrubjay.code_index.discovery.git import GitFailed, run_git
from scrubjay.code_index.discovery.ignore_rules import TOOL_FOLDERS, IgnoreRules
from scrubjay.code_index.discovery.limits import Deadline
from scrubjay.code_index.discovery.rooted_reader import RootedReader, decode_path
from scrubjay.core.errors import Unavailable

# Later files take precedence.
RULE_FILES = (".git/info/exclude", ".gitignore", ".ignore")
_MAX_RULE_BYTES = 1_000_000


def collect_folder(root: str, collector: FileCollector, rooted: RootedReader) -> None:
    """Collect all files under the folder, except links and folders created by tools."""
    for _, paths in walk_folders(collector, rooted, global_ignore_rules(root, collector.deadline)):
        for path in paths:
            try:
                status = rooted.status(path)
            except OSError:
                continue  # gone since it was listed
            collector.add_file(path, status, rooted)


def walk_folders(collector: FileCollector, rooted: RootedReader, rules: IgnoreRules) -> Iterator[tuple[str, list[str]]]:
    """Yield the folders that are not ignored, each with its files; adds ignore rules to `rules` as it finds them."""
    waiting = [""]
    while waiting:
        collector.deadline.check()
        folder = waiting.pop()
        prefix = folder + "/" if folder else ""
        try:
            with os.scandir(rooted.open_folder(folder)) as entries:
                found = sorted(
                    (decode_path(os.fsencode(entry.name)), entry.is_dir(follow_symlinks=False)) for entry in entries
                )
        except OSError as error:
            collector.skip(folder, unreadable_reason(error))
            continue
        names = {name for name, _ in found}
        for rule_file in RULE_FILES:
            if rule_file.partition("/")[0] in names:
                _add_rules(rules, folder, prefix + rule_file, rooted)
        files: list[str] = []
        for name, is_folder in found:
            path = prefix + name
            if is_folder:
                if name in TOOL_FOLDERS:
                    if name != ".git":
                        collector.skip(path, "created by a tool")
                elif (reason := collector.reason_to_exclude(path + "/")) is not None:
                    collector.skip(path, reason)
                elif not rules.ignores(path + "/"):
                    waiting.append(path)
            elif name != ".git" and not rules.ignores(path):
                files.append(path)
        yield folder, files


def _add_rules(rules: IgnoreRules, folder: str, path: str, rooted: RootedReader) -> None:
    try:
        rules.add_file(folder, rooted.read(path, _MAX_RULE_BYTES))
    except OSError:
        return


def global_ignore_rules(root: str, deadline: Deadline) -> IgnoreRules:
    """Return the user's global ignore rules of git."""
    rules = IgnoreRules()
    rules.add("", _global_ignore_lines(root, deadline))
    return rules


def _global_ignore_lines(root: str, deadline: Deadline) -> list[str]:
    try:
        output = decode_path(run_git(root, deadline, "config", "--type=path", "--get", "core.excludesFile"))
        path = Path(output.removesuffix("\n"))
    except (GitFailed, Unavailable):
        deadline.check()
        path = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"
    try:
        if not path.is_file():
            return []
        return decode_path(path.read_bytes()[:_MAX_RULE_BYTES]).splitlines()
    except OSError:
        return []
