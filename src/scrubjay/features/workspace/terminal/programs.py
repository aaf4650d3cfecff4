"""Which programs may be started, and with which arguments: what is not known to be harmless is refused, and why."""

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum

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
# They want a terminal to draw on, and would only hang without one.
INTERACTIVE = frozenset(_INTERACTIVE.split())
_META = re.compile(r"[;&|`$()<>*?{}\[\]!\x00-\x1f\x7f]")
MAX_ARGUMENTS = 100
MAX_CHARACTERS = 10_000


class Refused(Exception):
    """A command that is not run, and why, in the words of the contract."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Needs(Enum):
    """What a program needs beside the files under the root, where it is confined."""

    NOTHING = "nothing"
    PROCESSES = "processes"
    """What the kernel tells of the machine and of other processes."""
    WRITING = "writing"
    HELPERS = "helpers"
    """Other programs that are installed."""
    SIGNALS = "signals"
    NETWORK = "network"


Check = Callable[[Sequence[str]], str | None]
"""What is wrong with the arguments of a program; None when nothing is."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is known of a program."""

    check: Check
    needs: Needs = Needs.NOTHING
    takes_paths: bool = True
    """Whether its arguments may be paths, and so must not lead out of the root."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was read."""

    name: str
    arguments: tuple[str, ...]


def read_command(text: str) -> Command:
    """The program and its arguments; quotes keep together what they are around. No shell ever sees it."""
    if len(text) > MAX_CHARACTERS:
        raise Refused(f"Command has more than {MAX_CHARACTERS} characters")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Refused(f"Command cannot be read: {str(error).lower()}") from None
    if not words or not words[0]:
        raise Refused("Empty command")
    if len(words) > MAX_ARGUMENTS:
        raise Refused(f"Command has more than {MAX_ARGUMENTS} arguments")
    name = words[0].rpartition("/")[2]
    if name in INTERACTIVE:
        raise Refused(f"Interactive command '{name}' is prohibited")
    return Command(words[0], tuple(words[1:]))


def permitted(command: Command) -> Program:
    """The program, when it is one of the list and its arguments are harmless."""
    name = command.name
    if (own := name.rpartition("/")[2]) in BLOCKED:
        raise Refused(f"Command '{own}' is blocked")
    if name not in ALLOWED:
        raise Refused(f"Command '{name[:100]}' not in allowlist")
    if any(_META.search(argument) for argument in command.arguments):
        raise Refused("Arguments contain shell meta-characters")
    program = PROGRAMS[name]
    if (wrong := program.check(command.arguments)) is not None:
        raise Refused(f"Command '{name}' {wrong}")
    return program


# -- what is wrong with arguments ------------------------------------------------------------------------


def _anything(arguments: Sequence[str]) -> str | None:
    return None


def _nothing(arguments: Sequence[str]) -> str | None:
    return "may not take arguments" if arguments else None


def _refused(given: str) -> str:
    return f"may not take '{given[:60]}'"


def _without(*options: str, but: Collection[str] = ()) -> Check:
    """Anything but these options, in whichever way they are abbreviated or put together.

    What is in `but` is no abbreviation of one: it is an option itself.
    """
    long = [option for option in options if option.startswith("--")]
    short = "".join(option[1] for option in options if not option.startswith("--"))

    def check(arguments: Sequence[str]) -> str | None:
        for given in arguments:
            if given.startswith("--") and len(given) > 2:
                name = given.partition("=")[0]
                if name not in but and any(option.startswith(name) for option in long):
                    return _refused(given)
            elif given.startswith("-") and any(letter in short for letter in given[1:]):
                return _refused(given)
        return None

    return check


def _only(pattern: str) -> Check:
    """Nothing but what fits, all of it together."""
    whole = re.compile(pattern)

    def check(arguments: Sequence[str]) -> str | None:
        if whole.fullmatch(" ".join(arguments)) is None:
            return _refused(" ".join(arguments)) if arguments else "needs arguments"
        return None

    return check


def _each(pattern: str, *, operands: bool = True) -> Check:
    """Only options that fit; and operands, if there may be some."""
    option = re.compile(pattern)

    def check(arguments: Sequence[str]) -> str | None:
        for given in arguments:
            if option.fullmatch(given) is None and (given.startswith("-") or not operands):
                return _refused(given)
        return None

    return check


_tells_version = _only(r"--version|-v|-V")


def _version_only(arguments: Sequence[str]) -> str | None:
    """What runs any program that it is given is none that a list can allow."""
    if _tells_version(arguments) is not None:
        return "may only tell its version here, because it runs whatever it is given"
    return None


