"""The allowlist of programs and their arguments. Everything that is not known to be harmless is refused."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from scrubjay.features.workspace.terminal.argument_forms import (
    ANY,
    NUMBER,
    Check,
    OptionForms,
    WordForms,
    anything,
    exactly,
    nothing,
    refusal,
)
from scrubjay.features.workspace.terminal.git_forms import check_git

_ALLOWED = """
ls cat grep head tail echo git date pwd whoami find wc stat file which ps kill pkill pgrep mkdir touch env node npm npx
python python3 elixir mix curl wget rg fd ag tree df du free uptime uname hostname ip ifconfig
"""
_BLOCKED = """
rm rmdir mv cp ln dd shred truncate chmod chown chgrp chattr mkfs mount umount fdisk parted sh bash zsh fish dash ksh
csh tcsh sudo su doas pkexec mysql psql sqlite3 mongo mongosh redis-cli docker podman kubectl helm systemctl service
shutdown reboot halt poweroff init killall crontab at nohup setsid xargs eval exec source perl ruby php lua awk gawk
sed tee nc ncat netcat socat telnet ftp sftp scp rsync apt apt-get yum dnf brew pip pip3 passwd useradd userdel
iptables nft
"""
_INTERACTIVE = """
vim vi nvim nano emacs pico top htop btop less more man tmux screen ssh mosh watch mc ranger lynx w3m gdb lldb
"""
ALLOWED = frozenset(_ALLOWED.split())
BLOCKED = frozenset(_BLOCKED.split())
# Full-screen programs hang without a terminal.
INTERACTIVE = frozenset(_INTERACTIVE.split())
_META = re.compile(r"[;&|`$()<>*?{}\[\]!\x00-\x1f\x7f]")
MAX_ARGUMENTS = 100
MAX_CHARACTERS = 10_000


class CommandRefused(Exception):
    """A command is refused; the message gives the reason, in the format of Mimo."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Needs(Enum):
    """Access that a confined program needs besides the files under the root."""

    NOTHING = "nothing"
    PROCESSES = "processes"
    """Information about the machine and other processes in /proc and /sys."""
    WRITING = "writing"
    HELPERS = "helpers"
    """Other installed programs."""
    SIGNALS = "signals"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class ProgramRule:
    """The rule for a program: its allowed arguments and the access that it needs."""

    check: Check
    needs: Needs = Needs.NOTHING
    takes_paths: bool = True
    """True if arguments may be paths; these must not leave the root."""
    searches: str | None = None
    """Pattern of the arguments, joined by spaces, with which it reads files that no argument names."""
    lists_processes: bool = False
    """True if the output has command lines of other processes; secrets in it are masked."""
    in_root: bool = True
    """False for a program that could run configuration files of its working directory, such as `.erlang`."""


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed command."""

    name: str
    arguments: tuple[str, ...]


def read_command(text: str) -> Command:
    """Split a command into program and arguments, with the quoting rules of a shell but without a shell."""
    if len(text) > MAX_CHARACTERS:
        raise CommandRefused(f"Command has more than {MAX_CHARACTERS} characters")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CommandRefused(f"Command cannot be read: {str(error).lower()}") from None
    if not words or not words[0]:
        raise CommandRefused("Empty command")
    if len(words) > MAX_ARGUMENTS:
        raise CommandRefused(f"Command has more than {MAX_ARGUMENTS} arguments")
    name = words[0].rpartition("/")[2]
    if name in INTERACTIVE:
        raise CommandRefused(f"Interactive command '{name}' is prohibited")
    return Command(words[0], tuple(words[1:]))


def check_command(command: Command) -> ProgramRule:
    """Return the rule of an allowlisted program; raise `CommandRefused` for other programs or arguments."""
    name = command.name
    if (base := name.rpartition("/")[2]) in BLOCKED:
        raise CommandRefused(f"Command '{base}' is blocked")
    if name not in ALLOWED:
        raise CommandRefused(f"Command '{name[:100]}' not in allowlist")
    if any(_META.search(argument) for argument in command.arguments):
        raise CommandRefused("Arguments contain shell meta-characters")
    program = PROGRAMS[name]
    if (problem := program.check(command.arguments)) is not None:
        raise CommandRefused(f"Command '{name}' {problem}")
    return program


# -- checks of arguments ---------------------------------------------------------------------------------


def _version_only(*options: str) -> ProgramRule:
    """Return the rule of a program that can run any code: it may only show its version.

    The options are those of this program. `python -v` and `node -i`, for example, read a program from standard input.
    """

    def check(arguments: Sequence[str]) -> str | None:
        if len(arguments) != 1 or arguments[0] not in options:
            return "may only show its version, because it can run any code"
        return None

    return ProgramRule(check, Needs.HELPERS, takes_paths=False, in_root=False)


def _wget(arguments: Sequence[str]) -> str | None:
    if tuple(arguments) not in (("--version",), ("-V",)):
        return "may only show its version, because it writes files; use curl or the tool fetch"
    return None


_check_date = WordForms(
    words=r"-[uR]{1,2}|-u?I(date|hours|minutes|seconds|ns)?|--utc|--universal|--rfc-email|--rfc-2822"
    r"|--(iso-8601|rfc-3339)=\w+|--iso-8601|--date=.+|-d.+",
    valued=r"-d|--date",
    # An operand without a plus sign sets the clock.
    operands=r"\+.*",
)

_FIND_TESTS = re.compile(
    r"-(empty|print|print0|ls|not|a|o|and|or|prune|depth|xdev|mount|nouser|nogroup|readable|writable|executable|quit|true"
    r"|false|daystart|noleaf|P)"
)
# Tests with a value, and the values.
_FIND_VALUED = (
    (r"-i?(name|path|wholename|regex)|-[il]name|-ilname|-([ac]?newer|newermt|printf)", r"[^-].*"),
    (r"-(maxdepth|mindepth|size|[mac]time|[mac]min|links|inum|used|uid|gid)", r"[+-]?\d{1,12}[bcwkMG]?"),
    (r"-(user|group)", r"\w[\w.-]*"),
    (r"-x?type", r"[bcdpfls](,[bcdpfls])*"),
    (r"-regextype", r"[a-z-]+"),
    (r"-perm", r"[-/]?([0-7]{1,4}|[ugoa=+rwxst,]+)"),
)


def _check_find(arguments: Sequence[str]) -> str | None:
    """Refuse expressions that delete, run programs, write files or follow links."""
    words = iter(arguments)
    for word in words:
        if not word.startswith("-") or _FIND_TESTS.fullmatch(word):
            continue
        pattern = next((values for tests, values in _FIND_VALUED if re.fullmatch(tests, word)), None)
        if pattern is None:
            return refusal(word)
        value = next(words, None)
        if value is None:
            return f"needs a value for '{word}'"
        if re.fullmatch(pattern, value, re.ASCII | re.DOTALL) is None:
            return refusal(f"{word} {value}")
    return None


_is_kill = exactly(r"-l|-L|(-(\d{1,2}|[A-Z]{3,7}) )?[1-9]\d{0,8}( [1-9]\d{0,8})*")


def _check_kill(arguments: Sequence[str]) -> str | None:
    """Check only the syntax; the command policy checks that the pids are sessions of the caller."""
    if _is_kill(arguments) is not None:
        return "may only take a signal and the pids of sessions of this server"
    return None


def _check_pkill(arguments: Sequence[str]) -> str | None:
    return "could end processes of other users; end a session with the operation kill"


CURL_FLAGS = re.compile(
    r"-[sSfiI]+|--silent|--show-error|--fail|--fail-with-body|--include|--head|--compressed|--http1\.1"
)
CURL_VALUES = re.compile(
    r"-m|--max-time|--connect-timeout|-A|--user-agent|-H|--header|-X|--request|-d|--data|--data-raw"
)


def curl_url(arguments: Sequence[str]) -> str | None:
    """Return the only URL among the arguments of curl, or None if there is not exactly one."""
    addresses: list[str] = []
    previous = ""
    for argument in arguments:
        if CURL_VALUES.fullmatch(previous):
            previous = ""
            continue
        previous = argument
        if not argument.startswith("-"):
            addresses.append(argument)
    return addresses[0] if len(addresses) == 1 else None


def _check_curl(arguments: Sequence[str]) -> str | None:
    """Allow only fetching and printing one URL: no files, other hosts or redirects."""
    if tuple(arguments) in (("--version",), ("-V",)):
        return None
    previous = ""
    for argument in arguments:
        if CURL_VALUES.fullmatch(previous):
            if argument.startswith("@") or (
                previous in ("-X", "--request") and argument not in ("GET", "POST", "HEAD")
            ):
                return refusal(f"{previous} {argument}")
            if previous in ("-m", "--max-time", "--connect-timeout") and not re.fullmatch(
                r"\d{1,4}(\.\d+)?", argument, re.ASCII
            ):
                return refusal(f"{previous} {argument}")
            previous = ""
            continue
        if argument.startswith("-") and not (CURL_FLAGS.fullmatch(argument) or CURL_VALUES.fullmatch(argument)):
            return refusal(argument)
        previous = argument
    if CURL_VALUES.fullmatch(previous):
        return f"needs a value for '{previous}'"
    url = curl_url(arguments)
    if url is None or not re.match(r"https?://", url):
        return "needs exactly one URL that begins with http:// or https://"
    return None


_COLUMNS = (
    r"(pid|ppid|pgid|sid|uid|gid|user|ruser|euser|group|comm|cmd|args|command|etime|etimes|time|cputime|stat|state|s|tty"
    r"|tt|nice|ni|pri|rss|rsz|vsz|sz|pcpu|pmem|%cpu|%mem|start|stime|lstart|start_time|nlwp|thcount|wchan|psr|,)+"
)
# Sorting by command lines would reveal the secrets in them, by comparison with a command line of the caller.
_SORT_KEYS = r"([+-]?(pid|ppid|pgid|uid|etimes|cputime|time|nice|rss|vsz|sz|pcpu|pmem|%cpu|%mem|start_time|user|,))+"
_PS_OTHERS = rf"-p \d{{1,9}}(,\d{{1,9}})*|-o {_COLUMNS}|-ww?|\d{{1,9}}|--sort=({_SORT_KEYS})|--forest|--no-headers?"
_is_ps = exactly(
    rf"(|-?aux(ww?)?|[afjluwx]{{1,6}}|[afjluwx]{{0,5}}o {_COLUMNS}|-[AefFlLHjwyT]{{1,6}}|-[AefLwT]{{0,5}}o {_COLUMNS}"
    rf"|{_PS_OTHERS})( ({_PS_OTHERS}))*"
)


def _check_ps(arguments: Sequence[str]) -> str | None:
    columns = [column for word in arguments if re.fullmatch(_COLUMNS, word) for column in word.split(",")]
    # ps cuts the text of every other column, and a part of a secret could not be masked.
    if not {"args", "cmd", "command"}.isdisjoint(columns[:-1]):
        return "may show command lines in the last column only"
    return _is_ps(arguments)


def ps_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that ps gets: never the letter `e`, which shows the environments of processes.

    After an error in its first reading, ps reads `-e` as `e`; `-A` has the same meaning and no second one.
    """
    return [
        word[1:] if re.fullmatch("-auxw*", word) else word.replace("e", "A") if re.match("-[^-]", word) else word
        for word in arguments
    ]


