"""Secrets in text: keys, tokens and passwords are found by their form, or by the name that they stand next to.

It is precise before it is eager: what is taken for a secret is lost to whoever wrote it, so hashes, UUIDs, commit ids,
images in base64, code and prose about passwords are left alone.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from scrubjay.core.lazy_regex import late


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands in a text."""

    kind: str
    start: int
    end: int


class _Form(NamedTuple):
    """Secrets that can be told by what they begin with; `beginnings` are looked for first, because that is fast."""

    kind: str
    beginnings: tuple[str, ...]
    pattern: str
    holds: Callable[[re.Match[str]], bool] | None = None


# What a secret may follow, and what may follow it: never the middle of a longer word.
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_BODY = r"[A-Za-z0-9_-]"


def _form(kind: str, beginnings: str, pattern: str, holds: Callable[[re.Match[str]], bool] | None = None) -> _Form:
    return _Form(kind, tuple(beginnings.split()), _BEFORE + pattern + _AFTER, holds)


# Compiled when first needed, which takes a millisecond each.
_compiled = cache(re.compile)


def _is_jwt(match: re.Match[str]) -> bool:
    import base64  # which few texts need, and hooks have no time for
    import binascii

    head = match[0].split(".", 1)[0]
    try:
        return b'"alg"' in base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return False


def _has_digit(match: re.Match[str]) -> bool:
    return any(map(str.isdigit, match[0]))


