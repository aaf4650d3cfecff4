"""Words of a command that run other programs or write files, as far as they are known.

A rule that allows a command covers the words that it names. Of the words after them, those listed here are not covered.
The list is of common programs and cannot be complete: a rule should name as many words as possible.
"""

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.features.permissions.shell_commands import (
    ARITHMETIC_COMMANDS,
    GIT_VALUES,
    SHELLS,
    git_subcommand,
    program_name,
)
from scrubjay.features.permissions.shell_lexer import ShellWord, split_words

# Programs without an option that runs code or writes; a word that is not known is covered too.
HARMLESS_PROGRAMS = split_words(
    "cat echo ls wc head tail pwd true false basename dirname realpath readlink stat du df whoami id uname which "
    "type grep egrep fgrep cut tr nl od cmp comm diff seq sleep file jq md5sum sha1sum sha256sum tac rev fold "
    "hostname groups nproc uptime free tty cd mkdir touch"
)
# Long options of any program; one may be abbreviated.
_LONG = split_words(
    "exec exec-path exec-batch execute command cmd eval output output-file output-dir output-directory "
    "output-document out outfile write in-place pager editor rsh shell require import loader plugin log-file "
    "proxy-command config config-file script"
)
# Variables of the environment that change language, time zone, colours, buffering or messages only.
SAFE_VARIABLES = split_words(
    "LANG LC_ALL LC_CTYPE LC_MESSAGES TZ CI NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES NODE_ENV "
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_BACKTRACE RUST_LOG DEBIAN_FRONTEND"
)


@dataclass(frozen=True, slots=True)
class ProgramRisks:
    """The arguments of a program that run code or write files."""

    letters: str = ""
    """Short options."""
    _: KW_ONLY
    valued: str = ""
    """Short options that take a value, which may follow without a space."""
    has_long_dash: bool = False
    """True if options of several letters have one dash, so that they are no clusters."""
    options: str = ""
    """Other options, without dashes, in addition to `_LONG`."""
    harmless_options: str = ""
    """Options of `_LONG` that this program uses for something else."""
    commands: str = ""
    """Subcommands that are not covered."""
    safe_commands: str = ""
    """If given, the only subcommands that are covered."""
    operand: str = ""
    """Regular expression that no operand may match."""
    harmless_value: str = ""
    """Regular expression of values that make a listed option harmless."""
    max_operands: int | None = None


