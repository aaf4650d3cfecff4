"""Validation of skill configurations; each refusal has a reason code."""

import posixpath
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast
from urllib.parse import urlsplit

from scrubjay.features.upstream_mcp.configuration import (
    HTTP_CALL_SECONDS,
    INTERPOLATION,
    CommandLimits,
    CommandSkill,
    HttpSkill,
    SkillConfig,
    SkillPolicy,
    runs_other_code,
)

MAX_ARGS = 30
MAX_ENTRIES = 30
MAX_CHARACTERS = 1024

_SKILL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_VARIABLE_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
# Shell metacharacters, and paths or options that give access to the host.
_DANGEROUS = re.compile(
    r"[;&|`$(){}!<>\\]|\.\./|^/etc/|docker\.sock|^--privileged|^--network=host|^--pid=host|^--cap-add"
)
# Printable text only: no line breaks, no terminal escapes.
_ALLOWED_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*")
# As the argument after one of these, `host` means the same as in `--network=host`.
_TAKES_HOST = re.compile(r"--(?:net|network|pid|ipc|uts|userns|cgroupns)")
# Docker options that mount a folder of the host, with the folder in this argument or in the next one.
_FOLDER = re.compile(
    r"(?:-[a-zA-Z]*v=?|--volume=)(?P<folder>/[^:]*).*|(?:--mount=)?(?:.*,)?(?:source|src)=(?P<source>[^,]*).*"
)
_TAKES_FOLDER = re.compile(r"-[a-zA-Z]*v|--volume")
# These contain Docker's own socket, or control the host.
_FORBIDDEN_MOUNTS = frozenset({"/", "/etc", "/proc", "/run", "/sys", "/var", "/var/run"})


class RefusalReason(StrEnum):
    """Why a skill is refused."""

    MISSING_FIELD = "missing_field"
    EMPTY_FIELD = "empty_field"
    INVALID_TYPE = "invalid_type"
    COMMAND_NOT_ALLOWED = "command_not_allowed"
    TOO_MANY_ARGS = "too_many_args"
    DANGEROUS_ARGS = "dangerous_args"
    ARG_TOO_LONG = "arg_too_long"
    TOO_MANY_ENV_VARS = "too_many_env_vars"
    INVALID_ENV_VAR_NAMES = "invalid_env_var_names"
    ENV_VALUE_TOO_LONG = "env_value_too_long"
    INVALID_INTERPOLATION = "invalid_interpolation"
    EXTRA_FIELDS = "extra_fields"
    # Our own additions to the reasons of the contract.
    INVALID_NAME = "invalid_name"
    INVALID_URL = "invalid_url"
    TOO_MANY_HEADERS = "too_many_headers"
    INVALID_HEADERS = "invalid_headers"