_PRIVATE_KEY = r"[A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----"
_FORMS = (
    _Form(
        "private key",
        ("-----BEGIN ",),
        # Up to its end; of one that was cut off, as much as can only be a key. The rest of a line is never enough.
        rf"-----BEGIN {_PRIVATE_KEY}(?:(?:[^-]|-(?!----))++-----END {_PRIVATE_KEY}"
        r"|(?:(?:\s|\\[rn])*+[A-Za-z-]{2,20}: [^\n\\]*+)*+"
        r"(?:(?:\s|\\[rn])*+[A-Za-z0-9+/=]{40,}+)++(?:(?:\s|\\[rn])*+[A-Za-z0-9+/]{0,64}={1,2})?)",
    ),
    _form("jwt", "eyJ", rf"eyJ{_BODY}{{8,}}+(?:\.{_BODY}{{8,}}+)(?:\.{_BODY}*+){{1,3}}", _is_jwt),
    _form("aws access key", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _form("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _form("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _form(
        "gitlab token", "glpat- gldt- glrt- glptt- glcbt-", rf"gl(?:pat|dt|rt|ptt|cbt)-{_BODY}{{20,255}}", _has_digit
    ),
    _form("slack token", "xox xapp-", rf"(?:xox[abeoprs]|xapp)-(?:\d-)?{_BODY}{{10,255}}", _has_digit),
    _form("slack webhook", "hooks.slack.com/services/", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    _form("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _form("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,255}"),
    _form("google key", "AIza", rf"AIza{_BODY}{{35}}"),
    _form("google token", "ya29. GOCSPX-", rf"(?:ya29\.|GOCSPX-){_BODY}{{20,1024}}", _has_digit),
    # OpenAI's, and those of all who made theirs alike: sk-proj-, sk-ant-, sk-or-v1- and more.
    _form("api key", "sk-", rf"(?<!-)sk-{_BODY}{{20,255}}", _has_digit),
    _form(
        "api key", "gsk_ hf_ r8_ xai- pplx- tvly-", r"(?:gsk_|hf_|r8_|xai-|pplx-|tvly-)[A-Za-z0-9-]{30,255}", _has_digit
    ),
    _form("scrubjay key", "sjk_ rck_", r"(?:sjk_|rck_)[0-9a-f]{64}"),
    _form("sendgrid key", "SG.", rf"SG\.{_BODY}{{16,32}}\.{_BODY}{{16,64}}"),
    _form("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _form("pypi token", "pypi-", rf"pypi-{_BODY}{{50,255}}"),
    _form("mailgun key", "key-", r"key-[0-9a-f]{32}"),
    _form("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _form("shopify token", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}"),
    _form("databricks token", "dapi", r"dapi[0-9a-f]{32}"),
    _form("vault token", "hvs. hvb.", rf"hv[sb]\.{_BODY}{{24,255}}", _has_digit),
    _form(
        "api key", "lin_api_ ntn_ sbp_ figd_ PMAK-", rf"(?:lin_api_|ntn_|sbp_|figd_|PMAK-){_BODY}{{30,255}}", _has_digit
    ),
    _form("atlassian token", "ATATT3", rf"ATATT3{_BODY}{{30,255}}"),
    _form("grafana token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,255}", _has_digit),
    _form("telegram token", ":AA", rf"\d{{8,10}}:AA{_BODY}{{33}}"),
    _form("age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)
BEGINNINGS = tuple(dict.fromkeys(beginning for form in _FORMS for beginning in form.beginnings))
"""A text that has none of these has no secret that is told by its form."""
WITHIN_WORDS = ("-----BEGIN ", ":AA")
"""Those before which anything may stand. Before all others is no letter, digit or underscore; behind them is more."""
# What a beginning has to have, and the beginnings that have it: most texts have no underscore, and few have hyphens.
_BY_RARE_SIGN = tuple(
    (
        rare,
        tuple(
            beginning for beginning in BEGINNINGS if rare == next((sign for sign in "_-./:" if sign in beginning), "")
        ),
    )
    for rare in ("", *"_-./:")
)

# The password of an address such as postgres://ada:PASSWORD@host/db; one with an @ of its own reaches to the last one.
_IN_ADDRESS = late(r"""://(?P<user>[^\s/@:"'<>]{0,256}):(?P<value>[^\s/"'<>]{1,256})(?=@[\w\[])""")
_SENT_ALONG = late(r"\s{1,4}(?P<value>[A-Za-z0-9._~+/-]{16,4096}={0,2})")


class _Name(NamedTuple):
    """How a name ends that tells of a secret next to it, and what has to be before that.

    A weak one tells less: hashes and UUIDs under it are no secrets.
    """

    kind: str
    ending: str
    after: re.Pattern[str] | None = None
    not_after: re.Pattern[str] | None = None
    is_password: bool = False
    is_weak: bool = False


# Tokens with which one goes on somewhere, or that a model reads: nobody can use them against anybody.
_HARMLESS_TOKENS = late(
    r"(?:next|prev|previous|page|paging|cursor|continuation|sync|resume|csrf|xsrf|design|stop|start|pad|eos|bos|unk|sep"
    r"|cls|mask|special|input|output|max|min|first|last|per)[ _-]?$"
)
_OPENING_KEYS = late(r"(?:api|access|secret|private|account|auth|encryption|signing|license)[ _-]?$")
_OPENING_TOKENS = late(r"(?:access|auth|api|refresh|bearer|bot|deploy)[ _-]?$")
_NAMES = (
    *(_Name("password", name, is_password=True) for name in ("password", "passwd", "passphrase", "passcode", "pwd")),
    _Name("secret", "secret"),
    _Name("secret", "credential"),
    _Name("token", "token", after=_OPENING_TOKENS),
    _Name("token", "token", not_after=_HARMLESS_TOKENS, is_weak=True),
    _Name("key", "key", after=_OPENING_KEYS),
)
PASSWORD_ENDINGS = tuple(name.ending for name in _NAMES if name.is_password)
OTHER_ENDINGS = tuple(dict.fromkeys(name.ending for name in _NAMES if not name.is_password))
"""How all names end that tell of a secret next to them."""
SCHEMES = ("bearer", "basic")
"""What a secret is sent along behind."""
# The longest that has to be looked at before the ending of a name.
_LONGEST_BEFORE = 20
_LONGEST_OPTION = 40
# From the end of the name to the end of the value. Between them is an assignment in code, configuration or prose, or
# only space, which counts for the options of commands.
_SUFFIX = r"(?:s|_?\d{1,2}|[_-](?:prod|production|dev|test|staging|live|main|value|base64|b64))"
_SUFFIX_AT_END = late(_SUFFIX + "$")
_END_OF_NAME = rf"{_SUFFIX}?(?![\w-])"
_VALUE = r"""
    (?:(?:\(|\\\r?\n)\s{0,80}(?=["'`]))?                             # on a line of its own
    (?:\*\*|\\?(?P<quote>["'`]))?
    (?P<value>(?(quote)[^\n]{1,4096}?(?=\\?(?P=quote))|[^\s"'`,;<>]{1,4096}))
"""
_ASSIGNED = late(
    _END_OF_NAME
    + r"""
    \\?["'`\])*]{0,3}
    (?:\s{0,3}:\s{0,3}[A-Za-z_][\w.\[\], |]{0,40}?(?=\s{0,3}=))?     # a type
    (?:
        \s{0,8}(?P<sign>:=|=>|={1,3}|:)\*{0,2}\s{0,8}
      | (?:\s{1,3}(?:for|of|on|in|to)(?:\s{1,3}[\w.'@-]{1,40}){1,5}?)?\s{1,3}(?:is|was|to)(?::\s{0,3}|\s{1,3})
    )
    """
    + _VALUE,
    re.VERBOSE | re.IGNORECASE,
)
_GIVEN = late(_END_OF_NAME + r"(?P<sign>[ \t]{1,4})" + _VALUE, re.VERBOSE | re.IGNORECASE)
_OPTION = late(r"(?:^|\s)--?(?:[A-Za-z][\w-]*)?$")

_PLACEHOLDER = late(
    r"""
    [x*.•…#_-]+ | <.*>? | \[.* | \$\{.* | \$\(.* | \$[A-Za-z_]\w* | %\w+% | %[(sd].* | \{.* | @\w+@
    | (?:your|enter|insert|example|sample|dummy|fake|change|replace|redacted|hidden|masked|required|optional|string)
      (?:[\W_].*)?
    | (?:my|the|new|old|some|any)[\W_]*(?:pass|pwd|secret|token|key|api).*
    | changeme.* | placeholder.* | pass | pa?sswo?r?d | secret | token | user(?:name)?
    | none | null | nil | true | false | undefined | unset | empty | todo | tbd | n/?a
    """,
    re.VERBOSE | re.IGNORECASE,
)
# The name of an environment variable.
_VARIABLE = late(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# Where something is, and whose; not what it is.
_ELSEWHERE = late(r"/|~/|\.{1,2}/|[A-Za-z]:\\|\w+://|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}$")
_CODE = late(r"[A-Za-z_]\w*(?:\.\w+)*[(\[]|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+$|[&*]\w")
_TERM = late(
    r"(?:sha|md|hmac|aes|rsa|utf|ecdsa|ed|x)-?\d+|bcrypt|argon2(?:id?|d)?|pbkdf2|scrypt|base(?:16|32|58|64|85)"
    r"|oauth2?|oidc|saml2?|ldap|totp|[1-9]fa|u2f|fido2|1password|k8s|s3|ec2|ipv[46]|http[s123]?|pkcs-?\d+",
    re.IGNORECASE,
)
_HASH_OR_UUID = late(
    r"(?:sha\d+[:-])?[0-9a-f]{7,64}|[0-9a-f]{128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
_SYMBOL = late(r"[!#$%^&*+=?~@|]")
_WORD = late(r"[A-Za-z]*\d{0,4}")
_MARK = late(r"\[secret: [a-z ]+\]")

# Of the name of something that holds a secret, such as db_password_v2.
_ENDINGS = (*PASSWORD_ENDINGS, *OTHER_ENDINGS)
_VERSION = "_v0123456789"

# The shortest text that holds one: an address with a password of one letter.
LEAST_TEXT = 9
LEAST_PASSWORD = 6
MOST_PASSWORD = 200
LEAST_RANDOM = 16
LEAST_RANDOM_QUOTED = 10
LEAST_REPEATED = 6


def find_secrets(text: str, *, has_beginning: bool | None = None) -> list[Secret]:
    """Every secret in the text, in its order; they do not overlap. What was masked before is none.

    Who knows whether the text has one of the beginnings need not let them be looked for.
    """
    found: list[Secret] = []
    if len(text) < LEAST_TEXT:
        return found
    if _may_have_form(text) if has_beginning is None else has_beginning:
        found += _by_form(text)
    if "://" in text and "@" in text:
        found += _in_addresses(text)
    lowered = _lowered(text)
    for name in _NAMES:
        if name.ending in lowered:
            found += _by_name(name, text, lowered)
    for scheme in SCHEMES:
        if scheme in lowered:
            found += _sent_along(scheme, text, lowered)
    return _apart(text, found) if found else found


def mark(kind: str) -> str:
    """What stands in place of a secret."""
    return f"[secret: {kind}]"


def masked(text: str) -> str:
    """The text with a mark in place of each secret."""
    return mask(text)[0]


def mask(text: str) -> tuple[str, list[str]]:
    """The masked text, and the kinds of what was masked."""
    kinds: list[str] = []
    while found := find_secrets(text):  # a mark may be what now ends a word next to it
        for secret in reversed(found):
            text = text[: secret.start] + mark(secret.kind) + text[secret.end :]
        kinds += (secret.kind for secret in found)
    return text, kinds


def redacted(value: Any) -> Any:
    """Data as JSON has it, with every text masked, and what stands under a telling name replaced whole."""
    match value:
        case str():
            return masked(value)
        case None | bool() | int() | float():  # before the others, which take longer to tell
            return value
        case dict() | Mapping():
            return _redacted_mapping(value)  # pyright: ignore[reportUnknownArgumentType]
        case list() | tuple():
            return [redacted(entry) for entry in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _redacted_mapping(values: Mapping[Any, Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in values.items():
        kind, shown = _name(key) if isinstance(key, str) else (None, key)
        while shown in made:  # two names that were secrets of one kind
            shown = f"{shown} again"
        made[shown] = redacted(value) if kind is None else _redacted_under(kind, value)
    return made


@lru_cache(maxsize=4096)  # the same few names come again and again
def _name(name: str) -> tuple[str | None, str]:
    """The kind of secret that a value of this name is, and the name without secrets in it."""
    return telling_name(name), masked(name)


def _redacted_under(kind: str, value: Any) -> Any:
    """What stands under a telling name; what is switched off or not given tells nothing."""
    match value:
        case None | bool() | "":
            return value
        case str() if _MARK.fullmatch(value):
            return value
        case int() | float() if kind != "password":
            return value
        case str() | int() | float():
            return mark(kind)
        case list() | tuple():
            return [_redacted_under(kind, entry) for entry in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return redacted(value)


def telling_name(name: str) -> str | None:
    """The kind of secret that a value of this name is; None when the name does not tell of one."""
    lowered = name.lower()
    if lowered in ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"):
        return "token"
    candidates = dict.fromkeys((lowered, _SUFFIX_AT_END.sub("", lowered)))
    for candidate in candidates:
        for telling in _NAMES:
            if candidate.endswith(telling.ending) and _tells(telling, candidate, len(candidate) - len(telling.ending)):
                return None if telling.is_weak and lowered.endswith("s") else telling.kind  # tokens are counted
    return None


# -- finding ---------------------------------------------------------------------------------------


def _lowered(text: str) -> str:
    lowered = text.lower()
    # One letter becomes two: places would not fit. Another stands for it, because no name has either.
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "\u0131").lower()


def _may_have_form(text: str) -> bool:
    """Written out, because it is asked of every text."""
    for rare, beginnings in _BY_RARE_SIGN:
        if rare in text:
            for beginning in beginnings:
                if beginning in text:
                    return True
    return False


def _by_form(text: str) -> Iterator[Secret]:
    for form in _FORMS:
        if any(map(text.__contains__, form.beginnings)):
            for match in _compiled(form.pattern).finditer(text):
                if form.holds is None or form.holds(match):
                    yield Secret(form.kind, *match.span())


def _in_addresses(text: str) -> Iterator[Secret]:
    for match in _IN_ADDRESS.finditer(text):
        value = match["value"]
        if value != match["user"] and not _PLACEHOLDER.fullmatch(value):
            yield Secret("password", *match.span("value"))


def _sent_along(scheme: str, text: str, lowered: str) -> Iterator[Secret]:
    place = lowered.find(scheme)
    while place >= 0:
        end = place + len(scheme)
        is_word = not place or not (text[place - 1].isalnum() or text[place - 1] == "_")
        if is_word and (match := _SENT_ALONG.match(text, end)) and _is_random(match["value"], LEAST_RANDOM):
            yield Secret("token", *match.span("value"))
        place = lowered.find(scheme, end)


def _by_name(name: _Name, text: str, lowered: str) -> Iterator[Secret]:
    place = lowered.find(name.ending)
    while place >= 0:
        end = place + len(name.ending)
        if _tells(name, lowered, place):
            is_option = _OPTION.search(text, max(0, place - _LONGEST_OPTION), place)
            if match := _ASSIGNED.match(text, end) or (_GIVEN.match(text, end) if is_option else None):
                yield from _assigned(name, match)
        place = lowered.find(name.ending, end)


def _tells(name: _Name, lowered: str, place: int) -> bool:
    """Whether what is before the ending makes it the name of a secret."""
    before = max(0, place - _LONGEST_BEFORE)
    if name.after is not None and not name.after.search(lowered, before, place):
        return False
    return name.not_after is None or not name.not_after.search(lowered, before, place)


def _assigned(name: _Name, match: re.Match[str]) -> Iterator[Secret]:
    value, is_quoted = match["value"], match["quote"] is not None
    if not is_quoted:
        value = value.rstrip(".,:)]}*\\")
    if name.is_password:
        holds = _is_password(value, is_prose=not is_quoted and match["sign"] in (None, ":"))
    else:
        holds = _is_key(value, is_quoted=is_quoted, is_weak=name.is_weak)
    if holds and not _names_another(value, is_quoted=is_quoted):
        start = match.start("value")
        yield Secret(name.kind, start, start + len(value))


def _names_another(value: str, *, is_quoted: bool) -> bool:
    """Whether the value is a placeholder, a place, or the name of something that holds the secret."""
    if _PLACEHOLDER.fullmatch(value) or _VARIABLE.fullmatch(value) or _ELSEWHERE.match(value):
        return True
    if is_quoted:
        return False
    return bool(_CODE.match(value)) or (value.isidentifier() and value.lower().rstrip(_VERSION).endswith(_ENDINGS))


def _is_password(value: str, *, is_prose: bool) -> bool:
    if not LEAST_PASSWORD <= len(value) <= MOST_PASSWORD or " " in value:
        return False
    if (term := _TERM.match(value)) and not value[term.end() : term.end() + 1].isalnum():
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not has_letter:
        return value.isdigit()
    if not (has_digit or _SYMBOL.search(value)):
        return False
    # In prose, "at-least-8-characters" is a rule and not a password.
    parts = re.split(r"[-_./]", value)
    return not (is_prose and len(parts) > 2 and all(map(_WORD.fullmatch, parts)))


def _is_key(value: str, *, is_quoted: bool, is_weak: bool) -> bool:
    if is_weak and _HASH_OR_UUID.fullmatch(value):
        return False
    return " " not in value and _is_random(value, LEAST_RANDOM_QUOTED if is_quoted else LEAST_RANDOM)


def _is_random(value: str, least: int) -> bool:
    """Whether nobody would make it of words and numbers."""
    if len(value) < least or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    return not all(map(_WORD.fullmatch, re.split(r"[-_./:+]", value))) or len(_SYMBOL.findall(value)) > 1


def _apart(text: str, found: Iterable[Secret]) -> list[Secret]:
    """These and where they occur again, as one where they overlap; none that is part of a mark."""
    marks = [match.span() for match in _MARK.finditer(text)]
    ends = [end for _, end in marks]

    def is_outside(one: Secret) -> bool:
        next_mark = bisect_right(ends, one.start)
        return next_mark == len(marks) or one.end <= marks[next_mark][0]

    outside = [one for one in found if is_outside(one)]
    kinds = {text[one.start : one.end]: one.kind for one in reversed(outside)}
    for value, kind in kinds.items():
        if len(value) >= LEAST_REPEATED:
            place = text.find(value)
            while place >= 0:
                outside.append(Secret(kind, place, place + len(value)))
                place = text.find(value, place + len(value))
    apart: list[Secret] = []
    for one in sorted(outside, key=lambda one: (one.start, -one.end)):
        if apart and one.start < apart[-1].end:
            last = apart.pop()
            one = Secret(last.kind, last.start, max(last.end, one.end))
        apart.append(one)
    return apart