_WHEN = r"auto|always|never"
_COUNT = r"\d{1,6}"
_SIZE = r"\d{0,9}[A-Za-z]{0,3}"
_GLOB = r"[\w.,/@%+~^-]+"

PROGRAMS: dict[str, ProgramRule] = {
    "ls": ProgramRule(
        OptionForms(
            flags="1aAbBcCdfFgGhiklmnopqrRsStuUvxXZNQ",
            valued={"I": ANY, "w": _COUNT, "T": _COUNT},
            long="all almost-all author escape ignore-backups directory classify full-time group-directories-first "
            "no-group human-readable si inode kibibytes numeric-uid-gid literal hide-control-chars show-control-chars "
            "quote-name reverse recursive size context zero file-type color",
            long_valued={"ignore": ANY, "hide": ANY, "width": _COUNT, "block-size": _SIZE, "tabsize": _COUNT}
            | {"sort": r"[a-z]+", "time": r"[a-z]+", "time-style": r"[\w+%:. -]+", "format": r"[a-z-]+"}
            | {"indicator-style": r"[a-z-]+", "quoting-style": r"[a-z-]+"},
            long_optional={"color": _WHEN, "classify": _WHEN},
        )
    ),
    "cat": ProgramRule(
        OptionForms(
            flags="AbeEnstTuv",
            long="show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
        )
    ),
    "grep": ProgramRule(
        OptionForms(
            flags="EFGPiyvwxcLlqsobHhnTZazrUI",
            valued={"e": ANY, "m": _COUNT, "A": _COUNT, "B": _COUNT, "C": _COUNT},
            long="extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match "
            "word-regexp line-regexp count files-without-match files-with-matches only-matching quiet silent "
            "no-messages byte-offset with-filename no-filename line-number initial-tab null text null-data recursive "
            "no-group-separator",
            long_valued={"regexp": ANY, "include": _GLOB, "exclude": _GLOB, "exclude-dir": _GLOB}
            | dict.fromkeys(("max-count", "after-context", "before-context", "context"), _COUNT)
            | {"binary-files": r"binary|text|without-match"},
            long_optional={"color": _WHEN, "colour": _WHEN},
            number=True,
        ),
        searches=r"(.* )?(-[A-Za-z]*r.*|--recursive.*)",
    ),
    "head": ProgramRule(
        OptionForms(
            flags="qvz",
            valued={"n": NUMBER, "c": NUMBER},
            long="quiet silent verbose zero-terminated",
            long_valued={"lines": NUMBER, "bytes": NUMBER},
            number=True,
        )
    ),
    "tail": ProgramRule(
        OptionForms(
            flags="qvzfF",
            valued={"n": NUMBER, "c": NUMBER, "s": r"\d{1,4}"},
            long="quiet silent verbose zero-terminated follow retry",
            long_valued={"lines": NUMBER, "bytes": NUMBER, "sleep-interval": r"\d{1,4}"},
            long_optional={"follow": r"name|descriptor"},
            number=True,
        )
    ),
    "echo": ProgramRule(anything, takes_paths=False),
    "git": ProgramRule(check_git, searches=r"grep.*"),
    "date": ProgramRule(_check_date, takes_paths=False),
    "pwd": ProgramRule(exactly(r"|-P|-L"), takes_paths=False),
    "whoami": ProgramRule(nothing, takes_paths=False),
    "find": ProgramRule(_check_find),
    "wc": ProgramRule(OptionForms(flags="clmwL", long="bytes chars lines words max-line-length")),
    "stat": ProgramRule(
        OptionForms(flags="ft", valued={"c": ANY}, long="file-system terse", long_valued={"format": ANY, "printf": ANY})
    ),
    "file": ProgramRule(OptionForms(flags="bihk", long="brief mime mime-type mime-encoding no-dereference keep-going")),
    # A shell script on many systems.
    "which": ProgramRule(OptionForms(flags="a", operands=r"\w[\w.+-]*"), Needs.HELPERS, takes_paths=False),
    "ps": ProgramRule(_check_ps, Needs.PROCESSES, takes_paths=False, lists_processes=True),
    "kill": ProgramRule(_check_kill, Needs.SIGNALS, takes_paths=False),
    "pkill": ProgramRule(_check_pkill),
    # Without -f: matching command lines would answer whether a guess of a secret is in one.
    "pgrep": ProgramRule(
        OptionForms(
            flags="alnoxvcwi",
            valued={"u": r"[\w.,-]+", "U": r"[\w.,-]+", "P": r"[\d,]+", "d": r"[ ,:]"},
            long="list-name list-full newest oldest exact inverse count ignore-case",
            long_valued={"parent": r"[\d,]+", "euid": r"[\w.,-]+", "uid": r"[\w.,-]+"},
            operands=r"[\w][\w .:/@+^-]*",
        ),
        Needs.PROCESSES,
        takes_paths=False,
        lists_processes=True,
    ),
    "mkdir": ProgramRule(OptionForms(flags="pv", long="parents verbose"), Needs.WRITING),
    "touch": ProgramRule(OptionForms(flags="acm", long="no-create"), Needs.WRITING),
    "env": ProgramRule(nothing, takes_paths=False),
    "node": _version_only("--version", "-v"),
    "npm": _version_only("--version", "-v"),
    "npx": _version_only("--version", "-v"),
    "python": _version_only("--version", "-V"),
    "python3": _version_only("--version", "-V"),
    "elixir": _version_only("--version", "-v"),
    "mix": _version_only("--version", "-v"),
    "curl": ProgramRule(_check_curl, Needs.NETWORK, takes_paths=False),
    "wget": ProgramRule(_wget, takes_paths=False),
    "rg": ProgramRule(
        OptionForms(
            flags="ncilvwxoFsSUuHINPaqp0",
            valued={"e": ANY, "A": _COUNT, "B": _COUNT, "C": _COUNT, "m": _COUNT, "d": _COUNT, "M": _COUNT}
            | {"g": _GLOB, "t": r"\w+", "T": r"\w+", "j": _COUNT, "E": r"[\w-]+", "r": ANY},
            long="hidden no-hidden no-ignore no-ignore-vcs no-heading heading line-number no-line-number files count "
            "files-with-matches files-without-match count-matches ignore-case case-sensitive smart-case word-regexp "
            "line-regexp fixed-strings multiline multiline-dotall invert-match only-matching json stats column vimgrep "
            "with-filename no-filename null trim text pcre2 pretty quiet passthru type-list no-messages no-config "
            "unrestricted crlf version",
            long_valued={"regexp": ANY, "glob": _GLOB, "iglob": _GLOB, "type": r"\w+", "type-not": r"\w+"}
            | dict.fromkeys(
                ("after-context", "before-context", "context", "max-count", "max-depth", "max-columns", "threads"),
                _COUNT,
            )
            | {"color": r"never|auto|always|ansi", "sort": r"\w+", "sortr": r"\w+", "encoding": r"[\w-]+"}
            | {"max-filesize": _SIZE, "replace": ANY},
        ),
        searches=ANY,
    ),
    "fd": ProgramRule(
        OptionForms(
            flags="HIusigFap0q1",
            valued={"d": _COUNT, "e": r"[\w.+-]+", "t": r"[a-z]+", "E": _GLOB, "S": r"[+-]?\d+\w{0,2}", "c": _WHEN},
            long="hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob regex fixed-strings "
            "absolute-path full-path print0 quiet version",
            long_valued={"max-depth": _COUNT, "min-depth": _COUNT, "exact-depth": _COUNT, "max-results": _COUNT}
            | {"extension": r"[\w.+-]+", "type": r"[a-z-]+", "exclude": _GLOB, "size": r"[+-]?\d+\w{0,2}"}
            | {"changed-within": r"[\w: -]+", "changed-before": r"[\w: -]+", "color": _WHEN},
        )
    ),
    "ag": ProgramRule(
        OptionForms(
            flags="aciglLnQsSuvwHtUor0",
            valued={"A": _COUNT, "B": _COUNT, "C": _COUNT, "m": _COUNT, "W": _COUNT, "G": ANY},
            long="hidden ignore-case smart-case case-sensitive literal count files-with-matches word-regexp nocolor "
            "files-without-matches invert-match nogroup group column filename nofilename numbers nonumbers stats "
            "all-text all-types unrestricted skip-vcs-ignores only-matching vimgrep recurse norecurse null",
            long_valued={"depth": _COUNT, "max-count": _COUNT, "ignore": _GLOB, "ignore-dir": _GLOB, "width": _COUNT},
        ),
        searches=ANY,
    ),
    "tree": ProgramRule(
        # tree takes the value of a letter from the next word, also in the middle of a combination.
        WordForms(
            words=r"-[adfpsughDFqNQnCtcUrvxiSJ]+|--(noreport|dirsfirst|filesfirst|prune|du|si|inodes|device|matchdirs"
            r"|ignore-case|gitignore)|-L\d+",
            valued=r"-[adfpsughDFqNQnCtcUrvxiSJ]*[LPI]",
        )
    ),
    "df": ProgramRule(
        OptionForms(
            flags="ahiHklmPT",
            valued={"B": _SIZE, "t": r"[\w.]+", "x": r"[\w.]+"},
            long="all human-readable si inodes local portability print-type total no-sync",
            long_valued={"block-size": _SIZE, "type": r"[\w.]+", "exclude-type": r"[\w.]+"},
            long_optional={"output": r"[a-z,]+"},
        ),
        Needs.PROCESSES,
    ),
    "du": ProgramRule(
        OptionForms(
            flags="abchklmPsSx0",
            valued={"d": _COUNT, "B": _SIZE, "t": NUMBER},
            long="all apparent-size bytes total human-readable si summarize separate-dirs one-file-system null inodes "
            "count-links time",
            long_valued={"max-depth": _COUNT, "block-size": _SIZE, "threshold": NUMBER, "exclude": _GLOB}
            | {"time-style": r"[\w+%:.-]+"},
            long_optional={"time": r"[a-z]+"},
        )
    ),
    "free": ProgramRule(
        OptionForms(
            flags="bkmghltwv",
            valued={"s": r"\d{1,3}", "c": r"\d{1,3}"},
            long="bytes kibi mebi gibi tebi kilo mega giga tera human si total wide lohi committed line",
            long_valued={"count": r"\d{1,3}", "seconds": r"\d{1,3}"},
            operands=None,
        ),
        Needs.PROCESSES,
        takes_paths=False,
    ),
    "uptime": ProgramRule(
        OptionForms(flags="psV", long="pretty since", operands=None), Needs.PROCESSES, takes_paths=False
    ),
    "uname": ProgramRule(
        OptionForms(
            flags="asnrvmpio",
            long="all kernel-name nodename kernel-release kernel-version machine processor hardware-platform "
            "operating-system",
            operands=None,
        ),
        takes_paths=False,
    ),
    "hostname": ProgramRule(exactly(r"|-f|-s|-d|-i|-I|--fqdn|--short|--domain"), takes_paths=False),
    "ip": ProgramRule(
        exactly(
            r"((-[46osd]|-br|-brief|-j|-json) )*(a|addr|address|l|link|r|route|n|neigh|rule)"
            r"( (show|list|ls)( \w[\w.:@-]*)*)?"
        ),
        Needs.PROCESSES,
        takes_paths=False,
    ),
    "ifconfig": ProgramRule(exactly(r"|-a|[a-z][\w.:-]*"), Needs.PROCESSES, takes_paths=False),
}
