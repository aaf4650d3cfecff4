"""Detect passwords in shell commands: options, assignments, headers and piped input.

Use this only for text that is known to be a command. There, a password needs no digit and no minimum length, because
the program or the name before it says what it is; in other texts, `scrubjay.core.secrets` decides.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.core.password_options import (
    PASSWORD_OPTIONS,
    SHELLS,
    SSH_OPTIONS,
    WRAPPER_FLAGS,
    WRAPPERS,
    PasswordOptions,
)
from scrubjay.core.secrets import MARK, Secret, find_secrets, mark, merge, names_another, secret_kind
from scrubjay.core.shell_words import SimpleCommand, Word, argument_words, read_commands

# A longer command carries data; only its beginning is read as a command.
MAX_CHARACTERS: Final = 100_000
_MAX_DEPTH: Final = 3
_MIN_KEY: Final = 6
# Programs that one line about a process can name.
_MAX_PROGRAMS: Final = 20

_ASSIGNMENT = lazy_pattern(r"(?:--?|/|\$env:)?(?P<name>[A-Za-z_][\w.:/-]{0,100}?)\+?=")
_FIELD = lazy_pattern(r"(?P<name>[A-Za-z_][\w.-]{0,60})=(?P<value>[^&;,\s\"']+)")
_JSON_FIELD = lazy_pattern(r"""["'](?P<name>[\w.-]{1,60})["']\s{0,3}:\s{0,3}["'](?P<value>[^"'\s]+)["']""")
_HEADER = lazy_pattern(
    r"""(?P<name>[\w-]{1,60}):\s{0,3}(?:(?:basic|bearer|token|digest|negotiate|apikey)\s{1,3})?(?P<value>[^\s"']+)""",
    re.IGNORECASE,
)
_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "x-auth-key", "x-access-key", "apikey"})
# `https://TOKEN@host`, without a user name.
_USER_INFO = lazy_pattern(r"://(?P<value>[A-Za-z0-9_-]{20,255})@")
# Options such as `--ask-password` and `--password-stdin` take no password.
_SWITCH = lazy_pattern(
    r"-*(?:no|ask|prompt|with|without|disable|enable|require|show|hide|reset|change|use|generate|get)-"
)
_NO_PASSWORD = lazy_pattern(
    r"[*.•…#_-]+ | <.*> | \$[A-Za-z_]\w* | \$[{(].* | %\w+%.* | @\w+@ | \{\{.* | -\w[\w-]* | \d{1,3}"
    r" | true | false | yes | no | on | off | none | null | undefined",
    re.IGNORECASE | re.VERBOSE,
)
_PATH = lazy_pattern(r"/|~/|\.{1,2}/|[A-Za-z]:\\|\w+://|env:|file:|fd:")
_FOLDERS = frozenset({"pwd", "oldpwd"})
_SETTING_PROGRAMS = frozenset(
    {*("aws", "npm", "pnpm", "yarn", "git", "composer"), *("bundle", "poetry", "pip", "gcloud", "heroku", "fly")}
)
_SETTING_WORDS = frozenset({"set", "config", "configure"})
_CONSOLE = frozenset({"echo", "printf"})
_SQL_LOGINS = frozenset(["sqlplus", "expdp", "impdp", "exp", "imp", "sqlldr", "rman"])
_SQL_LOGIN = lazy_pattern(r"(?:userid=)?[\w.$#]+/(?P<value>[^@/\s][^@\s]*)(?:@.*)?")

_OPENSSL_LITERAL = "pass:"

_Span = tuple[str, int, int]


def masked_command(text: str) -> str:
    """Return the command with every secret replaced."""
    while found := find_command_secrets(text):  # as in `mask`
        for secret in reversed(found):
            text = text[: secret.start] + mark(secret.kind) + text[secret.end :]
    return text


