"""Permission rules on shell commands: the table of cases, real shells, and spellings of one command."""

import os
import re
import shlex
import shutil
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay.features.permissions.decision import decide
from tests.features.permissions.command_cases import DOCUMENTED, Case, cases
from tests.features.permissions.further_commands import (
    HARMLESS_RULES,
    HIDDEN_COMMANDS,
    ORDINARY,
    ORDINARY_SCRIPTS,
    PUSH,
    PUSH_SPELLINGS,
    RISKY_OPTIONS,
    TOGETHER,
)
from tests.features.permissions.test_models import rule

CASES = [*cases()]


def decision(case: Case) -> str | None:
    rules = [rule(*one, id=f"rule_{number}") for number, one in enumerate(case.rules)]
    return decide(rules, "Bash", {"command": case.command}).effect


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rules[0][2]!r}: {case.command!r}")
def test_16_a_command_is_judged_by_its_words(case: Case) -> None:
    assert decision(case) == case.expected


def test_16_the_table_has_cases_for_each_decision_and_each_shell() -> None:
    decisions = Counter(case.expected for case in CASES)
    assert len(CASES) >= 200
    assert min(decisions[effect] for effect in ("deny", "ask", "allow", None)) >= 40
    assert {case.shell for case in CASES} == {"any", "bash", "zsh", "fish"}


def test_16_no_spelling_hides_a_denied_command() -> None:
    decided = {
        (command, expected): decision(Case(PUSH, shell, command, expected))
        for (expected, shell), commands in PUSH_SPELLINGS.items()
        for command in commands
    }
    assert {pair: found for pair, found in decided.items() if found != pair[1]} == {}
    assert len(decided) >= 150


def test_16_a_rule_that_a_user_wrote_allows_the_ordinary_forms_of_its_command() -> None:
    rules = {pattern: (("allow", "prefix", pattern),) for pattern in ORDINARY}
    decided = {
        command: decision(Case(rules[pattern], "any", command, "allow"))
        for pattern, commands in ORDINARY.items()
        for command in commands
    }
    together = tuple(("allow", "prefix", pattern) for pattern in TOGETHER)
    decided |= {command: decision(Case(together, "any", command, "allow")) for command in ORDINARY_SCRIPTS}
    assert {command: found for command, found in decided.items() if found != "allow"} == {}
    assert len(decided) >= 250


def test_16_a_rule_that_denies_another_command_asks_about_no_ordinary_one() -> None:
    denied = ("git push --force", "rm -rf", "npm publish", "docker run", "sudo ", "kubectl delete", "pip install")
    rules = tuple(("deny", "prefix", pattern) for pattern in denied)
    commands = [command for some in ORDINARY.values() for command in some] + ORDINARY_SCRIPTS
    decided = {command: decision(Case(rules, "any", command, None)) for command in commands}
    assert {command: found for command, found in decided.items() if found is not None} == {}


def test_16_no_rule_on_a_harmless_program_allows_a_command_that_an_expansion_hides() -> None:
    rules = tuple(("allow", "prefix", pattern) for pattern in HARMLESS_RULES)
    allowed = [command for shell, command in HIDDEN_COMMANDS if decision(Case(rules, shell, command, None)) == "allow"]
    assert allowed == []
    assert len(HIDDEN_COMMANDS) >= 60


def test_16_a_rule_on_a_program_does_not_cover_its_options_that_run_code_or_write() -> None:
    decided = {
        command: decision(Case((("allow", "prefix", pattern),), "any", command, "ask"))
        for pattern, commands in RISKY_OPTIONS.items()
        for command in commands
    }
    assert {command: found for command, found in decided.items() if found != "ask"} == {}


@pytest.mark.parametrize(
    "command",
    [
        "printf '" + "[" * 240_000 + "'",
        "awk '" + "print" * 48_000 + "'",
        "sed '" + "1,2p ; " * 34_000 + "x'",
        "echo " + "${x:-" * 48_000,
        "cat <<E\n" + "x\\\n" * 80_000 + "E\n",
        "python -c '" + "git push " * 26_000 + "'",
        "foo " + "git " * 9_000,
        "alias " + "x=y " * 9_000,
    ],
    ids=lambda command: command[:12],
)
def test_16_a_long_command_is_judged_in_time(command: str) -> None:
    rules = [rule(*one, id=str(number)) for number, one in enumerate((*DOCUMENTED, ("allow", "prefix", "")))]
    started = time.thread_time()
    decide(rules, "Bash", {"command": command})
    assert time.thread_time() - started < 2  # the time of a hook; each takes less than a fifth of it