_RISKS = {
    "awk": ProgramRisks(
        "filEeodpDW",
        options="file source load include debug dump-variables profile pretty-print",
        operand=r"(?s).*(?:system|getline|@|\\\n|(?<!\|)\|(?!\|)).*",  # `||` is no pipe
    ),
    "tar": ProgramRisks(
        options="info-script new-volume-script rsh-command rmt-command get extract create append update index-file "
        "volno-file listed-incremental checkpoint-action use-compress-program to-command"
    ),
    "find": ProgramRisks(options="exec execdir ok okdir delete fprint fprint0 fprintf fls"),
    "fd": ProgramRisks("xX"),
    "rsync": ProgramRisks("e", options="rsync-path"),
    "ssh": ProgramRisks("oFELRDSw"),
    "scp": ProgramRisks("oSF"),
    "sftp": ProgramRisks("oSFbD"),
    "make": ProgramRisks("fCIE", options="file makefile directory include-dir", operand=r".*=.*"),
    "npm": ProgramRisks(
        "C", safe_commands="ls list view info outdated ping whoami root prefix help search explain why fund",
        options="script-shell prefix node-options userconfig globalconfig git cwd dir",
    ),
    "pip": ProgramRisks(safe_commands="list show freeze check help debug inspect", options="python log"),
    "docker": ProgramRisks(
        safe_commands="ps images logs inspect version info stats top port diff events history search"
    ),
    "kubectl": ProgramRisks(
        safe_commands="get describe logs version explain api-resources api-versions top",
        harmless_options="output",
        options="kubeconfig",
    ),
    "cargo": ProgramRisks(safe_commands="version search help pkgid", options="target-dir manifest-path"),
    "go": ProgramRisks(
        "o", options="exec toolexec vettool overlay modfile ldflags outputdir coverprofile cpuprofile memprofile "
        "blockprofile mutexprofile trace",
        has_long_dash=True, safe_commands="version doc help",
    ),
    "gh": ProgramRisks(commands="alias extension ext api config codespace cs auth secret ssh-key gpg-key run workflow"),
    "terraform": ProgramRisks(safe_commands="validate version show output providers graph"),
    "pytest": ProgramRisks(
        "pco", valued="kmnWr", options="rootdir confcutdir override-ini basetemp junitxml junit-xml pastebin debug",
        harmless_options="co", harmless_value=r"no:\w+",
    ),
    "rg": ProgramRisks(options="pre hostname-bin"),
    "sort": ProgramRisks("oT", options="compress-program"),
    "uniq": ProgramRisks(max_operands=1),
    "xxd": ProgramRisks("r", max_operands=1),
    "curl": ProgramRisks(
        "oOKDcTJ", valued="XHdFuAebmrxyYzCEPQtUw",
        options="remote-name remote-name-all cookie-jar upload-file libcurl trace trace-ascii stderr hsts alt-svc "
        "etag-save remote-header-name dump-header engine",
        harmless_value="/dev/null",
    ),
    "wget": ProgramRisks("OoaPex", options="append-output directory-prefix use-askpass save-cookies warc-file"),
    "vim": ProgramRisks("cSsuUwWi", operand=r"\+.*"),
    "less": ProgramRisks("oOk", options="lesskey-file lesskey-src lesskey-content", operand=r"\+.*"),
    "man": ProgramRisks("PHCX", options="html preprocessor"),
    "date": ProgramRisks("s", options="set"),
    "sqlite3": ProgramRisks(options="init", max_operands=1),
    "psql": ProgramRisks("cfoLv", options="file variable"),
    "mysql": ProgramRisks("e", options="tee init-command"),
    "gdb": ProgramRisks("x", options="ex eval-command ix iex args"),
    "zip": ProgramRisks("T", options="unzip-command test"),
    "tree": ProgramRisks("o"),
    "gcc": ProgramRisks("oB", options="wrapper fplugin specs", has_long_dash=True),
    "printf": ProgramRisks("v"),
    "test": ProgramRisks("v"),
    "sudo": ProgramRisks("siebE", options="login edit preserve-env"),
    "tcpdump": ProgramRisks("zwF"),
    "nmap": ProgramRisks("o"),
    "nc": ProgramRisks("ec"),
    "hg": ProgramRisks("R", options="repository debugger", commands="serve"),
    "svn": ProgramRisks(options="config-option config-dir diff-cmd diff3-cmd editor-cmd"),
    "eslint": ProgramRisks(
        "cof", options="fix rulesdir resolve-plugins-relative-to format", harmless_options="ext"
    ),
    "ruff": ProgramRisks(options="fix", commands="format clean"),
    "mypy": ProgramRisks(options="install-types cache-dir python-executable"),
    "systemctl": ProgramRisks(commands="edit link"),
    "journalctl": ProgramRisks(options="vacuum-size vacuum-time vacuum-files cursor-file"),
    "yq": ProgramRisks("is", options="inplace split-exp"),
    "prettier": ProgramRisks("w"),
    "jest": ProgramRisks(
        "c", options="rootDir globalSetup globalTeardown setupFiles setupFilesAfterEnv runner testRunner transform "
        "resolver reporters testEnvironment outputFile coverageDirectory",
        harmless_options="coverage",
    ),
    "mvn": ProgramRisks(options="f file s settings gs global-settings t toolchains", has_long_dash=True),
    "gradle": ProgramRisks("pIc", options="project-dir init-script include-build build-file", has_long_dash=True),
    "helm": ProgramRisks(options="post-renderer post-renderer-args kubeconfig"),
    "split": ProgramRisks(options="filter"),
    "pandoc": ProgramRisks("FLo", options="filter lua-filter pdf-engine"),
    "fzf": ProgramRisks(options="preview bind become listen listen-unsafe"),
}  # fmt: skip
_ALIASES = {
    **dict.fromkeys(("gawk", "mawk", "nawk"), "awk"),
    **dict.fromkeys(("pnpm", "yarn", "bun"), "npm"),
    **dict.fromkeys(("pip3", "uv", "pipx", "poetry", "pipenv", "conda"), "pip"),
    **dict.fromkeys(("podman", "nerdctl"), "docker"),
    **dict.fromkeys(("vi", "nvim", "view", "ex", "emacs", "nano"), "vim"),
    **dict.fromkeys(("gmake", "just", "ninja"), "make"),
    **dict.fromkeys(("cc", "g++", "clang", "clang++", "c++"), "gcc"),
    "fdfind": "fd",
    "bsdtar": "tar",
    "gfind": "find",
    "gradlew": "gradle",
    "mvnw": "mvn",
    "gsed": "sed",
    "py.test": "pytest",
    "[": "test",
    "oc": "kubectl",
    "tofu": "terraform",
    "ncat": "nc",
    "netcat": "nc",
    "more": "less",
    "most": "less",
}
# Programs that run the file that is their first operand, or standard input.
INTERPRETERS = SHELLS | split_words("python python2 python3 pypy pypy3 node nodejs deno perl ruby php lua osascript")
_PRINT_ONLY = frozenset(("--version", "-V", "--help", "-h"))
# Commands of a shell whose arguments can run code, redefine commands or change later ones.
_SHELL_STATE = split_words(
    "alias unalias eval source . trap enable bind complete hash set shopt export declare typeset local readonly "
    "read mapfile readarray unset let function abbr functions bindkey zle autoload zmodload emulate setopt "
    "unsetopt [[ exec coproc umask"
)
_SAFE_SED_COMMAND = (
    r"(?:(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)(?:,(?:[+~]?\d+|\$|/(?:[^/\\\n]|\\.)*/))?)?\s*(?:!?[pdqPD=]"
    r"|s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI\d]*|s\|(?:[^|\\\n]|\\.)*\|(?:[^|\\\n]|\\.)*\|[gpiI\d]*"
    r"|s#(?:[^#\\\n]|\\.)*#(?:[^#\\\n]|\\.)*#[gpiI\d]*|s,(?:[^,\\\n]|\\.)*,(?:[^,\\\n]|\\.)*,[gpiI\d]*)"
)
_SAFE_SED = lazy_pattern(rf"(?:{_SAFE_SED_COMMAND}(?:\s*;\s*{_SAFE_SED_COMMAND})*;?)?")
_SAFE_SED_OPTION = lazy_pattern("-[nErsuz]+|--quiet|--silent|--regexp-extended|--posix")

