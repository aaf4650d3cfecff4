"""Compare a rule's pattern with the words of a command.

A rule that denies or asks matches every spelling of its command that is known: options in any order, clustered,
abbreviated or in their long form, and options of git before the subcommand. A rule that allows matches the words as
they are written in it, and covers only further words that run no code and write no file.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import chain

from scrubjay.features.permissions.models import MatchType, PermissionRule
from scrubjay.features.permissions.patterns import fits, matches_glob
from scrubjay.features.permissions.risky_words import (
    GIT_COMMANDS,
    GIT_RISKY_COMMANDS,
    HARMLESS_PROGRAMS,
    INTERPRETERS,
    SAFE_VARIABLES,
    find_risk,
)
from scrubjay.features.permissions.shell_commands import (
    ARITHMETIC_COMMANDS,
    JOINING,
    SHELLS,
    UNKNOWN,
    WRAPPERS,
    RunCommand,
    git_subcommand,
    program_name,
)
from scrubjay.features.permissions.shell_lexer import Redirect, ShellWord, parse_script, split_words, words_of

# Files that may be written by any command, and file descriptors.
_SAFE_TARGETS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))
# A word that every shell reads as itself.
_PLAIN_WORD = re.compile(r"[\w./:=+@%,-]+")
_DESCRIPTOR = re.compile(r"\d*-?")
_SUBCOMMAND = re.compile(r"[A-Za-z][\w:.-]*")
# Programs whose operands are all files, in any order.
_FILE_PROGRAMS = split_words("rm rmdir mv cp ln cat less head tail chmod chown chgrp touch dd tee shred truncate")
# Short options and their long form: those of any program, then those of single ones.
_LONG_FORMS = {"f": "--force", "r": "--recursive", "R": "--recursive"}
_PROGRAM_FORMS = {
    "git push": {"f": "--force", "d": "--delete", "n": "--dry-run", "u": "--set-upstream"},
    "git commit": {"a": "--all", "n": "--no-verify", "m": "--message"},
    "git branch": {"d": "--delete", "D": "--delete --force", "m": "--move", "M": "--move --force", "f": "--force"},
    "git tag": {"d": "--delete", "f": "--force"},
    "git clean": {"f": "--force", "n": "--dry-run", "d": "-d"},
    "git checkout": {"f": "--force"},
    "git add": {"A": "--all", "f": "--force"},
}
_MAX_CLUSTER = 4
# A program that is not known may run the command in its arguments; real ones have few words of their own before it.
_MAX_OWN_WORDS = 8
# Programs that do not run the words of their arguments, or whose wrappers are all known.
_NO_WRAPPERS = (
    HARMLESS_PROGRAMS | ARITHMETIC_COMMANDS | frozenset(WRAPPERS) | SHELLS | {"git", "man", "tldr", "cd", ":"}
)
# Programs with code of another language in an argument or on standard input.
_CODE_PROGRAMS = INTERPRETERS - SHELLS | split_words(
    "awk gawk mawk nawk sed gsed vim nvim vi ex emacs expect tclsh gdb"
)
# Programs whose options of several letters have one dash.
_LONG_DASH_PROGRAMS = split_words("find java javac gcc g++ clang go terraform openssl")


class Match(IntEnum):
    """Whether a rule that denies or asks applies."""

    NO = 0
    MAYBE = 1
    YES = 2


@dataclass(frozen=True, slots=True)
class _WordPattern:
    """A pattern as words; each word is a glob."""

    program: str
    operands: Sequence[str]
    options: Sequence[str]
    """Options as globs, with dashes; a cluster is split."""
    is_exact: bool


@dataclass(frozen=True, slots=True)
class _NormalizedCommand:
    """A command with its options in long form, and git's subcommand directly after `git`."""

    program: str
    words: Sequence[ShellWord]
    """The arguments."""
    options: frozenset[str]
    """Its options in each form that a rule may have."""
    own_options: frozenset[str]
    """Its options in one form each."""
    is_certain: bool
    """False if one of the words may be any words."""