class InvalidSkill(Exception):
    """A refused skill, with reason and message; messages never contain values, which may be secrets."""

    def __init__(self, reason: RefusalReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def validate_name(name: str) -> str:
    if not _SKILL_NAME.fullmatch(name):
        raise InvalidSkill(
            RefusalReason.INVALID_NAME, "the name must be a letter followed by up to 31 letters, digits, _ or -"
        )
    return name


def validate_config(raw: Any, policy: SkillPolicy) -> SkillConfig:
    """Return the validated configuration; raise `InvalidSkill` with the first problem."""
    fields = _object(raw, "a skill")
    return _http(fields, policy) if "url" in fields else _command(fields, policy)


def _command(fields: Mapping[str, Any], policy: SkillPolicy) -> CommandSkill:
    _check_fields(fields, {"command", "args", "env"})
    if "command" not in fields:
        raise InvalidSkill(RefusalReason.MISSING_FIELD, "command is missing")
    command = fields["command"]
    if not isinstance(command, str):
        raise InvalidSkill(RefusalReason.INVALID_TYPE, "command must be a string")
    if not command.strip():
        raise InvalidSkill(RefusalReason.EMPTY_FIELD, "command is empty")
    limits = policy.commands.get(command)
    if limits is None:
        raise InvalidSkill(
            RefusalReason.COMMAND_NOT_ALLOWED, f"{command[:80]!r} is not one of {', '.join(sorted(policy.commands))}"
        )
    args = _args(fields.get("args", []), limits)
    env = _object(fields.get("env", {}), "env")
    if len(env) > MAX_ENTRIES:
        raise InvalidSkill(RefusalReason.TOO_MANY_ENV_VARS, f"env has {len(env)} variables, more than {MAX_ENTRIES}")
    if bad := [name for name in env if not _VARIABLE_NAME.fullmatch(name)]:
        raise InvalidSkill(RefusalReason.INVALID_ENV_VAR_NAMES, f"env: {bad[0][:80]!r} is not a valid variable name")
    if bad := [name for name in env if runs_other_code(command, name)]:
        raise InvalidSkill(
            RefusalReason.INVALID_ENV_VAR_NAMES,
            f"env: {bad[0]} is not allowed, because it runs other code than {command}",
        )
    return CommandSkill(command, args, _values(env, "env", policy), limits.call_seconds)


def _http(fields: Mapping[str, Any], policy: SkillPolicy) -> HttpSkill:
    _check_fields(fields, {"url", "headers"})
    url = fields["url"]
    if not isinstance(url, str):
        raise InvalidSkill(RefusalReason.INVALID_TYPE, "url must be a string")
    if not url.strip():
        raise InvalidSkill(RefusalReason.EMPTY_FIELD, "url is empty")
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, is_valid = None, False
    if parts is None or not is_valid or len(url) > MAX_CHARACTERS or not url.isprintable() or " " in url:
        raise InvalidSkill(RefusalReason.INVALID_URL, "url must be an absolute http or https URL")
    if parts.username is not None or parts.password is not None:
        raise InvalidSkill(RefusalReason.INVALID_URL, "url must not contain credentials; use headers")
    headers = _object(fields.get("headers", {}), "headers")
    if len(headers) > MAX_ENTRIES:
        raise InvalidSkill(RefusalReason.TOO_MANY_HEADERS, f"{len(headers)} headers are more than {MAX_ENTRIES}")
    if bad := [name for name in headers if not _HEADER_NAME.fullmatch(name)]:
        raise InvalidSkill(RefusalReason.INVALID_HEADERS, f"headers: {bad[0][:80]!r} is not a valid header name")
    values = _values(headers, "headers", policy)
    if bad := [name for name, value in values.items() if not (value.isascii() and value.isprintable())]:
        raise InvalidSkill(RefusalReason.INVALID_HEADERS, f"headers: the value of {bad[0]} is not printable ASCII")
    return HttpSkill(url, values, HTTP_CALL_SECONDS)


def _args(raw: Any, limits: CommandLimits) -> tuple[str, ...]:
    if not isinstance(raw, list):
        raise InvalidSkill(RefusalReason.INVALID_TYPE, "args must be a list")
    values = cast(list[Any], raw)
    texts = all(isinstance(arg, str) for arg in values)
    if not texts and not all(isinstance(arg, int | float) and not isinstance(arg, bool) for arg in values):
        raise InvalidSkill(RefusalReason.INVALID_TYPE, "args must be all strings or all numbers")
    args = tuple(map(str, values))
    if len(args) > min(MAX_ARGS, limits.max_args):
        raise InvalidSkill(
            RefusalReason.TOO_MANY_ARGS,
            f"{len(args)} args are more than {min(MAX_ARGS, limits.max_args)} for this command",
        )
    for position, arg in enumerate(args, start=1):
        if len(arg) > MAX_CHARACTERS:
            raise InvalidSkill(
                RefusalReason.ARG_TOO_LONG, f"argument {position} has more than {MAX_CHARACTERS} characters"
            )
        before = args[position - 2] if position > 1 else ""
        if _is_dangerous(arg, before, limits):
            raise InvalidSkill(RefusalReason.DANGEROUS_ARGS, f"argument {position} is not allowed for this command")
    return args


def _is_dangerous(arg: str, before: str, limits: CommandLimits) -> bool:
    if _DANGEROUS.search(arg) or not _ALLOWED_TEXT.fullmatch(arg):
        return True
    if limits.refused is not None and limits.refused.fullmatch(arg):
        # A bare `host` is refused only as the value of an option.
        return arg != "host" or _TAKES_HOST.fullmatch(before) is not None
    return limits.mounts and _mounts_host_folder(arg, before)


def _mounts_host_folder(arg: str, before: str) -> bool:
    if found := _FOLDER.fullmatch(arg):
        folder = found["folder"] or found["source"] or ""
    else:
        folder = arg.partition(":")[0] if _TAKES_FOLDER.fullmatch(before) else ""
    return bool(folder) and f"/{posixpath.normpath(folder).lstrip('/')}" in _FORBIDDEN_MOUNTS


def _values(entries: Mapping[str, Any], what: str, policy: SkillPolicy) -> dict[str, str]:
    for name, value in entries.items():
        if not isinstance(value, str):
            raise InvalidSkill(RefusalReason.INVALID_TYPE, f"{what}: the value of {name} must be a string")
        if len(value) > MAX_CHARACTERS:
            raise InvalidSkill(
                RefusalReason.ENV_VALUE_TOO_LONG,
                f"{what}: the value of {name} has more than {MAX_CHARACTERS} characters",
            )
        if not _ALLOWED_TEXT.fullmatch(value):
            raise InvalidSkill(RefusalReason.INVALID_TYPE, f"{what}: the value of {name} contains control characters")
        if unknown := [found for found in INTERPOLATION.findall(value) if found not in policy.variables]:
            raise InvalidSkill(
                RefusalReason.INVALID_INTERPOLATION, f"{what}: {name} may not use the variable {unknown[0]!r}"
            )
    return dict(entries)


def _object(raw: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise InvalidSkill(RefusalReason.INVALID_TYPE, f"{what} must be an object")
    return cast(dict[str, Any], raw)


def _check_fields(fields: Mapping[str, Any], known: set[str]) -> None:
    if extra := sorted(set(fields) - known):
        raise InvalidSkill(
            RefusalReason.EXTRA_FIELDS, f"unknown field {extra[0][:80]!r}; expected {', '.join(sorted(known))}"
        )