@pytest.mark.parametrize(("match_type", "pattern"), [("glob", "*rm -rf*"), ("regex", ".*rm -rf.*")])
def test_16_a_rule_on_the_whole_input_is_compared_with_its_commands_too(match_type: str, pattern: str) -> None:
    rules = [rule("deny", match_type, pattern, field=None, tool_name="*")]
    for command in ("rm -rf x", "rm  -rf x", "cd y && rm -r''f x", "/bin/rm -rf x", "sudo rm x -rf"):
        assert decide(rules, "Bash", {"command": command, "description": "clean"}).effect == "deny", command
    assert decide(rules, "Bash", {"command": "rm $x"}).effect == "ask"
    assert decide(rules, "Bash", {"command": "ls"}).effect is None
    assert decide(rules, "Write", {"content": "never rm -rf x"}).effect == "deny"


# -- spellings of one command --------------------------------------------------------------------------

_INERT = "dghijklmopqswyz./:=+@%,_-ABCDEFGHIJKLMNOPQRSTVWYZ"  # their escapes mean themselves in all shells


@st.composite
def spellings(draw: st.DrawFn, words: list[str]) -> str:
    """Return a command with these words, in other quotes, escapes and spaces."""
    written: list[str] = []
    for word in words:
        pieces: list[str] = []
        for letter in word:
            style = draw(st.sampled_from(["plain", "plain", "plain", "single", "double", "escape", "empty", "newline"]))
            match style:
                case "single":
                    pieces.append(f"'{letter}'")
                case "double":
                    pieces.append(f'"{letter}"')
                case "escape" if letter in _INERT:
                    pieces.append(f"\\{letter}")
                case "empty":
                    pieces.append(draw(st.sampled_from(["''", '""'])) + letter)
                case "newline":
                    pieces.append("\\\n" + letter)
                case _:
                    pieces.append(letter)
        written.append("".join(pieces))
    text = draw(st.sampled_from(["", " ", "\t", "  ", "\n", "\\\n "])) + written[0]
    for word in written[1:]:
        text += draw(st.sampled_from([" ", "  ", "\t", " \\\n", "\\\n ", " \t "])) + word
    return text + draw(st.sampled_from(["", " ", "\n", ";", " &", " ;\n"]))


DENIED = [
    ["git", "push", "--force"],
    ["git", "push", "-f", "origin"],
    ["git", "push", "origin", "+main"],
    ["git", "-C", ".", "push", "--force"],
    ["sudo", "-u", "x", "git", "push", "--force"],
    ["/usr/bin/git", "push", "--force"],
]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(DENIED).flatmap(spellings))
def test_16_quotes_escapes_and_spaces_never_hide_a_denied_command(command: str) -> None:
    assert decision(Case(DOCUMENTED, "any", command, None)) == "deny"


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(["--force", "-f", "origin", "main", "-q", "--tags", "+x"]), max_size=4).flatmap(
        lambda rest: st.tuples(st.just(["git", "push", *rest]), spellings(["git", "push", *rest]))
    )
)
def test_16_a_spelling_of_the_same_words_has_the_same_decision(both: tuple[list[str], str]) -> None:
    words, spelling = both
    plain = decision(Case(DOCUMENTED, "any", " ".join(words), None))
    assert decision(Case(DOCUMENTED, "any", spelling, None)) == plain


# -- real shells ---------------------------------------------------------------------------------------

SHELLS = [shell for shell in ("bash", "dash", "zsh", "fish") if shutil.which(shell)]
FRAGMENTS = [
    "git", "log", "status", "diff", "-1", "--oneline", "--output=pwned", "-c", "alias.status=!touch pwned",
    "touch pwned", "$(touch pwned)", "`touch pwned`", "=(touch pwned)", "(touch pwned)", "<(touch pwned)",
    "*(e:'touch pwned':)", "'", "\"", "\\", "\n", "\r", ";", "&", "|", "&&", "||", "#", "$", "{", "}", "(", ")",
    ">", "<", ">>", "<<", "<<<", ">pwned", "EOF", "'EOF'", "pwned", "!", "x=1", "$x", "${x:-$(touch pwned)}",
    "$((a[$(touch pwned)]))", "$'\\n'", "eval", "bash -c", "time", "command", "if", "then", "fi", "a(){", "[[",
    "]]", "-p", "~", "*", "and", "end", "begin", "\\\n", "\\\"", "$x[", "${x@P}", "{x}", "EOF)", "\nEOF\n",
    "\"$(cat <<'EOF'\n", "\nEOF\n)\"", "touch pwned\n",
]  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *command], cwd=folder, env=environment(folder), check=True, capture_output=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    person = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    home = f"{folder}-home"  # fish writes to it
    return {"PATH": os.environ["PATH"], "HOME": home, "GIT_PAGER": "cat", "GIT_CONFIG_NOSYSTEM": "1", **person}