class CommandMatcher:
    """The commands of one call, prepared for the comparison with rules."""

    def __init__(self, runs: Sequence[RunCommand]) -> None:
        self._by_program: dict[str, list[_NormalizedCommand]] = {}
        self._in_arguments: dict[str, list[Sequence[ShellWord]]] = {}
        """Words of programs that are not known, from each word that may be the program of a command."""
        self._codes: list[str] = []
        """Code of other languages."""
        for run in runs:
            if run.words:
                command = _normalized(run.words)
                self._by_program.setdefault(command.program, []).append(command)
                self._add_arguments(run)
        self.texts = [*dict.fromkeys(text for run in runs if run.words for text in _texts(run.words))]
        """The commands as text, with single spaces and without quotes."""

    def _add_arguments(self, run: RunCommand) -> None:
        if run.name in _CODE_PROGRAMS:
            inputs = [redirect.target for redirect in run.redirects if redirect.operator == "<<<"]
            self._codes += [word.text for word in (*run.words[1:], *inputs) if re.search(r"[\s\"']", word.text)]
        if run.name in _NO_WRAPPERS:
            return
        for place in range(1, min(len(run.words), _MAX_OWN_WORDS + 1)):
            word = run.words[place]
            if not word.dynamic and not word.is_option:
                self._in_arguments.setdefault(program_name(word), []).append(run.words[place:])

    def comparisons(self, rule: PermissionRule) -> int:
        """Return the number of commands that must be compared with the rule word by word."""
        pattern = _word_pattern(rule.match_type, rule.pattern)
        in_arguments = len(self._in_arguments.get(pattern.program, ())) if pattern else 0
        return sum(1 for _ in self._candidates(pattern)) + in_arguments + len(self._codes)

    def match(self, rule: PermissionRule) -> Match:
        """Return whether a rule that denies or asks matches one of the commands, word by word."""
        if rule.match_type is MatchType.REGEX:
            commands = chain.from_iterable(self._by_program.values())
            return Match.MAYBE if any(_may_fit(rule.pattern, command) for command in commands) else Match.NO
        pattern = _word_pattern(rule.match_type, rule.pattern)
        if pattern is None:
            return Match.NO
        found = max((_match(pattern, command) for command in self._candidates(pattern)), default=Match.NO)
        return Match.MAYBE if found is Match.NO and self._may_run(rule, pattern) else found

    def _may_run(self, rule: PermissionRule, pattern: "_WordPattern") -> bool:
        """Return True if a program that is not known, or code of another language, may run the rule's command.

        A pattern of one word is not searched: it would also match names, as in `apt-get install curl`.
        """
        if not pattern.operands and not pattern.options:
            return False
        commands = (_normalized(words) for words in self._in_arguments.get(pattern.program, ()))
        if any(_match(pattern, command) is not Match.NO for command in commands):
            return True
        code = _code_pattern(rule.match_type, rule.pattern)
        return code is not None and any(code.search(text) for text in self._codes)

    def _candidates(self, pattern: _WordPattern | None) -> Iterator[_NormalizedCommand]:
        """Return the commands of the pattern's program, and those of an unknown program."""
        if pattern is None:
            return
        yield from self._by_program.get("", ())
        if "*" not in pattern.program:
            yield from self._by_program.get(pattern.program, ())
            return
        for program, commands in self._by_program.items():
            if program and matches_glob(pattern.program, program):
                yield from commands


# -- rules that deny or ask ----------------------------------------------------------------------------


def _match(pattern: _WordPattern, command: _NormalizedCommand) -> Match:
    for is_lenient in (False, True):
        if is_lenient and command.is_certain and command.program and not any(word.dynamic for word in command.words):
            break
        if not command.program and not is_lenient:
            continue
        has_options = all(any(_same_option(option, own) for own in command.options) for option in pattern.options) or (
            is_lenient and not command.is_certain
        )
        if not has_options or not _has_operands(pattern, command, is_lenient=is_lenient):
            continue
        if pattern.is_exact and not _is_exact(pattern, command) and not is_lenient:
            continue
        return Match.MAYBE if is_lenient else Match.YES
    return Match.NO


def _same_option(pattern: str, option: str) -> bool:
    """Return True if the option of a command is that of the pattern, perhaps abbreviated."""
    if matches_glob(pattern, option):
        return True
    name = option.partition("=")[0]
    return len(name) > 2 and name.startswith("--") and pattern.rstrip("*").startswith(name) and "=" not in pattern


