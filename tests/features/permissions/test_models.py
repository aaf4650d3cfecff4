"""Decisions of permission rules on tool calls of agents."""

from datetime import UTC, datetime
from typing import Any

import pytest

from scrubjay.core.errors import InvalidRequest
from scrubjay.features.permissions.decision import decide
from scrubjay.features.permissions.models import Effect, MatchType, PermissionRule
from scrubjay.features.permissions.patterns import canonical, matches_glob, validate_pattern


def rule(effect: str, match_type: str, pattern: str, field: str | None = "command", **more: Any) -> PermissionRule:
    fields: dict[str, Any] = {"tool_name": "Bash", "id": f"{effect}-{match_type}", **more}
    return PermissionRule(
        effect=Effect(effect),
        match_type=MatchType(match_type),
        pattern=pattern,
        field=field,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        created_by="cli",
        **fields,
    )


def effect_of(rules: list[PermissionRule], command: str, tool: str = "Bash") -> Effect | None:
    return decide(rules, tool, {"command": command}).effect


@pytest.mark.parametrize(
    ("match_type", "pattern", "matching", "other"),
    [
        ("exact", "git status", "git status", "git status -s"),
        ("prefix", "git ", "git log", "gitk"),
        ("glob", "git * --oneline", "git log --oneline", "git log --oneline -3"),
        ("regex", "git (log|status)", "git log", "git log -3"),
        ("regex", "git .*", "git log\t-3", "a git log"),
    ],
)
def test_16_a_pattern_matches_according_to_its_match_type(
    match_type: str, pattern: str, matching: str, other: str
) -> None:
    rules = [rule("allow", match_type, pattern)]
    assert effect_of(rules, matching) is Effect.ALLOW
    assert effect_of(rules, other) is None


def test_16_deny_wins_over_ask_and_ask_over_allow_and_the_verdict_names_all() -> None:
    deny, ask, allow = rule("deny", "prefix", "git push"), rule("ask", "prefix", "git p"), rule("allow", "prefix", "g")
    verdict = decide([allow, ask, deny], "Bash", {"command": "git push"})
    assert (verdict.effect, verdict.rule, verdict.others) == (Effect.DENY, deny, [ask, allow])
    assert effect_of([allow, ask], "git pull") is Effect.ASK
    assert effect_of([allow, ask, deny], "git log") is Effect.ALLOW


def test_16_a_project_rule_decides_before_a_global_one() -> None:
    own, general = rule("deny", "prefix", "x", project_id="prj_1", id="own"), rule("deny", "prefix", "x")
    assert decide([general, own], "Bash", {"command": "x"}).rule is own


def test_16_the_order_of_fields_does_not_matter() -> None:
    exact = rule("deny", "exact", '{"b": 1, "a": "x"}', field=None, tool_name="*")
    assert decide([exact], "Edit", {"a": "x", "b": 1}).effect is Effect.DENY
    prefix = rule("deny", "prefix", '{"a":"x"', field=None, tool_name="*")
    assert decide([prefix], "Edit", {"b": 1, "a": "x"}).effect is Effect.DENY
    assert canonical({"b": 1, "a": {"d": 1, "c": 2}}) == '{"a":{"c":2,"d":1},"b":1}'


def test_16_a_dotted_field_is_nested_and_a_missing_field_never_matches() -> None:
    inner = rule("deny", "prefix", "/etc", field="file.path", tool_name="mcp__*")
    assert decide([inner], "mcp__files__write", {"file": {"path": "/etc/passwd"}}).effect is Effect.DENY
    assert decide([inner], "mcp__files__write", {"file": "/etc"}).effect is None
    assert decide([inner], "Write", {"file": {"path": "/etc/passwd"}}).effect is None


@pytest.mark.parametrize(
    ("command", "effect", "reason"),
    [
        ("git log; rm -rf /", None, "several parts"),
        ("git log && rm x", None, "several parts"),
        ("git log | sh", None, "several parts"),
        ("git log $(rm x)", Effect.ASK, "does not cover a word that is not known"),
        ("git `rm x`", Effect.ASK, "does not cover a word that is not known"),
        ("git log\nrm x", None, "several parts"),
        ("git >x", Effect.ASK, "does not cover output to x"),
    ],
)
def test_16_a_rule_that_allows_a_command_does_not_allow_a_second_command_after_it(
    command: str, effect: Effect | None, reason: str
) -> None:
    rules = [rule("allow", "prefix", "git "), rule("allow", "glob", "git *"), rule("allow", "regex", "(?s)git .*")]
    for some in (rules, rules[:1]):
        verdict = decide(some, "Bash", {"command": command})
        assert verdict.effect is effect
        assert reason in verdict.reason
    assert effect_of([rule("allow", "exact", command)], command) is Effect.ALLOW


def test_16_a_denied_command_is_also_denied_after_another_command() -> None:
    rules = [rule("deny", "prefix", "rm ")]
    for command in ("rm x", "cd y && rm x", "true;rm x", "echo $(rm x)", "(rm x)"):
        assert effect_of(rules, command) is Effect.DENY, command
    assert effect_of(rules, "echo rm x") is None