def run(shell: str, command: str, folder: Path) -> None:
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [shell, "-c", command],
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )


@pytest.mark.parametrize("shell", SHELLS)
@settings(
    max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    first=st.sampled_from(["git ", "git log ", "git status ", "git diff ", "echo ", 'echo "', "cat <<EOF\n"]),
    fragments=st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(["", " "])), min_size=1, max_size=6),
)
def test_16_an_allowed_command_runs_nothing_else_in_a_real_shell(
    shell: str, repository: Path, first: str, fragments: list[tuple[str, str]]
) -> None:
    command = first + "".join(text + space for text, space in fragments)
    rules = (*DOCUMENTED, ("allow", "prefix", "echo "), ("allow", "prefix", "cat "))
    if decision(Case(rules, shell, command, None)) != "allow":
        return
    run(shell, command, repository)
    created = [path.name for path in repository.iterdir() if path.name != ".git"]
    for name in created:
        (repository / name).unlink()
    assert created == [], command


@pytest.mark.parametrize("shell", SHELLS)
def test_16_the_allowed_commands_of_the_table_write_no_file(shell: str, repository: Path) -> None:
    for case in CASES:
        changes = re.search("git (?:add|commit|push|fetch|checkout|branch|stash|show HEAD@)", case.command)
        if case.rules == DOCUMENTED and case.expected == "allow" and case.shell in ("any", shell) and not changes:
            run(shell, case.command, repository)
            assert [path.name for path in repository.iterdir()] == [".git"], case.command


def test_16_the_fragments_write_the_file_in_a_real_shell(repository: Path) -> None:
    """The check above can fail: these commands, which are not allowed, do write."""
    for command in ("git log $(touch pwned)", "git log --output=pwned", "git log >pwned", "git log; touch pwned"):
        assert decision(Case(DOCUMENTED, "bash", command, None)) != "allow"
        run("bash", command, repository)
        (repository / "pwned").unlink()