# -- git -----------------------------------------------------------------------------------------------

# Others are external programs or aliases, which the configuration of a repository defines, or run programs by design.
GIT_COMMANDS = split_words(
    "status log diff show add commit push pull fetch branch checkout switch restore stash tag merge rebase reset "
    "revert cherry-pick rm mv grep blame annotate describe rev-parse rev-list ls-files ls-tree ls-remote cat-file "
    "reflog remote shortlog clone init worktree bisect submodule clean apply am format-patch archive bundle gc "
    "prune fsck count-objects name-rev merge-base diff-tree diff-index diff-files for-each-ref show-ref "
    "show-branch symbolic-ref update-index write-tree read-tree range-diff whatchanged notes cherry help version "
    "var check-ignore check-attr verify-commit verify-tag hash-object sparse-checkout rerere stripspace "
    "update-ref pack-refs request-pull interpret-trailers column"
)
# Further commands of git itself, which no alias can replace.
GIT_RISKY_COMMANDS = split_words(
    "config difftool mergetool filter-branch send-email daemon instaweb hook credential maintenance fast-import "
    "fast-export web--browse gui citool svn p4 send-pack http-push receive-pack upload-pack"
)
_GIT_FLAGS = split_words(
    "--no-pager -P -p --paginate --version --help -h -v --no-optional-locks --literal-pathspecs "
    "--no-replace-objects --glob-pathspecs --noglob-pathspecs --icase-pathspecs"
)
# Long options of any command of git; one may be abbreviated.
_GIT_LONG = split_words("upload-pack receive-pack ext-diff textconv open-files-in-pager sendmail-cmd template")
_GIT_RISKS = {
    "cat-file": ProgramRisks(options="filters"),
    "grep": ProgramRisks("O"),
    "rebase": ProgramRisks("xi", options="interactive edit-todo"),
    "clone": ProgramRisks("cu"),
    "archive": ProgramRisks("o", options="remote"),
    "format-patch": ProgramRisks("o"),
    "ls-remote": ProgramRisks("u"),
    "bisect": ProgramRisks(commands="run visualize view"),
    "submodule": ProgramRisks(commands="foreach"),
    "bundle": ProgramRisks(commands="create"),
    "apply": ProgramRisks(options="unsafe-paths"),
    "push": ProgramRisks(
        "fd", options="force force-with-lease force-if-includes delete mirror prune", operand=r"[+:].*"
    ),
    "init": ProgramRisks(options="separate-git-dir"),
    "help": ProgramRisks("wm", options="web man"),
}  # fmt: skip
_REMOTE_HELPER = lazy_pattern(r"[\w.+-]+::.*")