def _git(arguments: Sequence[str]) -> str | None:
    if not arguments or arguments[0] in ("--version", "version"):
        return None
    subcommand, *others = arguments
    if subcommand.startswith("-"):
        return _refused(subcommand)
    if subcommand in _GIT_READS:
        return _git_options(others)
    if (check := _GIT_LISTS.get(subcommand)) is not None:
        return None if check(others) is None else f"{subcommand} may only list"
    return f"{subcommand[:60]} is not allowed: only what reads is"


_READING = """
status log diff show rev-parse ls-files ls-tree blame shortlog describe cat-file rev-list grep merge-base name-rev
count-objects for-each-ref diff-tree diff-index whatchanged
"""
_GIT_READS = frozenset(_READING.split())
# They would run a program, write a file, read one that is not under the root, or look at another repository.
_git_options = _without(
    *("--ext-diff", "--textconv", "--filters", "--output", "--open-files-in-pager", "-O", "--paginate", "--no-index"),
    *("--exec-path", "--upload-pack", "--receive-pack", "--show-signature", "--git-dir", "--work-tree", "--config"),
    *("--recurse-submodules", "--contents", "--ignore-revs-file", "--exclude-from", "--exclude-per-directory"),
    *("--pathspec-from-file", "--batch-command", "--resolve-git-dir", "--show-superproject-working-tree"),
    but=["--exclude"],
)
_GIT_LISTS: dict[str, Check] = {
    "branch": _each(
        r"-a|-r|-v|-vv|-av|-avv|--all|--remotes|--verbose|--list|--show-current|--merged|--no-merged|--sort=[\w:,-]+",
        operands=False,
    ),
    "tag": _each(r"-l|--list|-n\d*|--merged|--no-merged|--sort=[\w:,-]+", operands=False),
    "remote": _only(r"|-v|--verbose"),
    "stash": _only(r"list"),
    "reflog": _only(r"|show"),
    "worktree": _only(r"list"),
}


def _date(arguments: Sequence[str]) -> str | None:
    """Not what sets the clock: an operand without a plus does."""
    before = ""
    for given in arguments:
        is_option = re.fullmatch(r"-[uR]|-I\w*|--utc|--iso-8601(=\w+)?|--rfc-\w+(=\w+)?|--date=.+|-d", given)
        if is_option is None and not given.startswith("+") and before != "-d":
            return _refused(given)
        before = given
    return None


_TESTS = """
-name -iname -path -ipath -wholename -iwholename -lname -ilname -regex -iregex -regextype -type -xtype -maxdepth
-mindepth -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -empty -print -print0 -ls -printf -not
-a -o -and -or -prune -depth -d -xdev -mount -user -group -uid -gid -nouser -nogroup -perm -readable -writable
-executable -quit -links -inum -true -false -daystart -used -P -noleaf
"""
_FIND_TESTS = frozenset(_TESTS.split())


def _find(arguments: Sequence[str]) -> str | None:
    """Not what deletes, runs, writes or follows links."""
    takes_value = False
    for given in arguments:
        if given.startswith("-") and not (takes_value and re.fullmatch(r"-\d+\w?|-[rwx]+", given)):
            if given not in _FIND_TESTS:
                return _refused(given)
            takes_value = True
        else:
            takes_value = False
    return None


def _kill(arguments: Sequence[str]) -> str | None:
    """Which processes may be ended is for whoever knows the sessions to say."""
    if _only(r"-l|-L|(-(\d{1,2}|[A-Z]{3,7}) )?\d{1,9}( \d{1,9})*")(arguments) is not None:
        return "may only take a signal and the pids of sessions of this server"
    return None


def _pkill(arguments: Sequence[str]) -> str | None:
    return "could end processes of others: end a session by the operation kill"


def _wget(arguments: Sequence[str]) -> str | None:
    if _tells_version(arguments) is not None:
        return "may only tell its version here, because it writes files: use curl, or the tool fetch"
    return None


CURL_FLAGS = re.compile(
    r"-[sSfiI]+|--silent|--show-error|--fail|--fail-with-body|--include|--head|--compressed|--http1\.1"
)
CURL_VALUES = re.compile(
    r"-m|--max-time|--connect-timeout|-A|--user-agent|-H|--header|-X|--request|-d|--data|--data-raw"
)


def curl_url(arguments: Sequence[str]) -> str | None:
    """The one address that curl is asked for."""
    addresses: list[str] = []
    before = ""
    for given in arguments:
        if CURL_VALUES.fullmatch(before):
            before = ""
            continue
        before = given
        if not given.startswith("-"):
            addresses.append(given)
    return addresses[0] if len(addresses) == 1 else None


