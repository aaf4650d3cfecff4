"""The commands that a script runs, those behind wrappers (`env`, `sudo`, `xargs`, `bash -c`) included."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.features.permissions.shell_lexer import (
    Redirect,
    Script,
    ShellCommand,
    ShellWord,
    parse_script,
    parse_substitutions,
    split_words,
)

MAX_DEPTH = 10
# Programs that run the command in their arguments, and how many arguments of their own stand before it.
WRAPPERS = {
    **dict.fromkeys(
        ("env", "sudo", "doas", "pkexec", "command", "builtin", "exec", "coproc", "noglob", "nocorrect"), 0
    ),
    **dict.fromkeys(("-", "nohup", "nice", "ionice", "setsid", "stdbuf", "time", "xargs", "parallel", "watch"), 0),
    **dict.fromkeys(("strace", "ltrace", "valgrind", "catchsegv", "unbuffer", "eatmydata", "caffeinate", "chronic"), 0),
    **dict.fromkeys(("busybox", "toybox", "unshare", "nsenter", "setpriv", "firejail", "fakeroot", "systemd-run"), 0),
    **dict.fromkeys(("dbus-run-session", "xvfb-run", "rlwrap", "entr", "npx", "bunx", "arch", "linux32", "linux64"), 0),
    **dict.fromkeys(("proxychains", "torsocks", "prlimit", "sshpass", "bwrap"), 0),
    **dict.fromkeys(("runuser", "tini", "dumb-init"), 0),
    # GNU programs as macOS names them
    **dict.fromkeys(("genv", "gnice", "gnohup", "gstdbuf", "gtime", "gxargs"), 0),
    **dict.fromkeys(("timeout", "taskset", "chrt", "flock", "chroot", "repeat", "ssh", "script", "gosu", "su-exec"), 1),
    "gtimeout": 1,
}
# The same for subcommands.
_RUNNERS = {
    **dict.fromkeys(("uv run", "poetry run", "pipenv run", "bundle exec", "conda run", "mise exec", "direnv exec"), 0),
    **dict.fromkeys(("npm exec", "npm x", "pnpm exec", "pnpm dlx", "yarn exec"), 0),
    **dict.fromkeys(("docker run", "docker exec", "podman run", "podman exec", "kubectl exec"), 1),
    **dict.fromkeys(("docker-compose run", "docker-compose exec"), 1),
    **dict.fromkeys(("docker compose run", "docker compose exec", "podman compose run", "podman compose exec"), 1),
}
SHELLS = split_words("sh bash zsh dash ksh ash mksh fish")
# Programs with a script as the argument of `-c`.
_STRING_PROGRAMS = SHELLS | {"su", "runuser", "script", "flock", "sg", "emulate", "npx", "npm", "mapfile", "readarray"}
# Programs that run their arguments as shell text, each by itself.
_TEXT_RUNNERS = split_words("tmux screen hyperfine concurrently watchexec nodemon nix-shell xterm vagrant adb")
# Commands of a shell that evaluate a subscript in an argument, as in `test -v 'a[$(command)]'`.
ARITHMETIC_COMMANDS = split_words(
    "let [[ test [ declare typeset local export readonly integer float read unset printf print mapfile readarray wait "
    "getopts exit return shift"
)
# Variables whose value a shell or a program runs; git has further ones.
_COMMAND_VARIABLE = lazy_pattern(
    r"(?:BASH_ENV|ENV|PS\d|PROMPT_COMMAND|PERL5OPT|LESSOPEN|LESSCLOSE|BROWSER|GIT_ASKPASS|GIT_SSH|GIT_EXTERNAL_DIFF"
    r"|[A-Z_]*(?:EDITOR|PAGER|_COMMAND|_RSH)|VISUAL)"
)
# Programs that pass their words to a shell, joined by spaces.
JOINING = frozenset(("ssh", "watch", "parallel"))
# Programs that append arguments which they read.
_APPENDING = frozenset(("xargs", "parallel"))
_FIND_EXECUTES = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FD_EXECUTES = frozenset(("-x", "-X", "--exec", "--exec-batch"))
# Options of git before the subcommand that take the next word.
GIT_VALUES = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")
)
# Programs with assignments among their arguments.
_EXPORTING = frozenset(("export", "declare", "typeset", "local", "readonly", "env"))
# Options of ssh that take a value: without this list the host would be taken for a command.
_SSH_VALUES = "BbcDEeFIiJLlmOopQRSWw"
# Options of bash that are no clusters, also with one dash.
_SHELL_OPTIONS = frozenset(("norc", "rcfile", "restricted", "protected"))
# Settings of git whose value is a command.
_GIT_COMMAND_KEY = lazy_pattern(r"^alias\.|(?:editor|pager|command|external|fsmonitor|textconv|cmd|helper|askpass)$")
_STANDARD_INPUT = lazy_pattern(r"-|/dev/stdin|/dev/fd/\d+|/proc/[^/]+/fd/\d+")
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*\+?=")
_DURATION = lazy_pattern(r"[\d.]+[smhd]?")
# More positions than the command of any real wrapper can have.
_MAX_STARTS = 64
_MAX_BETWEEN = 8
UNKNOWN = ShellWord("", dynamic=True, wild=True)


@dataclass(slots=True)
class RunCommand:
    """One command that a script runs."""

    words: list[ShellWord]
    """The program and its arguments, after assignments."""
    assignments: Sequence[ShellWord] = ()
    redirects: Sequence[Redirect] = ()
    last_start: int = 0
    """Where the command of a wrapper begins in `words`, at the latest; 0 without a wrapper."""
    is_inner: bool = False
    """True for the command of a wrapper. A rule that allows must match the words of the wrapper."""
    inner: "RunCommand | None" = None
    """The command of a wrapper that changes nothing about it, such as `time`."""

    @property
    def name(self) -> str:
        return program_name(self.words[0]) if self.words else ""


def program_name(word: ShellWord) -> str:
    """Return the name of a program without its folder, in lower case: some file systems ignore case."""
    return posixpath.basename(word.text.lstrip("=")).lower().removesuffix(".exe")


def commands_of(script: Script, depth: int = 0) -> Iterator[RunCommand]:
    """Return the commands of a script and those that they run. Problems of inner scripts become the script's."""
    for command in script.commands:
        yield from _expanded(command, script, depth)