def find_risk(words: Sequence[ShellWord], named: int, literal: frozenset[str] = frozenset()) -> str | None:
    """Return the first word after the first `named` ones that runs code or writes, or None.

    Words in `literal` are named too, wherever they stand.
    """
    name = program_name(words[0])
    if words[0].dynamic:
        return "a program that is not known"
    further = [(place, word) for place, word in enumerate(words) if place >= max(named, 1) and word.text not in literal]
    if name in HARMLESS_PROGRAMS:
        return None
    if name in ARITHMETIC_COMMANDS and any(_has_subscript(word.text) for _, word in further):
        return f"a subscript that {name} evaluates"
    for _, word in further:
        if word.wild:
            return f"a word that is not known ({word.raw[:80] or '...'})"
    if name in _SHELL_STATE and (further or not named):
        return f"{name}, which can change other commands"
    if name == "git":
        return _git_risk(words, named, literal)
    if name in INTERPRETERS:
        return _interpreter_risk(words, named)
    arguments = [word for _, word in further]
    if name in ("sed", "gsed"):
        return _sed_risk(words[1:], arguments)
    if name in ("tar", "bsdtar"):
        for word in words[1:2] if named < 2 else ():
            if word.text.startswith("--") or not re.fullmatch(r"-?[tvzjJf]*t[tvzjJf]*", word.text):
                return f"{word.text[:80]!r}, which is more than listing"
        arguments = arguments if named >= 2 else arguments[1:]
        if any(word.is_option and word.text[1] != "-" and re.search("[xcruAIF]", word.text) for word in arguments):
            return "an option that is more than listing"
    if name == "curl" and any("%output{" in word.text for word in arguments):
        return "the output to a file"
    if _ALIASES.get(name, name) == "awk":
        for word in arguments:
            if 0 <= word.text.find("print") < word.text.rfind(">"):  # elsewhere it compares
                return f"the output of {word.text[:80]!r} to a file"
    risks = _RISKS.get(_ALIASES.get(name, name), ProgramRisks())
    if risks.safe_commands and named < 2:
        first = words[1].text if len(words) > 1 else ""
        is_known = len(words) < 2 or not words[1].dynamic
        if not is_known or (first not in _PRINT_ONLY and first not in risks.safe_commands.split()):
            return f"{first[:80]!r} of {name}"
    return _risk_of(risks, arguments, len(words) - 1 if named < 2 else None)


def _risk_of(
    risks: ProgramRisks,
    arguments: Sequence[ShellWord],
    operands: int | None = None,
    further: frozenset[str] = frozenset(),
) -> str | None:
    """Return the first of the arguments that is listed; `further` are long options besides those of any program."""
    options = frozenset(risks.options.split())
    commands = risks.commands.split()
    count = 0
    for place, word in enumerate(arguments):
        if word.is_option:
            value = arguments[place + 1].text if place + 1 < len(arguments) else ""
            if risks.harmless_value and re.fullmatch(risks.harmless_value, value):
                continue
            if _is_risky_option(risks, word.text, options | _LONG | further):
                return f"the option {word.text[:80]!r}"
        else:
            count += 1
            # what follows the known beginning of the word may match an expression that is not one of its beginning
            is_unknown = word.dynamic and risks.operand.startswith((".", "(?s)"))
            if word.text in commands or is_unknown or (risks.operand and re.fullmatch(risks.operand, word.text)):
                return f"the word {(word.text or word.raw)[:80]!r}"
    if risks.max_operands is not None and operands is not None and count > risks.max_operands:
        return "a file to write"
    return None