def _has_operands(pattern: _WordPattern, command: _NormalizedCommand, *, is_lenient: bool) -> bool:
    """Return True if the command has the operands of the pattern in this order.

    A name, such as a subcommand, must be the next operand; paths and others may follow later. An option may take the
    next word as its value, so that word may be skipped.
    """
    wanted, words = pattern.operands, command.words
    anywhere = command.program in _FILE_PROGRAMS
    states: list[set[int]] = [set() for _ in range(len(words) + 3)]
    states[0].add(0)
    only_operands = False
    for place in range(len(words) + 2):
        for state in sorted(states[place]):
            while state < len(wanted) and wanted[state] == "*":
                state += 1
                states[place].add(state)
        if len(wanted) in states[place]:
            return True
        if place >= len(words):
            continue
        word = words[place]
        if not only_operands and not word.wild and word.is_option:
            only_operands = word.text == "--"
            states[place + 1] |= states[place]
            if "=" not in word.text and not only_operands:
                states[place + 2] |= states[place]
            continue
        for state in states[place]:
            if word.wild and is_lenient:
                return True
            if wanted[state] == "*" or anywhere or not _SUBCOMMAND.fullmatch(wanted[state].rstrip("*")):
                states[place + 1].add(state)
            if _same_operand(wanted[state], word, is_lenient=is_lenient):
                states[place + 1].add(state + 1)
    return False


def _same_operand(glob: str, word: ShellWord, *, is_lenient: bool) -> bool:
    if word.dynamic:
        known = glob.partition("*")[0]
        return is_lenient and (known.startswith(word.text) or word.text.startswith(known))
    if matches_glob(glob, word.text):
        return True
    return "/" in word.text and matches_glob(glob, re.sub("^/+", "/", posixpath.normpath(word.text)))


def _is_exact(pattern: _WordPattern, command: _NormalizedCommand) -> bool:
    """Return True if the command has nothing that the pattern does not name."""
    operands = [word for word in command.words if not word.is_option and word.text != "--"]
    named = all(any(_same_option(option, own) for option in pattern.options) for own in command.own_options)
    return named and ("*" in pattern.operands or len(operands) == len(pattern.operands))


def _may_fit(pattern: str, command: _NormalizedCommand) -> bool:
    """Return True if unknown words of the command could make it match this regular expression."""
    if command.is_certain and command.program:
        return False
    return command.program == "" or command.program in pattern


@lru_cache(maxsize=4096)
def _word_pattern(match_type: MatchType, pattern: str) -> _WordPattern | None:
    """Return the pattern of a rule as words, or None if it is not that of one command."""
    if match_type is MatchType.REGEX:
        return None
    text = re.sub(r"(?<=\S)\*+(?=-)", "* ", pattern) if match_type is MatchType.GLOB else pattern
    words = _pattern_words(text)
    if words is None:
        return None
    is_open = match_type is MatchType.PREFIX and (not pattern or not pattern[-1].isspace())
    if not words:
        return _WordPattern("*", (), (), is_exact=False) if is_open else None
    if match_type is not MatchType.GLOB and any("*" in word for word in words):
        return None  # the star is a character like any other; the text is compared
    if is_open:
        words[-1] += "*"
    command = _normalized(words_of(words), is_pattern=True)
    operands = [word.text for word in command.words if not word.is_option and word.text != "--"]
    is_glob_end = match_type is MatchType.GLOB and pattern.endswith("*") and operands[-1:] == ["*"]
    return _WordPattern(
        command.program,
        tuple(operands[:-1] if is_glob_end else operands),
        tuple(sorted(command.options)),
        is_exact=match_type is MatchType.EXACT or (match_type is MatchType.GLOB and not pattern.endswith("*")),
    )


@lru_cache(maxsize=4096)
def _code_pattern(match_type: MatchType, pattern: str) -> re.Pattern[str] | None:
    """Return an expression that finds the words of a pattern in code, in one string or several; None for one word."""
    words = _pattern_words(pattern.replace("*", " ") if match_type is MatchType.GLOB else pattern)
    if not words or len(words) < 2:
        return None
    return re.compile(r"(?<![\w-])" + r"[\s\"',]+".join(map(re.escape, words)))


def _pattern_words(pattern: str) -> list[str] | None:
    if not re.search(r"[^\w\s./:=+*@%,~^-]", pattern):
        return pattern.split()
    script = parse_script(pattern.replace("*", "\\*"))
    if script.problem or len(script.commands) != 1:
        return None
    (command,) = script.commands
    if command.assignments or command.redirects or any(word.dynamic for word in command.words):
        return None
    return [word.text for word in command.words]