def commands_of_words(words: list[ShellWord], script: Script) -> Iterator[RunCommand]:
    """Like `commands_of`, for the words of one command that no shell reads."""
    yield from _expanded(ShellCommand(words=words), script, 0)


def _expanded(command: ShellCommand, script: Script, depth: int) -> Iterator[RunCommand]:
    """Return the command, the commands of its wrappers, and those of its script texts."""
    if depth > MAX_DEPTH:
        script.problem = script.problem or "it is nested too deeply"
        return
    starts = _all_starts(command.words)
    if len(starts) > _MAX_STARTS:
        script.problem = script.problem or "it has too many wrappers"
    redirects = [*command.redirects, *([Redirect("<<<", command.input_text)] if command.input_text else ())]
    runs = [
        RunCommand(words, command.assignments, redirects, is_inner=start > 0 or command.is_text)
        for start, words in starts.items()
    ]
    for run in runs:
        if run.name == "git" and _configures_git(command):
            run.words = [*run.words, UNKNOWN]
    by_start = dict(zip(starts, runs, strict=True))
    executed = [
        (start + place, words) for start, run in by_start.items() for place, words in _executed_words(run.words)
    ]
    runs[0].last_start = max([*starts, *(place for place, _ in executed)])
    start, outer = 0, runs[0]
    while (own := _transparent_words(outer.words)) and start + own in by_start:
        start, outer.inner = start + own, by_start[start + own]
        outer = outer.inner
        outer.last_start = runs[0].last_start - start
    yield from runs
    for word in command.assignments:
        yield from _of_assignment(word, script, depth)
    for run in runs:
        for text in _script_texts(run.words, command) if run.words else ():
            yield from _of_text(text, script, depth)
        for word in run.words if run.name in ARITHMETIC_COMMANDS else ():
            yield from commands_of(parse_substitutions(word, depth + 1), depth + 1)
        for word in run.words if run.name in _EXPORTING else ():
            yield from _of_assignment(word, script, depth)
        if run.name in JOINING:
            for inner in _of_text(_joined(run.words[max(_starts(run.words), default=len(run.words)) :]), script, depth):
                inner.is_inner = True
                yield inner
    for _, words in executed:
        for place, run in enumerate(_expanded(ShellCommand(words=words), script, depth + 1)):
            run.is_inner = run.is_inner or place == 0
            yield run


