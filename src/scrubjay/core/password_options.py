"""Options of programs that take a password as an argument."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordOptions:
    """Options of a program whose value is, or contains, a password."""

    values: frozenset[str] = frozenset()
    """The password is the next word, or follows `=`."""
    attached: tuple[str, ...] = ()
    """The password follows the option in the same word."""
    pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    """By option: what separates the user name and the password in its value."""
    flags: str = ""
    """Letters without a value, which can stand before an option of one letter: `-sSu`."""
    only_with: str = ""
    """A word that must be among the arguments; without it, the options mean something else."""
    asks: bool = False
    """`--password` without `=` lets the program ask; the next word is something else."""


def _table(programs: Mapping[str, PasswordOptions]) -> Iterator[tuple[str, PasswordOptions]]:
    for names, options in programs.items():
        for name in names.split():
            yield name, options


def _next(*options: str, only_with: str = "") -> PasswordOptions:
    return PasswordOptions(values=frozenset(options), only_with=only_with)


def _both(option: str, *others: str) -> PasswordOptions:
    return PasswordOptions(values=frozenset({option, *others}), attached=(option,))


def _pair(separator: str, *options: str) -> PasswordOptions:
    return PasswordOptions(pairs=dict.fromkeys(options, separator))


PASSWORD_OPTIONS: Final[Mapping[str, PasswordOptions]] = dict(
    _table(
        {
            "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlpump mysqlbinlog mysqlsh"
            " mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check mariabackup xtrabackup": PasswordOptions(
                attached=("-p",), asks=True
            ),
            "psql pg_dump pg_dumpall pg_restore createdb dropdb pg_basebackup pg_isready vacuumdb": PasswordOptions(
                asks=True
            ),
            "mycli": _both("-p"),
            "curl": PasswordOptions(
                values=frozenset({"--oauth2-bearer"}),
                pairs=dict.fromkeys(("-u", "--user", "-U", "--proxy-user", "-E", "--cert"), ":"),
                flags="0123456aBfgGiIjJkKlLnNOpqRsSvZ#",
            ),
            "http https xh xhs": _pair(":", "-a", "--auth"),
            "sshpass": _both("-p"),
            "redis-cli valkey-cli keydb-cli": _next("-a", "--pass"),
            "docker podman nerdctl buildah skopeo oras crane helm": PasswordOptions(
                values=frozenset({"-p", "--password"}), attached=("-p",), only_with="login"
            ),
            "az oc cf ibmcloud": _next("-p", "--password", only_with="login"),
            "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop": _both(
                "-p", "--password"
            ),
            "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldapcompare": _both("-w"),
            "ldappasswd": _both("-w", "-s", "-a"),
            "sqlcmd osql isql bcp": _both("-P"),
            "smbclient rpcclient smbget smbmap": _pair("%", "-U", "--user"),
            "lftp": _pair(",", "-u", "--user"),
            "openssl": _next("-k", "-K"),
            "zip unzip": _next("-P", "--password"),
            "7z 7za 7zr 7zz": PasswordOptions(attached=("-p",)),
            "rar unrar": PasswordOptions(attached=("-hp", "-p")),
            "mosquitto_pub mosquitto_sub mosquitto_rr": _next("-P", "--pw"),
            "snmpget snmpwalk snmpset snmpbulkwalk": _next("-A", "-X"),
            "plink pscp psftp putty": _next("-pw"),
            "psexec": _next("-p"),
            "useradd usermod": _next("-p", "--password"),
            "xfreerdp wfreerdp": PasswordOptions(attached=("/p:",)),
            "gh": _next("-b", "--body", only_with="secret"),
        }
    )
)

# Programs and keywords that are followed by a program, after options of their own.
WRAPPERS: Final = frozenset(
    {
        *("sudo", "doas", "env", "time", "nice", "nohup", "timeout", "exec", "command"),
        *("builtin", "xargs", "watch", "docker", "podman", "nerdctl", "docker-compose", "compose", "kubectl"),
        *("oc", "chroot", "setsid", "stdbuf", "ionice", "strace", "ltrace", "sshpass", "su"),
        *("runuser", "parallel", "script", "unbuffer", "flock", "chrt", "taskset", "systemd-run", "find"),
        *("ssh", "caffeinate", "if", "then", "do", "else", "elif", "while", "until"),
        *("!", "{"),
    }
)
# Options without a value, so that the next word can be the program.
WRAPPER_FLAGS: Final = frozenset({"--", "-E", "-S", "-H", "-i", "-exec", "-execdir"})
# Programs that take a command as one argument.
SHELLS: Final = frozenset(
    {
        *("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox", "ssh"),
        *("su", "eval", "watch", "script", "parallel", "tmux", "screen", "cmd", "powershell"),
        *("pwsh",),
    }
)
# Options of ssh with a value; the first other word is the host.
SSH_OPTIONS: Final = frozenset("-" + letter for letter in "bBcDeEFIiJLlmoOpQRSWw")