# -- kinds of rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effect", "match_type", "pattern", "command", "expected"),
    [
        ("deny", "exact", "git push", "git  push", "deny"),
        ("deny", "exact", "git push", "sudo git -C x push", "deny"),
        ("deny", "exact", "git push", "git push origin", None),
        ("deny", "exact", "git push", "git push -q", None),
        ("deny", "exact", "rm -rf /", "rm -fr  /", "deny"),
        ("deny", "prefix", "git push --force", "git push --mirr", "deny"),
        ("deny", "prefix", "git push --force", "time if git push -f; then :; fi", "deny"),
        ("deny", "prefix", "rm ", "command -v rm", None),
        ("deny", "prefix", "pip install", "python -m pip install x", "ask"),
        ("deny", "prefix", "curl ", "apt-get install curl", None),
        ("deny", "exact", "git log; rm x", "git log; rm x", "deny"),
        ("deny", "prefix", "git", "git status", "deny"),
        ("deny", "prefix", "rm", "rmdir x", "deny"),
        ("deny", "prefix", "rm ", "rmdir x", None),
        ("deny", "prefix", "", "ls", "deny"),
        ("deny", "prefix", "rm *", "rm *", "deny"),
        ("deny", "prefix", "rm *", "rm x", None),
        ("deny", "prefix", "kubectl delete", "kubectl -n prod delete pod x", "deny"),
        ("deny", "prefix", "kubectl delete", "kubectl get delete", None),
        ("deny", "prefix", "git push", "git stash push", None),
        ("deny", "prefix", "git push", "git commit -m push", None),
        ("deny", "prefix", "cat /etc/", "cat x /etc/passwd", "deny"),
        ("deny", "prefix", "cat /etc/", "cat //etc/../etc/passwd", "deny"),
        ("deny", "prefix", "cat ~/.ssh", "cat -n ~/.ssh/id", "deny"),
        ("deny", "prefix", "cat ~/.ssh", "cat $HOME/.ssh/id", "ask"),
        ("deny", "prefix", "curl --output", "curl --output=x y", "deny"),
        ("deny", "prefix", "curl --output=/etc", "curl --output /etc/x y", "deny"),
        ("deny", "prefix", "find . -delete", "find -L . -name x -delete", "deny"),
        ("deny", "prefix", "find . -delete", "find . -newer x -depth -type l -empty", None),
        ("deny", "prefix", "sudo ", "env sudo ls", "deny"),
        ("deny", "prefix", "bash -c", "bash -lc ls", "deny"),
        ("deny", "prefix", "rm -rf", "xargs rm", "ask"),
        ("deny", "prefix", "rm -rf", "find . | xargs -I% rm % -rf", "deny"),
        ("deny", "prefix", "rm -rf", "xargs -I% rm -r % x", "ask"),
        ("deny", "glob", "git push*--force*", "git push origin --force", "deny"),
        ("deny", "glob", "git push*--force*", "git push -f origin", "deny"),
        ("deny", "glob", "*rm -rf*", "sudo rm -fr x", "deny"),
        ("deny", "glob", "git * --force", "git --no-pager push -f", "deny"),
        ("deny", "regex", "git push.*--force.*", "git  push origin --force", "deny"),
        ("deny", "regex", "rm -rf.*", "/bin/rm / -rf", "deny"),
        ("deny", "regex", "git push.*", "git $x", "ask"),
        ("deny", "regex", "git push.*", "echo $x", None),
        ("ask", "prefix", "git push", "env git -C x push", "ask"),
        ("ask", "prefix", "git push", "git $x", "ask"),
        ("allow", "exact", "git status", "git status", "allow"),
        ("allow", "exact", "git status", "git  status; git status", "allow"),
        ("allow", "exact", "git status", "git status -s", None),
        ("allow", "exact", "git push $x > y", "git push $x > y", "allow"),
        ("allow", "exact", "git push $x", "git push $x; ls", None),
        ("allow", "glob", "git log*", "git log --oneline", "allow"),
        ("allow", "glob", "git log*", 'git "log --oneline"', None),
        ("allow", "glob", "git *", "git log --output=x", "ask"),
        ("allow", "glob", "git -C * status", "git -C x status", "allow"),
        ("allow", "glob", "git * status", "git -C x status", "ask"),
        ("allow", "regex", "git (log|status).*", "git log -3", "allow"),
        ("allow", "regex", "git (log|status).*", "git log -3; ls", None),
        ("allow", "regex", "git log --output=x", "git log --output=x", "allow"),
        ("allow", "prefix", 'git commit -m "', 'git commit -m "x"', None),
    ],
)
def test_16_each_kind_of_rule_compares_words(
    effect: str, match_type: str, pattern: str, command: str, expected: str | None
) -> None:
    assert decide([rule(effect, match_type, pattern)], "Bash", {"command": command}).effect == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["git", "push", "--force"], "deny"),
        (["git", "-C", "a b", "push", "-f"], "deny"),
        (["bash", "-lc", "cd x && git push origin +main"], "deny"),
        (["bash", "-lc", "git push $x"], "ask"),
        (["git", "log"], "allow"),
        (["git", "log", "--output=x"], "ask"),
        (["git", "log", "; rm x"], None),
        ([], None),
    ],
)
def test_16_a_list_of_words_is_judged_like_a_command(words: list[str], expected: str | None) -> None:
    assert decide([rule(*one) for one in DOCUMENTED], "shell", {"command": words}).effect is None
    rules = [rule(*one, tool_name="*") for one in DOCUMENTED]
    assert decide(rules, "shell", {"command": words}).effect == expected


def test_16_a_rule_on_the_whole_input_allows_only_a_command_without_risk() -> None:
    rules = [rule("allow", "prefix", '{"command":"git ', field=None)]
    for command, expected in (
        ("git log", "allow"),
        ("git log; ls", None),
        ("git log --output=x", None),
        ("git log > x", None),
        ("git log $(touch x)", None),
        ("git 'log", None),
    ):
        assert decide(rules, "Bash", {"command": command}).effect == expected, command


def test_16_an_exact_rule_of_the_owner_beats_a_possible_denial_but_not_a_certain_one() -> None:
    deny = rule("deny", "prefix", "git push --force")
    possible, certain = "git push $x", "git push -f $x"
    rules = [deny, rule("allow", "exact", possible), rule("allow", "exact", certain, id="second")]
    assert decide(rules, "Bash", {"command": possible}).effect == "allow"
    assert decide(rules, "Bash", {"command": certain}).effect == "deny"


def test_16_the_reason_of_a_question_names_the_rule_and_the_word() -> None:
    rules = [rule(*one) for one in DOCUMENTED]
    assert "'--output=x'" in decide(rules, "Bash", {"command": "git log --output=x"}).reason
    verdict = decide(rules, "Bash", {"command": "git push $x"})
    assert verdict.rule is rules[0]
    assert "may match" in verdict.reason
    assert "quote is not closed" in decide(rules, "Bash", {"command": "echo 'x"}).reason