def _curl(arguments: Sequence[str]) -> str | None:
    """Only what fetches one address and prints it: no files, no other places, no redirects."""
    if arguments in (("--version",), ("-V",)):
        return None
    before = ""
    for given in arguments:
        if CURL_VALUES.fullmatch(before):
            if given.startswith("@") or (before in ("-X", "--request") and given not in ("GET", "POST", "HEAD")):
                return _refused(f"{before} {given}")
            if before in ("-m", "--max-time", "--connect-timeout") and not re.fullmatch(r"\d{1,4}(\.\d+)?", given):
                return _refused(f"{before} {given}")
            before = ""
            continue
        if given.startswith("-") and not (CURL_FLAGS.fullmatch(given) or CURL_VALUES.fullmatch(given)):
            return _refused(given)
        before = given
    if CURL_VALUES.fullmatch(before):
        return f"needs a value for '{before}'"
    url = curl_url(arguments)
    if url is None or not re.match(r"https?://", url):
        return "needs one address that begins with http:// or https://"
    return None


_ps = _each(
    r"-[AaefFlLjHTwuxcp]+|[auxlfwjT]+|--sort=[\w%,+-]+|--forest|--no-headers|-o|\d{1,9}|[a-z%]{2,20}(,[a-z%]{2,20})*"
)


def _processes(arguments: Sequence[str]) -> str | None:
    """Not the environment of others, where keys are."""
    for given in arguments:
        if "env" in given or (not given.startswith("-") and re.fullmatch(r"[auxlfwjTe]*e[auxlfwjTe]*", given)):
            return _refused(given)
    return _ps(arguments)


_words = Program(_anything, takes_paths=False)
_reads = Program(_anything)
_tells = Program(_version_only, Needs.HELPERS, takes_paths=False)

PROGRAMS: dict[str, Program] = {
    "ls": Program(_without("-L", "-H", "--dereference")),
    "cat": _reads,
    "grep": Program(_without("-R", "--dereference-recursive", "-f", "--file", "--exclude-from", but=["--exclude"])),
    "head": _reads,
    "tail": _reads,
    "echo": _words,
    "git": Program(_git),
    "date": Program(_date, takes_paths=False),
    "pwd": Program(_only(r"|-P|-L"), takes_paths=False),
    "whoami": Program(_nothing, takes_paths=False),
    "find": Program(_find),
    "wc": Program(_without("--files0-from")),
    "stat": _reads,
    "file": Program(_each(r"-[bihk]+|--brief|--mime|--mime-type|--mime-encoding|--no-dereference")),
    "which": Program(_each(r"-a"), Needs.HELPERS, takes_paths=False),  # a script, on many systems
    "ps": Program(_processes, Needs.PROCESSES, takes_paths=False),
    "kill": Program(_kill, Needs.SIGNALS, takes_paths=False),
    "pkill": Program(_pkill),
    "pgrep": Program(_without("-F", "--pidfile", "--signal"), Needs.PROCESSES, takes_paths=False),
    "mkdir": Program(_each(r"-[pv]+|--parents|--verbose"), Needs.WRITING),
    "touch": Program(_each(r"-[acm]+|--no-create"), Needs.WRITING),
    "env": Program(_nothing, takes_paths=False),
    "node": _tells,
    "npm": _tells,
    "npx": _tells,
    "python": _tells,
    "python3": _tells,
    "elixir": _tells,
    "mix": _tells,
    "curl": Program(_curl, Needs.NETWORK, takes_paths=False),
    "wget": Program(_wget, takes_paths=False),
    "rg": Program(
        _without(
            *("--pre", "--pre-glob", "--hostname-bin", "--search-zip", "-z", "--follow", "-L", "-f", "--file"),
            *("--ignore-file",),
        )
    ),
    "fd": Program(
        _without("-x", "-X", "--exec", "--exec-batch", "--follow", "-L", "--ignore-file", "-l", "--list-details")
    ),
    "ag": Program(_without("--pager", "-f", "--follow", "-z", "--search-zip", "-p", "--path-to-ignore")),
    "tree": Program(_without("-o", "--output", "-l", "-R", "--fromfile", "--fromtabfile", "--gitfile", "--infofile")),
    "df": Program(_anything, Needs.PROCESSES),
    "du": Program(
        _without("--files0-from", "-X", "--exclude-from", "-L", "-D", "-H", "--dereference", but=["--exclude"])
    ),
    "free": Program(_anything, Needs.PROCESSES, takes_paths=False),
    "uptime": Program(_anything, Needs.PROCESSES, takes_paths=False),
    "uname": _words,
    "hostname": Program(_only(r"|-f|-s|-d|-i|-I|--fqdn|--short|--domain"), takes_paths=False),
    "ip": Program(
        _only(
            r"((-[46osd]|-br|-brief|-j|-json) )*(a|addr|address|l|link|r|route|n|neigh|rule)"
            r"( (show|list|ls)( [\w.:@-]+)*)?"
        ),
        Needs.PROCESSES,
        takes_paths=False,
    ),
    "ifconfig": Program(_only(r"|-a|[a-z][\w.:-]*"), Needs.PROCESSES, takes_paths=False),
}