def test_16_no_broad_rule_lets_an_agent_change_the_rules() -> None:
    rules = [rule("allow", "prefix", ""), rule("allow", "glob", "*")]
    assert effect_of(rules, "ls") is Effect.ALLOW
    assert effect_of(rules, "scrubjay permissions add-permission-rule --effect allow") is None


def test_16_regular_expressions_run_in_linear_time() -> None:
    slow = rule("deny", "regex", "(a+)+b")  # takes 2^n steps in a backtracking engine
    assert effect_of([slow], "a" * 200_000) is None
    assert effect_of([slow], "a" * 200_000 + "b") is Effect.DENY
    assert matches_glob("*a" * 500 + "b", "a" * 100_000) is False


def test_16_a_lone_surrogate_does_not_hide_text_from_a_regular_expression() -> None:
    assert effect_of([rule("deny", "regex", ".*rm -rf.*")], "\ud800 rm -rf /") is Effect.DENY


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", r"(a)\1", "a)(b", "(?x) a #"])
def test_16_an_invalid_regular_expression_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRequest):
        validate_pattern(MatchType.REGEX, pattern)


def test_16_globs_match_the_whole_text() -> None:
    assert matches_glob("a*b*c", "a-b-b-c")
    assert matches_glob("*", "")
    assert not matches_glob("a*a", "a")
    assert not matches_glob("a*b", "ab ")


@pytest.mark.parametrize("tool", ["Bash", "exec_command", "PowerShell", "mcp__machine__run"])
@pytest.mark.parametrize("field", ["command", "cmd", "script"])
def test_16_a_command_is_recognised_under_every_tool_name(tool: str, field: str) -> None:
    allow = rule("allow", "prefix", "git ", field=field, tool_name="*")
    deny = rule("deny", "prefix", "rm ", field=field, tool_name="*")
    assert decide([allow], tool, {field: "git log"}).effect is Effect.ALLOW
    assert decide([allow], tool, {field: "git log; rm -rf /"}).effect is None
    assert decide([allow, deny], tool, {field: "git log; rm -rf /"}).effect is Effect.DENY


def test_16_a_list_of_words_is_recognised_as_a_command() -> None:
    deny = rule("deny", "prefix", "rm ", tool_name="shell")
    for words in (["rm", "x"], ["bash", "-lc", "rm x"], ["bash", "-lc", "cd y && rm x"]):
        assert decide([deny], "shell", {"command": words}).effect is Effect.DENY
    allow = rule("allow", "prefix", '["git",', tool_name="shell")
    assert decide([allow], "shell", {"command": ["git", "log"]}).effect is Effect.ALLOW
    assert decide([allow], "shell", {"command": ["git", "log;rm x"]}).effect is None


def test_16_no_broad_rule_allows_a_command_outside_the_sandbox() -> None:
    tool_input = {"command": "git log", "dangerouslyDisableSandbox": True}
    verdict = decide([rule("allow", "prefix", "git ")], "Bash", tool_input)
    assert verdict.effect is None
    assert "outside the sandbox" in verdict.reason
    assert decide([rule("allow", "exact", "git log")], "Bash", tool_input).effect is Effect.ALLOW


def test_16_a_path_with_parent_folders_is_not_allowed_by_its_prefix_and_is_denied_by_its_target() -> None:
    allow = rule("allow", "prefix", "/proj/", field="file_path", tool_name="*")
    glob = rule("allow", "glob", "/proj/*", field="file_path", tool_name="*")
    whole = rule("allow", "prefix", '{"file_path":"/proj/', field=None, tool_name="*")
    deny = rule("deny", "prefix", "/etc/", field="file_path", tool_name="*")
    for path in ("/proj/../etc/passwd", "/proj/a/../../etc/passwd", "/proj/.."):
        for one in (allow, glob, whole):
            assert decide([one], "Write", {"file_path": path}).effect is None, path
    assert decide([allow, deny], "Write", {"file_path": "/proj/../etc/passwd"}).effect is Effect.DENY
    assert decide([deny], "Write", {"file_path": "//etc//passwd"}).effect is Effect.DENY
    assert decide([deny], "Write", {"file_path": "/./etc/passwd"}).effect is Effect.DENY
    assert decide([allow], "Write", {"file_path": "/proj/a..b/c"}).effect is Effect.ALLOW
    assert effect_of([rule("allow", "prefix", "git ")], "git diff ../x") is Effect.ALLOW


def test_16_an_input_too_long_to_compare_asks_the_user() -> None:
    rules = [rule("deny", "prefix", "rm "), rule("allow", "prefix", "")]
    assert effect_of(rules, "cd x; rm y; " + ";".join(map(str, range(5000)))) is Effect.ASK
    assert effect_of(rules, "x" * 2_000_000) is Effect.ASK
    assert effect_of(rules[1:], "x" * 2_000_000) is None


@pytest.mark.parametrize("pattern", [r"(\w+\s+){200}x", r"\p{L}{180}|\p{N}{180}"])
def test_16_a_pattern_that_compiles_slowly_is_refused_each_time(pattern: str) -> None:
    for _ in range(2):
        with pytest.raises(InvalidRequest, match="too long"):
            validate_pattern(MatchType.REGEX, pattern)