# -- real shells: what runs a forced push is denied or asked about ----------------------------------------

WRAPS = [
    "eval {quoted}",
    "x={quoted}; eval \"$x\"",
    "bash -c {quoted}",
    "sh -ec {quoted}",
    "env A=1 bash -c {quoted}",
    "echo {quoted} | sh",
    "printf '%s\\n' {quoted} | bash -s",
    "bash <<< {quoted}",
    "sh <<EOF\n{command}\nEOF",
    "sh <<'EOF'\n{command}\nEOF",
    "bash <(echo {quoted})",
    ". <(echo {quoted})",
    "source /dev/stdin <<< {quoted}",
    "echo $({command})",
    "echo \"$({command})\"",
    "echo ${{nothing:-$({command})}}",
    "a=$({command})",
    "cat <({command})",
    "{{ {command}\n}}",
    "({command})",
    "if {command}\nthen :; fi",
    "while {command}\ndo break; done",
    "for i in 1; do {command}\ndone",
    "case x in x) {command}\n;; esac",
    "f() {{ {command}\n}}; f",
    "function f {{ {command}\n}}; f",
    "! {command}",
    "time {command}",
    "true && {command}",
    "false || {command}",
    "true | {command}",
    "[[ -n x ]] && {command}",
    "[[ -z $({command}) ]]",
    "cd . ; {command}",
    "# comment\n{command}",
    ": 'text' # it's\n{command}",
    "trap {quoted} EXIT",
    "find . -maxdepth 0 -exec sh -c {quoted} \\;",
    "echo x | xargs -I% sh -c {quoted}",
    "timeout 5 sh -c {quoted}",
    "nice -n 1 nohup sh -c {quoted}",
    "coproc {{ {command}\n}}; wait",
    "exec 3>&1; {command}",
    "> out {command}" ,
    "echo {quoted} | {{ true; sh; }}",
    "{{ sh; }} <<< {quoted}",
    "exec <<< {quoted}; bash",
    "set -- {quoted}; eval \"$1\"",
    "a=({quoted}); eval \"${{a[0]}}\"",
    "cat <<EOF\n$({command})\nEOF",
    "read -r x <<< {quoted}; eval \"$x\"",
    "declare x={quoted}; $x",
    "until {command}\ndo :; done",
]  # fmt: skip
FORCED = [
    "git push --force",
    "git push -f",
    "git  push origin --force",
    "g\\it p'us'h \"--force\"",
    "git -C . push -fq",
    "x=--force; git push $x",
    "git push {{--force,-q}}".format(),
    "command git push --force",
    "env -u A git push --force",
    "$(echo git) push --force",
    "xargs git push <<< --force",
]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a `git` that creates `pushed` for a forced push."""
    folder = tmp_path_factory.mktemp("recording")
    (folder / "bin").mkdir()
    program = folder / "bin" / "git"
    program.write_text(
        "#!/bin/sh\nfor x; do case $x in push) p=1;; --force|-f|-fq) f=1;; esac; done\n"
        f'[ "$p$f" = 11 ] && > {folder}/pushed\n'
    )
    program.chmod(0o755)
    return folder


@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(command=st.sampled_from(FORCED), wraps=st.lists(st.sampled_from(WRAPS), min_size=1, max_size=3))
def test_16_a_command_that_forces_a_push_in_bash_is_never_allowed_or_missed(
    recording: Path, command: str, wraps: list[str]
) -> None:
    for wrap in wraps:
        command = wrap.format(command=command, quoted=shlex.quote(command))
    decided = decision(Case(DOCUMENTED, "bash", command, None))
    if decided in ("deny", "ask"):
        return
    work = recording / "work"
    work.mkdir(exist_ok=True)
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            ["bash", "-c", command],
            cwd=work,
            env={"PATH": f"{recording / 'bin'}:{os.environ['PATH']}", "HOME": str(work)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    pushed = recording / "pushed"
    was_pushed = pushed.exists()
    pushed.unlink(missing_ok=True)
    assert not was_pushed, (decided, command)


@pytest.mark.parametrize("command", FORCED)
def test_16_the_commands_above_force_a_push_in_bash(recording: Path, command: str) -> None:
    """The check above can fail: each of its commands reaches the program."""
    environment = {"PATH": f"{recording / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", command], cwd=recording, env=environment, check=False, timeout=10)
    assert (recording / "pushed").exists()
    (recording / "pushed").unlink()
    assert decision(Case(DOCUMENTED, "bash", command, None)) in ("deny", "ask")
