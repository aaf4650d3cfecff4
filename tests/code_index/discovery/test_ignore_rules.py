"""The rules of several folders are combined; the nearest rule wins."""

from scrubjay.code_index.discovery.ignore_rules import IgnoreRules, find_tool_folder


def ignored(rules: IgnoreRules, *paths: str) -> list[str]:
    return [path for path in paths if rules.ignores(path)]


def test_the_nearest_rule_wins() -> None:
    rules = IgnoreRules()
    rules.add_file("", b"*.log\nbuild/\n/only-here\n# a comment\n")
    rules.add_file("a", b"!keep.log\r\n*.tmp\n")
    paths = ["x.log", "a/x.log", "a/keep.log", "keep.log", "build/", "b/build/", "b/build", "only-here", "a/only-here"]
    assert ignored(rules, *paths, "a/x.tmp", "x.tmp") == [
        "x.log",
        "a/x.log",
        "keep.log",
        "build/",
        "b/build/",
        "only-here",
        "a/x.tmp",
    ]


def test_invalid_rules_are_ignored_and_without_rules_nothing_is_ignored() -> None:
    rules = IgnoreRules()
    assert (bool(rules), rules.ignores("a")) == (False, False)
    rules.add_file("", b"\n!\n/\n\xff\xfe\n[\n*.pyc\n")
    assert ignored(rules, "a.pyc", "a.py", "\udcff\udcfe") == ["a.pyc", "\udcff\udcfe"]


def test_a_hostile_rule_is_matched_quickly() -> None:
    rules = IgnoreRules()
    rules.add("", ["*a" * 40 + "b", "x" * 5000])
    assert ignored(rules, "a" * 250) == []  # as a regular expression it would take years


def test_the_outermost_tool_folder_is_found() -> None:
    assert [find_tool_folder(path) for path in ("a/node_modules/b/node_modules/c.js", "node_modules", "a/b.py")] == [
        "a/node_modules",
        None,
        None,
    ]