def _normalized(words: Sequence[ShellWord], *, is_pattern: bool = False) -> _NormalizedCommand:
    """Return the command without folder, with git's subcommand first, and its options in long form."""
    program, arguments = program_name(words[0]), [*words[1:]]
    if words[0].dynamic:
        program, arguments = "", [UNKNOWN, *arguments]
    forms = _LONG_FORMS
    if program.startswith("git-") and program[4:] in GIT_COMMANDS:
        program, arguments = "git", [ShellWord(program[4:], program[4:]), *arguments]
    if program == "git":
        arguments = _without_git_options([ShellWord("git"), *arguments], is_pattern=is_pattern)
        forms = {**_LONG_FORMS, **_PROGRAM_FORMS.get(f"git {arguments[0].text}" if arguments else "", {})}
    own_options = frozenset(_options(program, arguments, forms, is_pattern=True))
    options = own_options if is_pattern else frozenset(_options(program, arguments, forms, is_pattern=False))
    certain = not any(word.wild for word in arguments)
    return _NormalizedCommand(program, arguments, options, own_options, is_certain=certain)


def _without_git_options(words: list[ShellWord], *, is_pattern: bool) -> list[ShellWord]:
    """Return the words after `git` without the options before the subcommand; an alias may be any words."""
    start = git_subcommand(words)
    arguments = words[start:]
    before = [word.text for word in words[1:start]]
    if any(text.startswith(("-c", "--config-env", "--exec-path")) for text in before):
        arguments.append(UNKNOWN)
    if not is_pattern and arguments and arguments[0].text not in GIT_COMMANDS | GIT_RISKY_COMMANDS:
        arguments = [UNKNOWN, *arguments]
    if arguments and arguments[0].text == "push":
        if any(word.text.startswith("+") and not word.is_option for word in arguments):
            arguments.append(ShellWord("--force", "--force"))
        if any(len(word.text) > 2 and "--mirror".startswith(word.text) for word in arguments):
            arguments.append(ShellWord("--force", "--force"))
    return arguments


def _options(program: str, words: Sequence[ShellWord], forms: dict[str, str], *, is_pattern: bool) -> Iterator[str]:
    """Return the options in long form where it is known, and single letters otherwise.

    Those of a command are returned in all forms; a pattern has one form of each.
    """
    for place, word in enumerate(words):
        text = word.text
        if text == "--":
            return
        if not word.is_option or word.dynamic:
            continue
        letters = text[1:].rstrip("*") if is_pattern else text[1:]
        is_cluster = (letters.isalpha() or (letters.isalnum() and not is_pattern)) and (
            len(letters) <= _MAX_CLUSTER or program == "rm"
        )
        is_cluster = is_cluster and program not in _LONG_DASH_PROGRAMS
        if not is_pattern or not is_cluster:
            yield text
        if is_cluster:
            for letter in letters:
                yield from forms.get(letter, f"-{letter}").split()
        elif not is_pattern and text.startswith("--") and "=" not in text and place + 1 < len(words):
            yield f"{text}={words[place + 1].text}"


# -- rules that allow ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a rule that allows applies to a command."""

    risk: str | None = None
    """What the command does that the rule does not cover; None if it is covered."""


def find_coverage(rule: PermissionRule, run: RunCommand) -> Coverage | None:
    """Return how the rule covers the command, or None if its pattern does not match."""
    own = _own_coverage(rule, run)
    if run.inner is None or (own is not None and own.risk is None):
        return own
    inner = find_coverage(rule, run.inner)
    return inner if inner is not None and (inner.risk is None or own is None) else own


def find_loose_coverage(rule: PermissionRule, run: RunCommand) -> Coverage:
    """Return how a rule on another field, or on the input as JSON, covers the command."""
    literal = frozenset(re.split(r"[\s\"\[\]{},:]+", rule.pattern))
    named = next((place for place, word in enumerate(run.words) if word.text not in literal), len(run.words))
    wrapper = program_name(run.words[0]) if run.last_start >= max(named, 1) else None
    return Coverage(surrounding_risk(run) or wrapper or find_risk(run.words, max(named, 1), literal))