def masked_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a program and its arguments with every secret replaced."""
    return _masked_words(arguments, is_process=False)


def masked_process(arguments: Sequence[str]) -> list[str]:
    """Return the words of a line about a process with every secret replaced.

    The line may have other columns before the program, which may be started by an interpreter, so that every word that
    names a program with password options counts as one.
    """
    return _masked_words(arguments, is_process=True)


def _masked_words(arguments: Sequence[str], *, is_process: bool) -> list[str]:
    words = argument_words(arguments)
    spans = {*_in_command(SimpleCommand(words), 0)}
    if is_process:
        known = islice((place for place, word in enumerate(words) if _name_of(word) in _KNOWN), _MAX_PROGRAMS)
        spans.update(span for at in known for span in _arguments(_name_of(words[at]), words[at + 1 :]))
    found = sorted((Secret(*span) for span in spans), key=_start)
    made: list[str] = []
    for word, argument in zip(words, arguments, strict=True):
        first = word.places[0] if word.places else 0
        inside = found[bisect_left(found, first, key=_start) : bisect_left(found, first + len(argument), key=_start)]
        secrets = [Secret(one.kind, one.start - first, one.end - first) for one in inside if word.places]
        for secret in reversed(merge(argument, [*secrets, *find_secrets(argument)])):
            argument = argument[: secret.start] + mark(secret.kind) + argument[secret.end :]
        made.append(argument)
    return made


def _start(secret: Secret) -> int:
    return secret.start


def find_command_secrets(text: str) -> list[Secret]:
    """Return the secrets in a shell command, in order and without overlaps."""
    own = [Secret(*span) for span in _in_text(text[:MAX_CHARACTERS], None, 0)]
    found = [_with_quotes(text, one) for one in own]
    return merge(text, [*found, *find_secrets(text)])


def _with_quotes(text: str, secret: Secret) -> Secret:
    """Include the quotes next to a secret that has quotes inside, so that they stay balanced."""
    inner = text[secret.start : secret.end]
    for quote in "'\"":
        if inner.count(quote) % 2:
            if text[secret.start - 1 : secret.start] == quote:
                return Secret(secret.kind, secret.start - 1, secret.end)
            if text[secret.end : secret.end + 1] == quote:
                return Secret(secret.kind, secret.start, secret.end + 1)
    return secret


def _in_text(text: str, places: Sequence[int] | None, depth: int) -> Iterator[_Span]:
    for command in read_commands(text, MARK, places):
        yield from _in_command(command, depth)


def _in_command(command: SimpleCommand, depth: int) -> Iterator[_Span]:
    words = command.words
    for word in words:
        yield from _in_word(word)
    programs = [*_programs(words)]
    asks = any(_asks(words[position]) for position in programs)
    for word, following in pairwise(words):
        if not asks:
            yield from _after_name(word, following)
    for position in programs:
        yield from _arguments(_name_of(words[position]), words[position + 1 :])
    yield from _shell_variables(words)
    yield from _settings(words)
    if _reads_password(words):
        yield from _piped(command)
    if depth < _MAX_DEPTH and any(_name_of(word) in SHELLS for word in words):
        for word in words:
            if " " in word.text or "\n" in word.text:
                yield from _in_text(word.text, word.places, depth + 1)


def _asks(word: Word) -> bool:
    options = PASSWORD_OPTIONS.get(_name_of(word))
    return options is not None and options.asks


# -- names: assignments, headers, fields ---------------------------------------------------------------


def _in_word(word: Word) -> Iterator[_Span]:
    text = word.text
    if (found := _ASSIGNMENT.match(text)) and (kind := _kind(found["name"])):
        yield from _value(word, found.end(), len(text), kind)
    elif "=" in text:
        for found in _FIELD.finditer(text):
            if kind := _kind(found["name"]):
                yield from _value(word, *found.span("value"), kind)
    if ":" not in text:
        return
    if (found := _HEADER.fullmatch(text)) and _is_header(found["name"]):
        yield from _value(word, *found.span("value"), "password")
    for found in _JSON_FIELD.finditer(text):
        if kind := _kind(found["name"]):
            yield from _value(word, *found.span("value"), kind)
    for found in _USER_INFO.finditer(text):
        if any(map(str.isdigit, found["value"])):
            yield from _value(word, *found.span("value"), "token")


def _is_header(name: str) -> bool:
    lowered = name.lower()
    return lowered in _HEADERS or secret_kind(lowered) is not None


def _kind(name: str) -> str | None:
    """Return the kind of secret that a variable, option or field of this name has."""
    if name.lower() in _FOLDERS:
        return None
    last = name.replace("/", ".").replace(":", ".").rpartition(".")[2]
    if last.lower() == "pass" or last.lower().endswith(("_pass", "-pass")):
        return "password"
    return secret_kind(last) or ("token" if last.lower() == "authtoken" else None)


def _after_name(word: Word, following: Word) -> Iterator[_Span]:
    """Yield the value of an option such as `--db-password`, which is the next word."""
    name = word.text
    is_option = name.startswith("-") and len(name) > 3 and "=" not in name
    if not is_option or _SWITCH.match(name) or following.text.startswith("-"):
        return
    if kind := _kind(name.lstrip("-")):
        yield from _value(following, 0, len(following.text), kind)


def _shell_variables(words: Sequence[Word]) -> Iterator[_Span]:
    """Yield values that fish, csh or PowerShell assigns."""
    texts = [word.text for word in words]
    if len(texts) < 3:
        return
    if texts[0] in ("set", "setenv") and not texts[-2].startswith("-") and (kind := _kind(texts[-2])):
        yield from _value(words[-1], 0, len(texts[-1]), kind)
    if texts[1] == "=" and (kind := _kind(texts[0].lstrip("$"))):
        yield from _value(words[2], 0, len(texts[2]), kind)


def _settings(words: Sequence[Word]) -> Iterator[_Span]:
    """Yield the value in `aws configure set NAME VALUE` and the like."""
    texts = [word.text for word in words]
    if not texts or _name_of(words[0]) not in _SETTING_PROGRAMS or not _SETTING_WORDS.intersection(texts):
        return
    for word, following in pairwise(words[1:]):
        if not word.text.startswith("-") and "=" not in word.text and (kind := _kind(word.text)):
            yield from _value(following, 0, len(following.text), kind)


def _value(word: Word, start: int, end: int, kind: str) -> Iterator[_Span]:
    """Yield this part of the word, unless it is no literal secret."""
    value = word.text[start:end]
    if not value or "[secret: " in value or _NO_PASSWORD.fullmatch(value):
        return
    if start in word.expansions or (kind != "password" and not _is_key(value)) or _PATH.match(value):
        return
    yield kind, *word.span(start, end)


def _is_key(value: str) -> bool:
    if len(value) < _MIN_KEY or not any(map(str.isdigit, value)) or "," in value:
        return False
    return not names_another(value)


# -- programs and their options ------------------------------------------------------------------------


def _name_of(word: Word) -> str:
    """Return the name of a program, without its folder."""
    return word.text.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


def _programs(words: Sequence[Word]) -> Iterator[int]:
    """Yield the positions of the program and of the programs that it runs."""
    position = 0
    while position < len(words) and _is_assignment(words[position]):
        position += 1
    if position == len(words):
        return
    yield position
    if _name_of(words[position]) not in WRAPPERS:
        return
    while position < len(words) and _name_of(words[position]) == "ssh":
        position = _remote_command(words, position)
        if position < len(words):
            yield position
    for following in range(position + 1, len(words)):
        before = words[following - 1].text
        if _name_of(words[following]) in _KNOWN and (not before.startswith("-") or before in WRAPPER_FLAGS):
            yield following


def _is_assignment(word: Word) -> bool:
    return (found := _ASSIGNMENT.match(word.text)) is not None and found["name"].isidentifier()


def _remote_command(words: Sequence[Word], position: int) -> int:
    """Return the position of the command that ssh runs on the host."""
    position += 1
    while position < len(words) and words[position].text.startswith("-"):
        position += 2 if words[position].text in SSH_OPTIONS else 1
    return position + 1


def _arguments(program: str, words: Sequence[Word]) -> Iterator[_Span]:
    options = PASSWORD_OPTIONS.get(program)
    if options is not None and (not options.only_with or any(word.text == options.only_with for word in words)):
        yield from _options(options, words)
    if special := _SPECIAL.get(program):
        yield from special(words)


def _options(options: PasswordOptions, words: Sequence[Word]) -> Iterator[_Span]:
    for position, word in enumerate(words):
        text = word.text
        following = words[position + 1] if position + 1 < len(words) else None
        option, equals, _ = text.partition("=")
        if text in options.values:
            if following is not None:
                yield from _value(following, 0, len(following.text), "password")
        elif equals and option in options.values:
            yield from _value(word, len(option) + 1, len(text), "password")
        elif text in options.pairs:
            if following is not None:
                yield from _pair(following, 0, options.pairs[text])
        elif equals and option in options.pairs:
            yield from _pair(word, len(option) + 1, options.pairs[option])
        else:
            yield from _attached(options, word, following)


def _attached(options: PasswordOptions, word: Word, following: Word | None) -> Iterator[_Span]:
    """Yield the value in a word such as `-pPASSWORD`, or in and after one such as `-sSuUSER:PASSWORD`."""
    for option in options.attached:
        if word.text.startswith(option) and len(word.text) > len(option):
            yield from _value(word, len(option), len(word.text), "password")
            return
    letters = word.text[1:].lstrip(options.flags)
    if not word.text.startswith("-") or f"-{letters[:1]}" not in options.pairs:
        return
    separator = options.pairs[f"-{letters[0]}"]
    if len(letters) > 1:
        yield from _pair(word, len(word.text) - len(letters) + 1, separator)
    elif following is not None:
        yield from _pair(following, 0, separator)


def _pair(word: Word, start: int, separator: str) -> Iterator[_Span]:
    place = word.text.find(separator, start)
    if place >= 0:
        yield from _value(word, place + len(separator), len(word.text), "password")


def _openssl(words: Sequence[Word]) -> Iterator[_Span]:
    for word in words:
        if word.text.startswith(_OPENSSL_LITERAL):
            yield from _value(word, len(_OPENSSL_LITERAL), len(word.text), "password")


def _htpasswd(words: Sequence[Word]) -> Iterator[_Span]:
    options = "".join(word.text for word in words if word.text.startswith("-"))
    others = [word for word in words if not word.text.startswith("-")]
    position = 1 if "n" in options else 2
    if "b" in options and len(others) > position:
        yield from _value(others[position], 0, len(others[position].text), "password")


def _redis(words: Sequence[Word]) -> Iterator[_Span]:
    if any(word.text.lower() == "auth" for word in words[:-1]):
        yield from _value(words[-1], 0, len(words[-1].text), "password")


def _sql_login(words: Sequence[Word]) -> Iterator[_Span]:
    for word in words:
        if not word.text.startswith("-"):
            if found := _SQL_LOGIN.fullmatch(word.text):
                yield from _value(word, *found.span("value"), "password")
            return


def _vault(words: Sequence[Word]) -> Iterator[_Span]:
    if len(words) > 1 and words[0].text == "login" and "=" not in words[-1].text:
        yield from _value(words[-1], 0, len(words[-1].text), "token")


def _word_password(words: Sequence[Word]) -> Iterator[_Span]:
    for word, following in pairwise(words):
        if word.text == "password":
            yield from _value(following, 0, len(following.text), "password")


def _wpa(words: Sequence[Word]) -> Iterator[_Span]:
    if len(words) == 2:
        yield from _value(words[1], 0, len(words[1].text), "password")


def _literals(words: Sequence[Word]) -> Iterator[_Span]:
    """Yield the values of `kubectl create secret … --from-literal=NAME=VALUE`."""
    for position, word in enumerate(words):
        if word.text == "--from-literal" and position + 1 < len(words):
            yield from _pair(words[position + 1], 0, "=")
        elif word.text.startswith("--from-literal="):
            yield from _pair(word, len("--from-literal="), "=")


_SPECIAL: Final = {
    "openssl": _openssl,
    "htpasswd": _htpasswd,
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), _redis),
    **dict.fromkeys(_SQL_LOGINS, _sql_login),
    "vault": _vault,
    "nmcli": _word_password,
    "wpa_passphrase": _wpa,
    **dict.fromkeys(("kubectl", "oc", "k3s"), _literals),
}
_KNOWN: Final = PASSWORD_OPTIONS.keys() | _SPECIAL.keys()


# -- input -----------------------------------------------------------------------------------------------


def _reads_password(words: Sequence[Word]) -> bool:
    """Return True for a command that reads a password from its input."""
    texts = [word.text for word in words]
    names = [_name_of(word) for word in words]
    if any(text in ("--password-stdin", "--pass-stdin", "--with-token", "--passphrase-fd") for text in texts):
        return True
    if {"chpasswd", "kinit", "cryptsetup"}.intersection(names):
        return True
    if "sudo" in names[:1] and any(text.startswith("-") and "S" in text for text in texts[1:3]):
        return True
    return ("passwd" in names and "--stdin" in texts) or (names[:1] == ["gh"] and texts[1:3] == ["secret", "set"])


def _piped(command: SimpleCommand) -> Iterator[_Span]:
    if command.here_string is not None:
        yield from _input(command, command.here_string)
    before = command.reads_from
    if before is None or not before.words or _name_of(before.words[0]) not in _CONSOLE:
        return
    arguments = [word for word in before.words[1:] if not word.text.startswith("-")]
    if _name_of(before.words[0]) == "printf" and len(arguments) > 1 and "%" in arguments[0].text:
        arguments = arguments[1:]
    for word in arguments:
        yield from _input(command, word)


def _input(command: SimpleCommand, word: Word) -> Iterator[_Span]:
    is_pair = any(_name_of(other) == "chpasswd" for other in command.words)
    start = word.text.find(":") + 1 if is_pair else 0
    yield from _value(word, start, len(word.text), "password")