def _of_text(text: ShellWord, script: Script, depth: int) -> Iterator[RunCommand]:
    """Return the commands of a script in an argument."""
    if text.dynamic:
        yield RunCommand([UNKNOWN])
        return
    if text.text in script.inner_texts:
        return
    script.inner_texts.add(text.text)
    inner = parse_script(text.text, depth + 1)
    inner.inner_texts = script.inner_texts
    yield from commands_of(inner, depth + 1)
    script.problem = script.problem or inner.problem


def _configures_git(command: ShellCommand) -> bool:
    """Return True if variables configure git, so that its command may have any options."""
    return any(word.text.startswith("GIT_CONFIG_") for word in (*command.assignments, *command.words))


def _of_assignment(word: ShellWord, script: Script, depth: int) -> Iterator[RunCommand]:
    """Return the commands in a value that is evaluated later, as a subscript, a prompt or the command of a program."""
    name, equals, value = word.text.partition("=")
    if not equals or word.dynamic:
        return
    yield from commands_of(parse_substitutions(ShellWord(value, value), depth + 1), depth + 1)
    if _COMMAND_VARIABLE.fullmatch(name) and value not in script.inner_texts:
        script.inner_texts.add(value)
        inner = parse_script(value, depth + 1)
        inner.inner_texts = script.inner_texts
        for run in commands_of(inner, depth + 1):
            run.is_inner = True
            yield run


# -- wrappers ------------------------------------------------------------------------------------------


def _all_starts(words: list[ShellWord]) -> dict[int, list[ShellWord]]:
    """Return all positions at which a command may begin, with its words; 0 is the whole command."""
    found, queue = {0: words}, [0]
    while queue and len(found) <= _MAX_STARTS:
        place = queue.pop(0)
        current = found[place]
        for start in _starts(current):
            if place + start not in found and len(found) <= _MAX_STARTS:
                found[place + start] = _arguments_appended(current, start)
                queue.append(place + start)
    return found


def _starts(words: list[ShellWord]) -> list[int]:
    """Return where the command of this wrapper may begin: an option may take the next word, or not."""
    if not words:
        return []
    name = program_name(words[0])
    first, own = 1, WRAPPERS.get(name)
    for count in (2, 3):
        if own is None and len(words) > count:
            first, own = count, _RUNNERS.get(" ".join([name, *(word.text for word in words[1:count])]))
    if own is None or (name == "command" and words[1:2] and words[1].text in ("-v", "-V")):
        return []
    found: set[int] = set()
    queue, seen = [(first, own)], set[tuple[int, int]]()
    while queue:
        place, left = queue.pop()
        if place >= len(words) or (place, left) in seen:
            continue
        seen.add((place, left))
        word = words[place]
        if word.text == "--" or _ASSIGNMENT.match(word.text):
            queue.append((place + 1, left))
        elif word.is_option:
            takes_value = _takes_value(name, word.text)
            if takes_value is not True:
                queue.append((place + 1, left))
            if takes_value is not False:
                queue.append((place + 2, left))
        elif left:
            queue.append((place + 1, left - 1))
        else:
            found.add(place)
    return sorted(found)


def _takes_value(program: str, option: str) -> bool | None:
    """Return whether the option takes the next word; None if that is not known."""
    if option.startswith("--"):
        return False if "=" in option else None
    if program != "ssh":
        return None
    place = next((place for place, letter in enumerate(option) if letter in _SSH_VALUES), None)
    return place == len(option) - 1