def _is_risky_option(risks: ProgramRisks, text: str, listed: frozenset[str]) -> bool:
    option = text.lstrip("-").partition("=")[0]
    if text.startswith("--"):
        is_listed = _is_listed(option, listed, may_abbreviate=True)
        return is_listed and option not in risks.harmless_options.split()
    if option in listed and option not in risks.harmless_options.split():
        return True
    letters = text[1:2] if risks.has_long_dash else text[1:]
    for letter in letters:
        if letter in risks.letters:
            return True
        if letter in risks.valued:
            return False
    return False


def _has_subscript(text: str) -> bool:
    """Return True if the text has a subscript with a substitution, as in `a[$(command)]`."""
    start = text.find("[")
    return start >= 0 and max(text.rfind("$("), text.rfind("`")) > start


def _is_listed(option: str, listed: frozenset[str], *, may_abbreviate: bool) -> bool:
    if option in listed:
        return True
    return may_abbreviate and bool(option) and any(name.startswith(option) for name in listed)


def _git_risk(words: Sequence[ShellWord], named: int, literal: frozenset[str]) -> str | None:
    start = git_subcommand(words)
    place = 1
    while place < start:
        text = words[place].text
        if place >= named and text not in literal and text not in _GIT_FLAGS:
            return f"the option {text[:80]!r} before the command of git"
        place += 2 if text in GIT_VALUES else 1
    if start == len(words):
        return None
    command = words[start]
    if start >= named and command.text not in literal and (command.dynamic or command.text not in GIT_COMMANDS):
        return f"{command.text[:80]!r}, which may be an alias or runs other programs"
    arguments = [
        word for place, word in enumerate(words) if place > start and place >= named and word.text not in literal
    ]
    if any(not word.is_option and _REMOTE_HELPER.fullmatch(word.text) for word in arguments):
        return "a remote that runs a program"
    return _risk_of(_GIT_RISKS.get(command.text, ProgramRisks()), arguments, further=_GIT_LONG)


def _interpreter_risk(words: Sequence[ShellWord], named: int) -> str | None:
    """Return what an interpreter runs; words after the program that the rule names are its arguments."""
    for place, word in enumerate(words[1:], start=1):
        if word.text in _PRINT_ONLY and not word.dynamic:
            return None
        if place >= named:
            return f"{word.text[:80]!r}, which {program_name(words[0])} runs"
        if word.text == "-m" and place + 1 < min(named, len(words)):
            return find_risk(words[place + 1 :], named - place - 1)
        if not word.is_option or (not word.text.startswith("--") and any(letter in "cer" for letter in word.text)):
            return _risk_of(ProgramRisks(), words[named:])
    return "the program on its standard input"


def _sed_risk(words: Sequence[ShellWord], arguments: Sequence[ShellWord]) -> str | None:
    """Return the script of sed unless it is one of the simple ones that can neither write nor run a program."""
    scripts: list[ShellWord] = []
    for place, word in enumerate(words):
        if word.text in ("-e", "--expression"):
            scripts += words[place + 1 : place + 2]
        elif word.is_option and word in arguments and not _SAFE_SED_OPTION.fullmatch(word.text):
            return f"the option {word.text[:80]!r}"
    operands = [word for word in words if not word.is_option]
    # an empty word is the script, or in BSD's sed the value of `-i`
    scripts = scripts or operands[: 2 if operands and not operands[0].text else 1]
    for script in scripts:
        if script in arguments and (script.dynamic or not _SAFE_SED.fullmatch(script.text)):
            return f"the script {script.text[:80]!r}"
    return None