def _own_coverage(rule: PermissionRule, run: RunCommand) -> Coverage | None:
    named, literal = _named_words(rule, run.words)
    if named is None or (len(run.words) == named and rule.pattern[-1:].isspace() and not run.redirects):
        return None
    if rule.match_type is MatchType.EXACT and not any(word.dynamic for word in run.words):
        return Coverage(surrounding_risk(run))
    risk = surrounding_risk(run) or find_risk(run.words, named, literal)
    if risk is None and run.last_start >= max(named, 1):
        risk = f"{program_name(run.words[0])}, which runs another command"
    elif risk is None and run.last_start:
        is_joined = any(program_name(word) in JOINING for word in run.words[: run.last_start])
        if is_joined and not all(_PLAIN_WORD.fullmatch(word.text) for word in run.words[named:]):
            risk = "words that another shell reads"
        else:
            risk = find_risk(run.words[run.last_start :], named - run.last_start, literal)
    return Coverage(risk)


def _named_words(rule: PermissionRule, words: Sequence[ShellWord]) -> tuple[int | None, frozenset[str]]:
    """Return how many words the pattern names if it matches, and further words that it names anywhere."""
    nothing: frozenset[str] = frozenset()
    if not words:
        return None, nothing
    if rule.match_type in (MatchType.GLOB, MatchType.REGEX):
        if not fits(rule, _text(words)):
            return None, nothing
        plain = rule.pattern.replace("\\", "").split()
        count = 0
        for text, word in zip(plain, words, strict=False):
            if text != word.text:
                break
            count += 1
        return count, frozenset(plain)
    pattern = _pattern_words(rule.pattern)
    if pattern is None or len(pattern) > len(words):
        return None, nothing
    known = words[: len(pattern)]
    if any(word.dynamic for word in known):
        return None, nothing
    texts = [word.text for word in known]
    if texts == pattern:
        if rule.match_type is MatchType.EXACT:
            return (len(pattern) if len(words) == len(pattern) else None), nothing
        return len(pattern), nothing
    is_open = rule.match_type is MatchType.PREFIX and bool(pattern) and not rule.pattern[-1].isspace()
    if is_open and texts[:-1] == pattern[:-1] and texts[-1].startswith(pattern[-1]):
        return len(pattern) - 1, nothing
    return None, nothing


def surrounding_risk(run: RunCommand) -> str | None:
    """Return the assignment or redirection of a command that no rule covers by its words."""
    for word in run.assignments:
        name = word.text.partition("=")[0]
        if name not in SAFE_VARIABLES or word.dynamic:
            return f"the assignment of {name[:80] or 'a variable'}"
    for redirect in run.redirects:
        if risk := _redirect_risk(redirect):
            return risk
    return None


def _redirect_risk(redirect: Redirect) -> str | None:
    target = redirect.target
    if redirect.operator in (">&", "<&") and _DESCRIPTOR.fullmatch(target.text) and not target.dynamic:
        return None
    if redirect.operator == "<<<":
        return None
    if redirect.operator == "<":
        is_network = target.text.startswith(("/dev/tcp", "/dev/udp")) or target.wild
        return "input from a place that is not known or a network" if is_network else None
    if target.text in _SAFE_TARGETS and not target.dynamic:
        return None
    return f"output to {target.raw[:80] or 'a file'}"


# -- text ----------------------------------------------------------------------------------------------


def _texts(words: Sequence[ShellWord]) -> Iterator[str]:
    """Return the command as text: as written, and with its options first and last."""
    program = program_name(words[0])
    yield _text(words)
    words = words[git_subcommand(words) :] if program == "git" else words[1:]
    arguments = [_text([word]) for word in words]
    yield " ".join([program, *arguments])
    options = [text for text in arguments if text.startswith("-")]
    operands = [text for text in arguments if not text.startswith("-")]
    if options and operands:
        subcommand = operands[:1]
        yield " ".join([program, *subcommand, *options, *operands[1:]])
        yield " ".join([program, *options, *operands])
        yield " ".join([program, *operands, *options])


def _text(words: Sequence[ShellWord]) -> str:
    """Return words with single spaces between them; words with spaces of their own are quoted."""
    texts = (word.raw if word.dynamic else word.text for word in words)
    return " ".join(text if text and not re.search(r"\s", text) else shlex.quote(text) for text in texts)