def _transparent_words(words: list[ShellWord]) -> int:
    """Return the number of words before the command of a wrapper that changes nothing about it; 0 for others."""
    if len(words) < 2 or words[1].is_option:
        return 0
    match words[0].raw:
        case "time" | "command" | "builtin" | "noglob" | "nocorrect":
            return 1
        case "timeout" if _DURATION.fullmatch(words[1].raw):
            return 2
        case _:
            return 0


def _arguments_appended(words: list[ShellWord], start: int) -> list[ShellWord]:
    """Return the words of the inner command, with the arguments that `xargs` adds to it."""
    inner = words[start:]
    if program_name(words[0]) not in _APPENDING:
        return inner
    tokens = {"{}"}
    for option, value in pairwise(words[1 : start + 1]):
        if option.text.startswith(("-I", "-J", "-i")):
            tokens.add(option.text[2:] or value.text)
        elif option.text.startswith("--replace="):
            tokens.add(option.text.partition("=")[2])
    tokens.discard("")
    inner = [UNKNOWN if any(token in word.text for token in tokens) else word for word in inner]
    return [*inner, UNKNOWN]


# -- scripts and commands in arguments -----------------------------------------------------------------


def _script_texts(words: list[ShellWord], command: ShellCommand) -> Iterator[ShellWord]:
    """Return the shell text that the command runs; a dynamic word if it is not known."""
    name, arguments = program_name(words[0]), words[1:]
    if name in _STRING_PROGRAMS:
        yield from _option_values(arguments, "cC", ("--command", "--init-command"))
    if name in SHELLS:
        yield from _shell_input(arguments, command)
    elif name in ("source", "."):
        yield from _script_input(arguments[0] if arguments else None, command)
    elif name == "parallel" and not _starts(words):
        yield UNKNOWN
    elif name == "env":
        for place in range(len(arguments)):
            for text in _option_values(arguments[place : place + 2], "S", ("--split-string",)):
                yield text
                yield _joined([text, *arguments[place + 1 :]])
                yield _joined([text, *arguments[place + 2 :]])
    elif name == "trap":
        yield from arguments[:2]
    elif name == "eval":
        yield _joined(arguments[1:] if arguments and arguments[0].text == "--" else arguments)
    elif name in ("alias", "abbr"):
        yield from _alias_values(arguments)
    elif name in _TEXT_RUNNERS:
        yield from (word for word in arguments if not word.dynamic and not word.text.isalnum())
    elif name in ("at", "batch") and not any(word.is_option for word in arguments):
        yield command.input_text or UNKNOWN
    elif name in ("make", "gmake"):
        yield from _make_scripts(arguments)
    elif name == "hash" and any(word.is_option and "p" in word.text for word in arguments):
        yield UNKNOWN
    elif name == "git":
        yield from _git_scripts(words)


def _alias_values(arguments: Sequence[ShellWord]) -> Iterator[ShellWord]:
    """Return the commands of `alias x=command` and, in fish, of `alias x command`."""
    operands = [word for word in arguments if not word.is_option]
    for place, word in enumerate(operands):
        _, equals, value = word.text.partition("=")
        if equals:
            yield ShellWord(value, value, word.dynamic, word.wild)
        elif place == 0 and len(operands) > 1 and not any("=" in one.text for one in operands):
            yield _joined(operands[1:])


def _make_scripts(arguments: Sequence[ShellWord]) -> Iterator[ShellWord]:
    """Return an unknown script for a makefile that is part of the command."""
    for place, word in enumerate(arguments):
        if word.text.startswith(("--eval", "-E")):
            yield UNKNOWN
        elif word.is_option and not word.text.startswith("--") and word.text.endswith("f"):
            yield from (UNKNOWN for file in arguments[place + 1 : place + 2] if _is_unknown_file(file))
        elif word.text.startswith(("-f", "--file=", "--makefile=")):
            value = word.text.partition("=")[2] if word.text.startswith("--") else word.text[2:]
            yield from (UNKNOWN for file in [ShellWord(value, value, word.dynamic)] if _is_unknown_file(file))


def _is_unknown_file(word: ShellWord) -> bool:
    return word.dynamic or _STANDARD_INPUT.fullmatch(word.text) is not None


def _option_values(arguments: Sequence[ShellWord], letters: str, names: Sequence[str]) -> Iterator[ShellWord]:
    """Return the possible values of an option: attached, or one of the next words."""
    for place, word in enumerate(arguments):
        long_name, equals, value = word.text.partition("=")
        if long_name in names and equals:
            yield ShellWord(value, value, word.dynamic, word.wild)
        elif word.is_option and not word.text.startswith("--"):
            found = next((index for index, letter in enumerate(word.text) if letter in letters), 0)
            if not found:
                continue
            rest = arguments[place + 1 :]
            attached = word.text[found + 1 :]
            if attached:
                yield ShellWord(attached, attached, word.dynamic, word.wild)
            # other options and their values may stand between the option and the script
            yield from (one for index, one in enumerate(rest[:_MAX_BETWEEN]) if index == 0 or not one.is_option)
        elif long_name in names:
            yield from arguments[place + 1 : place + 2]


def _shell_input(arguments: Sequence[ShellWord], command: ShellCommand) -> Iterator[ShellWord]:
    """Return the script that a shell reads from a file that cannot be known, or from its standard input."""
    operand = None
    for place, word in enumerate(arguments):
        if word.text in ("--version", "--help"):
            return
        if word.text.startswith("+"):
            continue
        if word.is_option and "c" in word.text and word.text.lstrip("-") not in _SHELL_OPTIONS and word.text[1] != "-":
            return
        is_value = place > 0 and arguments[place - 1].text.lstrip("-+") in ("o", "O", "rcfile", "init-file")
        if not word.is_option and not is_value:
            operand = word
            break
    if any(word.text == "-s" for word in arguments):
        operand = None
    yield from _script_input(operand, command)


def _script_input(file: ShellWord | None, command: ShellCommand) -> Iterator[ShellWord]:
    """Return the script in a file, if it is the standard input or cannot be known."""
    if file is None or _STANDARD_INPUT.fullmatch(file.text):
        yield command.input_text or UNKNOWN
    elif file.dynamic:
        yield UNKNOWN


def _joined(words: Sequence[ShellWord]) -> ShellWord:
    if any(word.dynamic for word in words):
        return UNKNOWN
    text = " ".join(word.text for word in words)
    return ShellWord(text, text)


def _git_scripts(words: list[ShellWord]) -> Iterator[ShellWord]:
    """Return the shell text in the arguments of git's subcommands."""
    start = git_subcommand(words)
    arguments = words[start + 1 :]
    for text in [word.text for word in words[1:start]]:
        key, _, value = text.removeprefix("-c").partition("=")
        if value and _GIT_COMMAND_KEY.search(key.lower()):
            yield ShellWord(value.removeprefix("!"))
    match [word.text for word in words[start : start + 2]]:
        case ["submodule", *_]:
            place = next((index for index, word in enumerate(arguments) if word.text == "foreach"), None)
            if place is not None:
                options = 1 if arguments[place + 1 : place + 2] and arguments[place + 1].is_option else 0
                yield _joined(arguments[place + 1 + options :])
        case ["bisect", "run"]:
            yield _joined(arguments[1:])
        case ["rebase", *_]:
            yield from _option_values(arguments, "x", ("--exec",))
        case _:
            return


def git_subcommand(words: Sequence[ShellWord]) -> int:
    """Return the place of git's subcommand, after the options before it; the number of words if there is none."""
    place = 1
    while place < len(words) and words[place].is_option:
        place += 2 if words[place].text in GIT_VALUES else 1
    return min(place, len(words))


def _executed_words(words: list[ShellWord]) -> Iterator[tuple[int, list[ShellWord]]]:
    """Return the commands in the arguments of `find` and `fd`, with their places."""
    if not words:
        return
    name = program_name(words[0])
    options = _FIND_EXECUTES if name == "find" else _FD_EXECUTES if name in ("fd", "fdfind") else ()
    for place, word in enumerate(words):
        if word.text in options:
            rest = words[place + 1 :]
            end = next((index for index, one in enumerate(rest) if one.text in (";", "+")), len(rest))
            if rest[:end]:
                yield place + 1, rest[:end]
