"""Detect keys, tokens and passwords in text, by their format or by the name next to them.

Precision comes before recall, because masked text is lost to its author: hashes, UUIDs, commit ids, base64 images,
code and prose about passwords are left alone.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrubjay.core.lazy import lazy_module
from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.core.secret_phrases import GATES, LOGIN, LOGIN_NAMES, OTHER_GATES, PHRASES

if TYPE_CHECKING:
    import base64

    from scrubjay.core import command_secrets, secret_scanner
else:
    base64 = lazy_module("base64")  # few texts need it
    command_secrets = lazy_module("scrubjay.core.command_secrets")
    secret_scanner = lazy_module("scrubjay.core.secret_scanner")


@dataclass(frozen=True, slots=True)
class Secret:
    """Kind and position of a secret in a text."""

    kind: str
    start: int
    end: int


class _Form(NamedTuple):
    """A secret format with a known prefix; `beginnings` are searched first, because that is fast.

    The secret is the group `value` of the pattern if it has one.
    """

    kind: str
    beginnings: tuple[str, ...]
    pattern: str
    holds: Callable[[re.Match[str]], bool] | None = None


# Boundaries: a secret is never part of a longer word.
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_BODY = r"[A-Za-z0-9_-]"


def _form(kind: str, beginnings: str, pattern: str, holds: Callable[[re.Match[str]], bool] | None = None) -> _Form:
    return _Form(kind, tuple(beginnings.split()), _BEFORE + pattern + _AFTER, holds)


# Compiled on first use: a pattern takes a millisecond.
_compiled = cache(re.compile)


def _is_jwt(match: re.Match[str]) -> bool:
    head = match[0].split(".", 1)[0]
    try:
        return b'"alg"' in base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:  # includes binascii.Error
        return False


def _has_digit(match: re.Match[str]) -> bool:
    return any(map(str.isdigit, match[0]))


def _has_digit_or_capital(match: re.Match[str]) -> bool:
    return any(sign.isdigit() or sign.isupper() for sign in match[0])


def _is_mixed_value(match: re.Match[str]) -> bool:
    return _MIXED.match(match["value"]) is not None


def _is_short_key(match: re.Match[str]) -> bool:
    """Return True unless the text after `sk-` is a word with a number, such as the name of a style."""
    body = match["body"]
    return not body.isdigit() and any(map(str.isdigit, body)) and not _NUMBERED_WORD.fullmatch(body)


def _is_random_value(match: re.Match[str]) -> bool:
    return _is_random(match["value"], MIN_RANDOM)


def _is_password_value(match: re.Match[str]) -> bool:
    value = match["value"]
    return _is_password(value, is_prose=False) and not _names_another(_NAMES[0], value, is_quoted=True)


def _is_key_value(match: re.Match[str]) -> bool:
    value = match["value"]
    return _is_key(value, is_quoted=True, is_weak=True) and not _names_another(_NAMES[0], value, is_quoted=True)


def _is_login(match: re.Match[str]) -> bool:
    """Return True for a user name and a password in base64."""
    try:
        user, separator, password = base64.b64decode(match["value"]).partition(b":")
    except ValueError:  # includes binascii.Error
        return False
    return bool(user and separator and password)


def _is_variable_of_image(match: re.Match[str]) -> bool:
    kind = secret_kind(match["name"])
    return _is_password_value(match) if kind == "password" else kind is not None and _is_key_value(match)


_PRIVATE_KEY = r"[A-Z ]{0,20}PRIVATE KEY(?: BLOCK)?-----"
_XML = r"<(?:[\w.:-]{{0,40}}?(?i:{}))>(?P<value>[^<>\s]{{6,200}})</"
_FORMS = (
    _Form(
        "private key",
        ("-----BEGIN ",),
        # Up to the end marker; for a truncated key, only what is certainly part of it.
        rf"-----BEGIN {_PRIVATE_KEY}(?:(?:[^-]|-(?!----))++-----END {_PRIVATE_KEY}"
        r"|(?:(?:\s|\\[rn])*+[A-Za-z-]{2,20}: [^\n\\]*+)*+"
        r"(?:(?:\s|\\[rn])*+[A-Za-z0-9+/=]{40,}+)++(?:(?:\s|\\[rn])*+[A-Za-z0-9+/]{0,64}={1,2})?)",
    ),
    _form("jwt", "eyJ", rf"eyJ{_BODY}{{8,}}+(?:\.{_BODY}{{8,}}+)(?:\.{_BODY}*+){{1,3}}", _is_jwt),
    _form("aws access key", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _form(
        "key",  # the secret that follows the id of an AWS key, whatever stands between them
        "AKIA ASIA",
        r"(?s:A(?:K|S)IA[A-Z0-9]{16}(?![A-Za-z0-9_]).{1,200}?)(?<![A-Za-z0-9+/_.=-])"
        r"(?P<value>[A-Za-z0-9+/]{40})(?![+/=-])",
        _is_mixed_value,
    ),
    _form("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _form("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _form(
        "gitlab token",
        "glpat- gldt- glrt- glptt- glcbt- gloas- glsoat- glft- glffct- glimt- glagent-",
        # A routable token has two further parts.
        rf"gl(?:pat|dt|rt|ptt|cbt|oas|soat|ft|ffct|imt|agent)-{_BODY}{{20,300}}"
        r"(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
        _has_digit,
    ),
    _form("gitlab token", "GR1348941", rf"GR1348941{_BODY}{{20,50}}", _has_digit),
    _Form(
        "password",  # the second argument of a call or pair
        ('.login("', ".login('", 'auth=("', "auth=('"),
        r"""(?:\.login|auth=)\((?P<q>["'])[^"'\n]{1,100}(?P=q),\s{0,3}(?P<p>["'])(?P<value>[^"'\s]{6,200})(?P=p)""",
        _is_password_value,
    ),
    _form("token", "_gitlab_session=", r"_gitlab_session=(?P<value>[0-9a-z]{32})"),
    _form("slack token", "xox xapp-", rf"(?:xox[abeoprs]|xapp)-(?:\d-)?{_BODY}{{12,255}}", _has_digit),
    _form(
        "slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,}",
    ),
    _form(
        "discord webhook",
        "discord.com/api/ discordapp.com/api/",
        rf"discord(?:app)?\.com/api/webhooks/\d{{15,20}}/{_BODY}{{60,80}}",
    ),
    _form("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _form("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,255}"),
    _form("google key", "AIza", rf"AIza{_BODY}{{35}}"),
    _form("google token", "ya29. GOCSPX-", rf"(?:ya29\.|GOCSPX-){_BODY}{{20,1024}}", _has_digit),
    # OpenAI's format, which others copied: sk-proj-, sk-ant-, sk-or-v1- and more.
    _form("api key", "sk-", rf"(?<!-)sk-{_BODY}{{20,255}}", _has_digit),
    _form("api key", "sk-", r"(?<![.-])sk-(?P<body>[A-Za-z0-9]{6,19})(?!-)", _is_short_key),
    _form("api key", "m0-", r"m0-[A-Za-z0-9]{30,64}", _has_digit),
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
    _form("vault token", "hvs. hvb. hvr.", rf"hv[sbr]\.{_BODY}{{20,1024}}", _has_digit_or_capital),
    _form(
        "api key", "lin_api_ ntn_ sbp_ figd_ PMAK-", rf"(?:lin_api_|ntn_|sbp_|figd_|PMAK-){_BODY}{{30,255}}", _has_digit
    ),
    _form("atlassian token", "ATATT3", rf"ATATT3{_BODY}{{30,255}}"),
    _form("grafana token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9_+/=]{32,255}", _has_digit),
    _form("docker token", "dckr_", rf"dckr_[po]at_{_BODY}{{20,255}}"),
    _form("new relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}", _has_digit),
    _form("doppler token", "dp.", r"dp\.(?:pt|st|sa|ct)\.(?:[a-z_]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _form("tailscale key", "tskey-", rf"tskey-[a-z]{{3,10}}-{_BODY}{{20,255}}", _has_digit),
    _form("square token", "sq0atp- sq0csp-", rf"sq0(?:atp|csp)-{_BODY}{{22,60}}"),
    _form("rubygems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _form("nvidia key", "nvapi-", rf"nvapi-{_BODY}{{40,255}}", _has_digit),
    _form("artifactory key", "AKCp", r"AKCp[58][A-Za-z0-9]{60,80}"),
    _form("notion token", "secret_", r"secret_[A-Za-z0-9]{43}", _has_digit),
    _form("onepassword token", "ops_eyJ", rf"ops_eyJ{_BODY}{{50,4096}}"),
    _form("google token", "1//0", rf"1//0{_BODY}{{40,255}}", _has_digit),
    _form("cloudflare key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    _form("telegram token", ":AA", rf"\d{{8,10}}:AA{_BODY}{{33}}"),
    # Prefixes and lengths as documented by the providers and by the public rules of gitleaks.
    _form("adobe secret", "p8e-", r"p8e-[A-Za-z0-9]{32}", _has_digit),
    _form("heroku key", "HRKU-", rf"HRKU-AA{_BODY}{{40,70}}"),
    _form("pulumi token", "pul-", r"pul-[a-f0-9]{40}"),
    _form("brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _form("infracost key", "ico-", r"ico-[A-Za-z0-9]{32}", _has_digit),
    _form("frame.io token", "fio-u-", rf"fio-u-{_BODY}{{60,70}}"),
    _form("flutterwave key", "FLWSECK- FLWSECK_TEST-", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{32}-X", _has_digit),
    _form("sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,512}"),
    _form("planetscale token", "pscale_", r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}"),
    _form("prefect key", "pnu_", r"pnu_[A-Za-z0-9]{36}", _has_digit),
    _form("readme key", "rdme_", r"rdme_[a-z0-9]{60,80}"),
    _form("sourcegraph token", "sgp_", r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    _form("sonar token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    _form("shippo token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    _form("fly token", "fo1_ fm1a_ fm1r_ fm2_", r"(?:fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,4096}={0,3})"),
    _form("duffel token", "duffel_", rf"duffel_(?:test|live)_{_BODY}{{43}}"),
    _form("typeform token", "tfp_", r"tfp_[\w.=-]{44,70}", _has_digit),
    _form("clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    _form("dynatrace token", "dt0c01.", r"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    _form("terraform token", ".atlasv1.", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_BODY}{{60,70}}"),
    _form("bedrock key", "ABSK", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}"),
    _form("openshift token", "sha256~", rf"sha256~{_BODY}{{43}}"),
    _form("onepassword key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    _form("maxmind key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _form("age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,255}"),
    _Form(
        "private key",  # of PuTTY
        ("Private-Lines: ",),
        r"Private-Lines: \d{1,3}(?P<value>(?:(?:\s|\\[rn])*+[A-Za-z0-9+/]{20,}={0,2})++)",
    ),
    _Form(
        "secret",
        ("7Q~", "8Q~"),  # of an application in Azure
        r"(?<![\w.~-])[\w.~-]{3}[78]Q~[\w.~-]{31,34}(?![\w.~-])",
    ),
    _Form("key", ("sig=",), r"[?&;]sig=(?P<value>[A-Za-z0-9%+/]{40,100}={0,2})", _has_digit),
    _Form(
        "token",
        ("uthorization",),
        r"""(?i:authorization)["']?\s{0,3}(?:[:=]|=>)\s{0,3}["'`]?"""
        r"""(?:(?!(?i:bearer|basic)\b)[A-Za-z][\w-]{1,20}[ ]{1,4})?"""
        r"""(?P<value>[A-Za-z0-9._~+/-]{16,4096}={0,2})(?![\w(\[=])""",
        _is_random_value,
    ),
    _Form(
        "token",
        ("ookie: ",),
        r"(?i:cookie): [^\n]{0,500}?(?i:sess(?:ion)?(?:[_-]?id)?|sid|auth|token|jwt)="
        r"(?P<value>[A-Za-z0-9._~+/%-]{16,4096}={0,2})",
        _is_random_value,
    ),
    _Form(
        "password", ("assword>", "asswd>", "assphrase>"), _XML.format(r"password|passwd|passphrase"), _is_password_value
    ),
    _Form(
        "key", ("ecret>", "oken>", "pi-key>", "piKey>", "pikey>"), _XML.format("secret|token|api-?key"), _is_key_value
    ),
    _Form(
        "password", ('assword" value="',), r"""(?i:password)" value="(?P<value>[^"\s<>]{6,200})\"""", _is_password_value
    ),
    _Form(
        "password",  # of .netrc
        ("machine ",),
        r"\bmachine\s+(?:localhost|[\w-]{1,60}(?:\.[\w-]{1,60}){1,10})(?::\d{1,5})?\s+login\s+\S{1,200}\s+password\s+(?P<value>[^\s\[<$]\S{0,199})",
    ),
    _Form(
        "password", ("jdbc:oracle:",), r"jdbc:oracle:[a-z0-9]{2,5}:[\w$#]{1,60}/(?P<value>[^@/\s\"'\[<${]{1,128})(?=@)"
    ),
    _Form(
        "token",
        ("_auth=", "_auth ="),
        r"(?:^|[:\s])_auth ?=\s{0,3}\"?(?P<value>[A-Za-z0-9+/]{12,256}={0,2})",
        _is_login,
    ),
    _Form(
        "secret",  # of a Dockerfile
        ("ENV ",),
        r"(?m:^)[ \t]*ENV[ \t]+(?P<name>\w{1,100})[ \t]+(?P<value>[^\s\"'\[<$]{6,200})[ \t]*(?m:$)",
        _is_variable_of_image,
    ),
)
BEGINNINGS = tuple(dict.fromkeys(beginning for form in _FORMS for beginning in form.beginnings))
"""A text without any of these contains no secret with a known format."""
WITHIN_WORDS = frozenset(
    [
        *(beginning for form in _FORMS if not form.pattern.startswith(_BEFORE) for beginning in form.beginnings),
        *(":AA", ".atlasv1.", "_mmk"),
    ]
)
"""Beginnings that may follow any character. All others must not follow a letter, digit or underscore."""


SHORT_BEGINNING = "sk-"
"""Six characters after this one can be a secret, twelve after all others."""


class _Gate(NamedTuple):
    """Beginnings that contain a sign; a text without the sign has none of them."""

    sign: str
    beginnings: tuple[str, ...]
    run: re.Pattern[str] | None = None
    """Secrets with other beginnings match this: few texts have a run of key characters after the sign."""
    before_run: tuple[str, ...] = ()


_RUNS = {
    "A": lazy_pattern("A(?:[SB]IA|CCA|KIA|Iza|TATT3|KCp|BSK)"),
    "-": lazy_pattern(r"-[\w-]{15}"),
    "_": lazy_pattern(r"_[\w+/=.-]{15}"),
    ".": lazy_pattern(r"\.[\w-]{15}"),
}
_WITHOUT_RUN = frozenset({"-----BEGIN ", "xapp-", "sk-"})
_SIGNS = ("</", "/", ":", "~", "(", "=", "-", "_", ".", "A")


def _gates() -> Iterator[_Gate]:
    signs = {beginning: next((sign for sign in _SIGNS if sign in beginning), "") for beginning in BEGINNINGS}
    signs |= {beginning: "</" for beginning in BEGINNINGS if beginning.endswith(">")}  # the end tag follows
    for sign in ("", *_SIGNS):
        own = [beginning for beginning in BEGINNINGS if signs[beginning] == sign]
        has_run = sign in _RUNS
        yield _Gate(
            sign,
            tuple(beginning for beginning in own if not has_run or beginning in _WITHOUT_RUN),
            _RUNS.get(sign),
            tuple(beginning for beginning in own if has_run and beginning not in _WITHOUT_RUN),
        )


_GATES = (*_gates(),)

# The password of a URL such as postgres://ada:PASSWORD@host/db; it ends at the last @.
_IN_ADDRESS = lazy_pattern(r"""://(?P<user>[^\s/@:"'<>]{0,256}):(?P<value>[^\s/"'<>]{1,256})(?=@[\w\[])""")
# The key in the address of a Sentry project.
_DSN = lazy_pattern(r"://(?P<value>[0-9a-f]{32})(?::[0-9a-f]{32})?@[\w.-]{1,200}(?::\d{1,5})?/[\w/-]{0,100}\d")
_SENT_ALONG = lazy_pattern(r"\s{1,4}(?P<value>[A-Za-z0-9._~+/-]{16,4096}={0,2})")


class _Name(NamedTuple):
    """The ending of a name that marks its value as a secret, and conditions on the text before the ending.

    For a weak name, hashes and UUIDs are not secrets.
    """

    kind: str
    ending: str
    after: re.Pattern[str] | None = None
    not_after: re.Pattern[str] | None = None
    is_password: bool = False
    is_weak: bool = False


# Pagination tokens and language model tokens, which are not secret.
_HARMLESS_TOKENS = lazy_pattern(
    r"(?:next|prev|previous|page|paging|cursor|continuation|sync|resume|csrf|xsrf|design|stop|start|pad|eos|bos|unk|sep"
    r"|cls|mask|special|input|output|max|min|first|last|per)[ _-]?$"
)
_OPENING_KEYS = lazy_pattern(r"(?:api|access|secret|private|account|auth|encryption|signing|license)[ _-]?$")
_OPENING_TOKENS = lazy_pattern(r"(?:access|auth|api|refresh|bearer|bot|deploy)[ _-]?$")
_NAMES = (
    *(_Name("password", name, is_password=True) for name in ("password", "passwd", "passphrase", "passcode", "pwd")),
    _Name("secret", "secret"),
    _Name("secret", "credential"),
    _Name("token", "token", after=_OPENING_TOKENS),
    _Name("token", "token", not_after=_HARMLESS_TOKENS, is_weak=True),
    _Name("key", "key", after=_OPENING_KEYS),
)
# `pass` marks a password only in some forms: it is also a keyword, a verb and the step of a computation.
_PASS = _Name("password", "pass", is_password=True)
_NAMES_BY_GATE = tuple(
    (gate, tuple(name for name in _NAMES if gate in name.ending))
    for gate in ("pass", "pwd", "secret", "credential", "token", "key")
)
PASSWORD_ENDINGS = (*(name.ending for name in _NAMES if name.is_password), _PASS.ending)
OTHER_ENDINGS = tuple(dict.fromkeys(name.ending for name in _NAMES if not name.is_password))
"""Endings of the other names that mark a secret."""
SCHEMES = ("bearer", "basic")
"""HTTP authentication schemes; the credential follows."""
# Maximum number of characters examined before the ending of a name.
_MAX_NAME_PREFIX = 20
_MAX_OPTION = 40
# Maximum number of characters examined after the name in a phrase, without the end of the value.
_MAX_PHRASE = 320
# From the end of the name to the end of the value. Between them is an assignment in code, configuration or prose, or
# only space, which counts for the options of commands.
_SUFFIX = r"(?:s|_?\d{1,2}|[_-](?:prod|production|dev|test|staging|live|main|value|base64|b64))"
_SUFFIX_AT_END = lazy_pattern(_SUFFIX + "$")
_END_OF_NAME = rf"{_SUFFIX}?(?![^\W是为為]|-)"  # Chinese has no space before a verb
_VALUE = r"""
    (?:(?:\(|\\\r?\n)\s{0,80}(?=["'`]))?                             # on a line of its own
    (?:![\w:/-]{5,40}[ \t]{1,4}(?=["']))?                            # a tag of YAML
    (?:\*\*|\\?(?P<quote>\"{3}|'{3}|["'`]))?
    (?P<value>(?(quote)[^\n]{1,4096}?(?=\\?(?P=quote))|[^\s"'`,;<>“”„«»，。；、！？]{1,4096}))
"""
_ASSIGNED = lazy_pattern(
    _END_OF_NAME
    + r"""
    \\?["'`\])*]{0,3}
    (?:\s{0,3}:\s{0,3}[A-Za-z_][\w.\[\], |]{0,40}?(?=\s{0,3}=))?     # a type
    (?:
        (?:[ \t]{1,3}\([^()\n]{1,40}\))?\s{0,8}(?P<sign>:=|=>|={1,3}|[:：])\*{0,2}\s{0,8}
      | (?:\s{1,3}(?:for|of|on|in|to|at)(?:\s{1,3}[\w.'@-]{1,40}){1,5}?)?
        (?:\s{1,3}(?:is|was|to|ist|lautet|est|es)
        (?:\s{1,3}(?:now|set|reset|changed|updated)){0,2}(?:\s{1,3}to)?(?::\s{0,3}|\s{1,3})|[ \t]{0,2}:[ \t]{1,3})
      | \s{0,3}[是为為][ \t]{0,3}[:：]?\s{0,3}
    )
    """
    + _VALUE,
    re.VERBOSE | re.IGNORECASE,
)
_GIVEN = lazy_pattern(_END_OF_NAME + r"(?P<sign>[ \t]{1,4})" + _VALUE, re.VERBOSE | re.IGNORECASE)
_OPTION = lazy_pattern(r"(?:^|\s)--?(?:[A-Za-z][\w-]*)?$")

# The field after the name in a list of variables: `name: DB_PASSWORD`, then `value: …`.
_VALUE_FIELD = lazy_pattern(
    r"""["']?(?P<sign>,?)\s{1,60}[-+]?[ \t]{0,40}["']?value["']?[ \t]{0,2}:[ \t]{1,4}(?P<quote>["'])"""
    r"""(?P<value>[^\s"'<>]{1,4096})(?=(?P=quote))"""
)
# The next parameter of a URL.
_NEXT_FIELD = lazy_pattern(r"&(?:amp;)?[A-Za-z_][\w.-]{0,60}=")
# What may follow an unquoted value.
_AFTER_VALUE = ".,:)]}*\\"
_SPACES = (" ", "\t")
# What may follow a name: a suffix, quotes and brackets, or a sign.
_AFTER_NAME = frozenset("s_-\\\"'`])*:=(：是为為")
# `password: |` of YAML; the value is a line of its own, perhaps of a diff.
_BLOCK = lazy_pattern(
    _END_OF_NAME
    + r"""["']?(?P<quote>(?!))?[ \t]{0,3}(?P<sign>:)[ \t]{1,8}[|>][-+\d]{0,2}[ \t]{0,8}\r?\n[-+]?[ \t]{1,40}"""
    r"""(?P<value>[^\s"'`<>]{1,4096})(?=[ \t]{0,8}(?:\r?\n|$))""",
    re.IGNORECASE,
)
_SETTERS = ("set", "set_", "with", "with_", ".")
_ARGUMENT = lazy_pattern(r"""(?P<sign>\()\s{0,3}(?P<quote>["'`])(?P<value>[^\n]{1,4096}?)(?=(?P=quote)\s{0,3}\))""")
# In a sentence: "with password X", and "the password from X to Y".
_NEXT = lazy_pattern(r"""[ \t]{1,3}[`"'“„]?(?P<value>[^\s"'`“”„,;<>]{6,64})(?=[\s"'`“”„,;]|$)""")
_CHANGED = lazy_pattern(
    r"""[ \t]{1,3}from[ \t]{1,3}[`"'“„]?(?P<old>[^\s"'`“”„,;<>]{6,64})[`"'“”]?[ \t]{1,3}to[ \t]{1,3}"""
    r"""[`"'“„]?(?P<new>[^\s"'`“”„,;<>]{6,64})"""
)

# Before `pass`: what has a password, and counted passes.
_OWNER_OF_PASS = lazy_pattern(
    r"(?:^|[_-]|(?<=[a-z])(?=[A-Z]))(?:db|database|user|admin|root|mysql|mariadb|pg|postgres|sql|smtp|imap|e?mail|s?ftp"
    r"|ssh|sudo|redis|mongo|rabbitmq|amqp|mqtt|ldap|wifi|proxy|auth|login|http|registry|store|key|svn|vnc|rdp|smb"
    r"|account|client|become|vault|basic|default)[_-]?$",
    re.IGNORECASE,
)
_COUNT_OF_PASS = lazy_pattern(r"(?:^|_)(?:MAX|MIN|NUM|TOTAL|FIRST|SECOND|LAST|NEXT|SINGLE|MULTI|CURRENT)_$")
_NAME_BEFORE = lazy_pattern(r"[\w-]*$")
_USER_BEFORE = lazy_pattern(
    r"""(?:user(?:[_-]?name)?|uid|login|account)["']?\s{0,3}[=:]\s{0,3}[^\n]{0,60}$""", re.IGNORECASE
)
_VERSION_NUMBER = lazy_pattern(r"v?\d+(?:\.\w+)+")

_PLACEHOLDER = lazy_pattern(
    r"""
    [x*.•…#_-]+ | <.*>? | \[.* | \$\{.* | \$\(.* | \$[A-Za-z_]\w* | %\w+% | %[(sd].* | \{.* | @\w+@
    | (?:your|enter|insert|example|sample|dummy|fake|change|replace|redacted|hidden|masked|required|optional|string)
      (?:[\W_].*)?
    | (?:my|the|new|old|some|any)[\W_]*(?:pass|pwd|secret|token|key|api).*
    | changeme.* | placeholder.* | pass | pa?sswo?r?d | secret | token | user(?:name)?
    | !(?:vault|secret|ref|env|sub|include|reference)\b.*
    | none | null | nil | true | false | undefined | unset | empty | todo | tbd | n/?a
    """,
    re.VERBOSE | re.IGNORECASE,
)
# The name of an environment variable.
_VARIABLE = lazy_pattern(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# A reference to where the value is stored.
_ELSEWHERE = lazy_pattern(
    r"/|~/|(?:npm|workspace|file|link|patch):|\.{1,2}/|[A-Za-z]:\\|\w+://|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}$"
)
_CODE = lazy_pattern(
    r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*[(\[]|\$\w+(?:-|\[|::)|[A-Za-z_][\w.]*\)\.|\)[|(]"
    r"|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+$|[&*]\w"
)
_TERM = lazy_pattern(
    r"(?:sha|md|hmac|aes|rsa|utf|ecdsa|ed|x|rs|hs|es|uuidv)-?\d+|[ei]\d{1,2}[en]|a11y|[bp]2[bcp]|bcrypt|argon2(?:id?|d)?|pbkdf2|scrypt|base(?:16|32|58|64|85)"
    r"|oauth2?|oidc|saml2?|ldap|totp|[1-9]fa|u2f|fido2|1password|k8s|s3|ec2|ipv[46]|http[s123]?|pkcs-?\d+",
    re.IGNORECASE,
)
_HASH_OR_UUID = lazy_pattern(
    r"(?:sha\d+[:-])?[0-9a-f]{7,64}|[0-9a-f]{128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
_CLASS_NAME = lazy_pattern(r"[A-Z]{0,6}\d{0,3}(?:[A-Z][a-z]{2,}){2,}\d{0,3}")
# A number with a unit, a range, a version, the id of an issue.
_PLAIN_VALUE = lazy_pattern(r"\d+(?:[.,:x/-]\d+)*(?:-?[^\W\d_]{1,12})?%?|[A-Z]{2,8}-\d+|v?\d+(?:\.\w+)+")
_RULE = lazy_pattern(r"min|max|least|most|char|letter|digit|zeichen|caract|bits?$|words?$", re.IGNORECASE)
_MIXED = lazy_pattern(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)")
_NUMBERED_WORD = lazy_pattern(r"[a-z]{4,}\d{0,2}")
_CODE_SIGN = lazy_pattern(r"[=(\[{}\\/]|://|\.\w{1,4}$")
_WEAK_CONNECTORS = frozenset({"auf", "en", "a", "por"})
_WEAK_PHRASES = frozenset({"clave", "pw", "口令"})
_SYMBOL = lazy_pattern(r"[!#$%^&*+=?~@|]")
_WORD = lazy_pattern(r"[A-Za-z]*\d{0,4}")
MARK = lazy_pattern(r"\[secret: [a-z ]+\]")
"""A replaced secret."""

# Parts of variable names such as db_password_v2.
_PASSWORD_NAMES = tuple(name.ending for name in _NAMES if name.is_password)
_ENDINGS = (*_PASSWORD_NAMES, *OTHER_ENDINGS)
_VERSION = "_v0123456789"
# A longer one without underscores is random.
_MAX_VARIABLE = 32

# The shortest text with a secret: a URL with a password of one letter.
MIN_TEXT = 9
MIN_PASSWORD = 6
MAX_PASSWORD = 200
MIN_RANDOM = 16
MIN_RANDOM_QUOTED = 10
MIN_REPEATED = 6


# Kinds of secrets, as bits that the C accelerator also uses.
BY_FORM: Final = 1
"""Secrets with a form that starts a word."""
BY_NAME: Final = 2
"""Secrets recognizable by the words before them."""
BY_OTHER_FORM: Final = 4
"""Secrets with another form: a beginning of `WITHIN_WORDS`."""


def find_secrets(text: str, *, kinds: int | None = None) -> list[Secret]:
    """Return the secrets in the text, in order and without overlaps; masked values are ignored.

    Pass the kinds of secrets that it may contain when they are known, to skip that search.
    """
    if len(text) < MIN_TEXT:
        return []
    if kinds is None and (kinds := _possible_kinds(text)) == 0:
        return []
    found: list[Secret] = []
    if kinds is None:
        kinds = BY_NAME | BY_FORM | BY_OTHER_FORM if _may_have_form(text) else BY_NAME
    if kinds & (BY_FORM | BY_OTHER_FORM):
        found += _by_form(text, kinds)
    if kinds & BY_NAME:
        found += _by_words(text)
    return merge(text, found) if found else found


# A process that checks this many texts is a server, and loads the accelerator; hooks are short-lived and do not.
_TEXTS_BEFORE_LOADING = 100
_texts = count()


def _possible_kinds(text: str) -> int | None:
    """Return the kinds of secrets that the text may contain; None when that is not known."""
    if next(_texts) < _TEXTS_BEFORE_LOADING or (scan := secret_scanner.native_scanner()) is None:
        return None
    try:
        return scan(text.encode())
    except UnicodeEncodeError:  # a half of a surrogate pair
        return None


_GATES_OF_PASS = tuple(gate for gate in GATES if _PASS.ending in gate)
_OTHER_GATES = tuple(gate for gate in GATES if _PASS.ending not in gate)


def _by_words(text: str) -> list[Secret]:
    """Return the secrets that are recognizable by the words before them."""
    found: list[Secret] = []
    if "://" in text and "@" in text:
        found += _in_addresses(text)
    lowered = _lowered(text)
    has = lowered.__contains__
    for gate, names in _NAMES_BY_GATE:
        if gate in lowered:
            for name in names:
                if name.ending in lowered:
                    found += _by_name(name, text, lowered)
    if _PASS.ending in lowered:
        found += _by_pass(text, lowered)
    for scheme in SCHEMES:
        if scheme in lowered:
            found += _sent_along(scheme, text, lowered)
    if (
        any(map(has, _OTHER_GATES))
        or (_PASS.ending in lowered and any(map(has, _GATES_OF_PASS)))
        or (not text.isascii() and any(map(has, OTHER_GATES)))
    ):
        found += _by_phrase(text, lowered)
    if " / " in text and any(map(has, LOGIN_NAMES)):
        found += _by_login(text, lowered)
    return found


def mark(kind: str) -> str:
    """Return the text that replaces a secret."""
    return f"[secret: {kind}]"


def masked(text: str) -> str:
    """Return the text with every secret replaced."""
    return mask(text)[0]


def mask(text: str) -> tuple[str, list[str]]:
    """Return the masked text and the kinds of the masked secrets."""
    kinds: list[str] = []
    while found := find_secrets(text):  # a replacement may end a word next to it and so reveal another secret
        for secret in reversed(found):
            text = text[: secret.start] + mark(secret.kind) + text[secret.end :]
        kinds += (secret.kind for secret in found)
    return text, kinds


# Names of values that are commands: a text, or a list of arguments. As in the permission rules.
_COMMAND_NAMES = frozenset({"command", "cmd", "script"})


def redacted(value: Any) -> Any:
    """Return JSON data with every text masked, and values under names such as `password` replaced.

    Values under names such as `command` are masked as commands.
    """
    match value:
        case str():
            return masked(value)
        case None | bool() | int() | float():  # first, because the other checks are slower
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
        while shown in made:  # two keys that were secrets of the same kind
            shown = f"{shown} again"
        if kind is not None:
            made[shown] = _redacted_under(kind, value)
        elif key in _COMMAND_NAMES:
            made[shown] = _redacted_command(value)
        elif key == _PASS.ending and isinstance(value, str) and _is_value_of_pass(value):
            made[shown] = _redacted_under(_PASS.kind, value)
        else:
            made[shown] = redacted(value)
    return made


def _redacted_command(value: Any) -> Any:
    if isinstance(value, str):
        return command_secrets.masked_command(value)
    if isinstance(value, list | tuple) and all(isinstance(word, str) for word in value):  # pyright: ignore[reportUnknownVariableType]
        return command_secrets.masked_arguments(value)  # pyright: ignore[reportUnknownArgumentType]
    return redacted(value)


@lru_cache(maxsize=4096)  # the same few names recur
def _name(name: str) -> tuple[str | None, str]:
    """Return the kind of secret that the name marks, and the name with secrets masked."""
    return secret_kind(name), masked(name)


def _redacted_under(kind: str, value: Any) -> Any:
    """Redact a value whose name marks a secret; None, booleans and empty texts stay."""
    match value:
        case None | bool() | "":
            return value
        case str() if MARK.fullmatch(value):
            return value
        case int() | float() if kind != "password":
            return value
        case str() | int() | float():
            return mark(kind)
        case list() | tuple():
            return [_redacted_under(kind, entry) for entry in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return redacted(value)


def secret_kind(name: str) -> str | None:
    """Return the kind of secret that a value of this name is; None when the name marks none."""
    lowered = name.lower()
    if lowered in ("authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"):
        return "token"
    candidates = dict.fromkeys((lowered, _SUFFIX_AT_END.sub("", lowered)))
    for candidate in candidates:
        for marker in _NAMES:
            if candidate.endswith(marker.ending) and _marks_secret(
                marker, candidate, len(candidate) - len(marker.ending)
            ):
                return None if marker.is_weak and lowered.endswith("s") else marker.kind  # tokens are counted
    if lowered.endswith(_PASS.ending) and _has_owner(name[: -len(_PASS.ending)]):
        return _PASS.kind
    return None


# -- finding ---------------------------------------------------------------------------------------


def _lowered(text: str) -> str:
    lowered = text.lower()
    # Lowercasing \u0130 yields two characters and would shift positions; no name contains it or its stand-in.
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "\u0131").lower()


def _may_have_form(text: str) -> bool:
    """Return True when a beginning occurs, unless no secret can follow it. This runs for every text."""
    has = text.__contains__
    for sign, beginnings, run, before_run in _GATES:
        if sign in text and (
            any(map(has, beginnings)) or (run is not None and run.search(text) and any(map(has, before_run)))
        ):
            return True
    return False


def _beginnings_in(text: str, kinds: int) -> set[str]:
    """Return the beginnings in the text that a secret of these kinds may follow."""
    has = text.__contains__
    if not kinds & BY_FORM:
        return set(filter(has, WITHIN_WORDS))
    present: set[str] = set()
    for sign, beginnings, run, before_run in _GATES:
        if sign in text:
            present.update(filter(has, beginnings))
            if run is not None and run.search(text):
                present.update(filter(has, before_run))
    return present


def _by_form(text: str, kinds: int) -> Iterator[Secret]:
    present = _beginnings_in(text, kinds)
    for form in _FORMS:
        if not present.isdisjoint(form.beginnings):
            for match in _matches(form, text):
                if form.holds is None or form.holds(match):
                    yield Secret(form.kind, *match.span("value" if "value" in match.re.groupindex else 0))


def _matches(form: _Form, text: str) -> Iterator[re.Match[str]]:
    pattern = _compiled(form.pattern)
    if not WITHIN_WORDS.isdisjoint(form.beginnings):
        yield from pattern.finditer(text)
        return
    for beginning in form.beginnings:  # the pattern starts with one: it is faster to find these
        place = text.find(beginning)
        while place >= 0:
            if match := pattern.match(text, place):
                yield match
            place = text.find(beginning, match.end() if match else place + 1)


def _in_addresses(text: str) -> Iterator[Secret]:
    for match in _IN_ADDRESS.finditer(text):
        value = match["value"]
        if value != match["user"] and not _PLACEHOLDER.fullmatch(value):
            yield Secret("password", *match.span("value"))
    for match in _DSN.finditer(text):
        yield Secret("key", *match.span("value"))


def _sent_along(scheme: str, text: str, lowered: str) -> Iterator[Secret]:
    place = lowered.find(scheme)
    while place >= 0:
        end = place + len(scheme)
        is_word = not place or not (text[place - 1].isalnum() or text[place - 1] == "_")
        if is_word and (match := _SENT_ALONG.match(text, end)) and _is_random(match["value"], MIN_RANDOM):
            yield Secret("token", *match.span("value"))
        place = lowered.find(scheme, end)


def _by_name(name: _Name, text: str, lowered: str) -> Iterator[Secret]:
    place = lowered.find(name.ending)
    while place >= 0:
        end = place + len(name.ending)
        after = lowered[end : end + 1]
        if after in _AFTER_NAME or after.isspace() or after.isdigit():
            is_spaced = after in _SPACES
            match = _ASSIGNED.match(text, end)
            if (match is None or match["value"][0] == "|") and not is_spaced:
                match = _BLOCK.match(text, end) or _VALUE_FIELD.match(text, end)
            # Only options, and passwords in sentences, are followed by space alone.
            may_hold = match or after == "(" or (is_spaced and (name.is_password or _is_after_hyphen(text, place)))
            if may_hold and _marks_secret(name, lowered, place) and not _is_in_mark(text, place):
                if match is not None:
                    yield from _assigned(name, match)
                elif after == "(":
                    yield from _passed(name, text, lowered, place)
                else:
                    yield from _following(name, text, place)
        place = lowered.find(name.ending, end)


def _is_after_hyphen(text: str, place: int) -> bool:
    return "-" in text[max(0, place - _MAX_OPTION) : place]


def _passed(name: _Name, text: str, lowered: str, place: int) -> Iterator[Secret]:
    """Yield the literal argument of a function such as `setPassword`."""
    if lowered.endswith(_SETTERS, max(0, place - _MAX_OPTION), place) and (
        match := _ARGUMENT.match(text, place + len(name.ending))
    ):
        yield from _assigned(name, match)


def _following(name: _Name, text: str, place: int) -> Iterator[Secret]:
    """Yield the value after a name and space: of an option, or in a sentence."""
    end = place + len(name.ending)
    if _OPTION.search(text, max(0, place - _MAX_OPTION), place):
        if match := _GIVEN.match(text, end):
            yield from _assigned(name, match)
    elif not name.is_password:
        return
    elif match := _CHANGED.match(text, end):
        for group in ("old", "new"):
            value = match[group].rstrip(_AFTER_VALUE)
            if _is_phrase_value(value) and (_MIXED.match(value) or not _is_words(value)):
                yield Secret(name.kind, match.start(group), match.start(group) + len(value))
    elif match := _NEXT.match(text, end):
        value = match["value"].rstrip(_AFTER_VALUE)
        if _is_striking(value):
            yield Secret(name.kind, match.start("value"), match.start("value") + len(value))


def _is_in_mark(text: str, place: int) -> bool:
    """Return True for a name that is part of a replaced secret: `[secret: token]`."""
    start = text.rfind("[", max(0, place - _MAX_NAME_PREFIX), place)
    return start >= 0 and (found := MARK.match(text, start)) is not None and place < found.end()


def _by_pass(text: str, lowered: str) -> Iterator[Secret]:
    place = lowered.find(_PASS.ending)
    while place >= 0:
        end = place + len(_PASS.ending)
        is_name = not text[end : end + 1].isalpha()
        if is_name and (match := _ASSIGNED.match(text, end)) and _is_pass(text, place, match):
            yield from _assigned(_PASS, match)
        place = lowered.find(_PASS.ending, end)


def _is_pass(text: str, place: int, match: re.Match[str]) -> bool:
    """Return True when the `pass` at this place is, or ends, the name of a password."""
    if match["sign"] not in ("=", ":", ":=", "=>"):
        return False
    before = _NAME_BEFORE.search(text, max(0, place - _MAX_OPTION), place)
    if before is not None and before[0]:
        return _has_owner(before[0]) and not match["value"].rstrip(";,").isdigit()
    if _USER_BEFORE.search(text, max(0, place - 2 * _MAX_OPTION), place):
        return True
    # A variable of code has spaces around the sign.
    is_tight = match["quote"] is not None or match["sign"] != "=" or not match.group().startswith((" ", "\t"))
    return is_tight and _is_value_of_pass(match["value"].rstrip(".,:;)]}*\\"))


def _by_phrase(text: str, lowered: str) -> Iterator[Secret]:
    for gates, phrase in PHRASES:
        for gate in gates:
            place = lowered.find(gate)
            while place >= 0:
                if match := _phrase_at(phrase, lowered, place):
                    start = match.start("value")
                    value = text[start : match.end("value")].rstrip(_AFTER_VALUE)
                    if kind := _kind_of_phrase(match, value):
                        yield Secret(kind, start, start + len(value))
                place = lowered.find(gate, place + len(gate))


def _phrase_at(phrase: re.Pattern[str], lowered: str, place: int) -> re.Match[str] | None:
    """Return the phrase whose name contains this place. To search only around the names is faster than everywhere."""
    near = phrase.search(lowered, max(0, place - _MAX_NAME_PREFIX), place + _MAX_PHRASE)
    return phrase.match(lowered, near.start()) if near else None


def _by_login(text: str, lowered: str) -> Iterator[Secret]:
    for match in LOGIN.finditer(lowered):
        start = match.start("value")
        value = text[start : match.end("value")].rstrip(_AFTER_VALUE)
        if _is_phrase_value(value) and not _is_words(value):
            yield Secret("password", start, start + len(value))


def _kind_of_phrase(match: re.Match[str], value: str) -> str | None:
    """Return the kind of secret that the value of a phrase is; None if it is none."""
    which = match.lastgroup and match.groupdict()
    if not which or "[secret: " in value:
        return None
    is_said = any(which.get(group) is not None for group in ("said", "sign", "other"))
    if which.get("key") is not None:
        return (
            "key" if is_said and _is_key(value, is_quoted=False, is_weak=False) and not names_another(value) else None
        )
    if which.get("passphrase") is not None:
        return "password" if is_said and _is_passphrase(value) else None
    if not is_said:
        return "password" if _is_striking(value) else None
    is_weak = which.get("other") is not None or (which["said"] or "").strip() in _WEAK_CONNECTORS
    if is_weak and _is_words(value):
        return None
    name = which["password"]
    if name in _WEAK_PHRASES and not _is_telling(value, which["sign"]):
        return None
    return "password" if _is_phrase_value(value) else None


def _is_telling(value: str, sign: str | None) -> bool:
    """Return True for the value of a name that can also mean something else: `pw`, `clave`."""
    digits = sum(map(str.isdigit, value))
    if not _is_words(value):
        return digits > 0
    return digits > 1 and value.isalnum() and ":" in (sign or "")


def _is_phrase_value(value: str) -> bool:
    """Return True for a password in a sentence."""
    if _PLAIN_VALUE.fullmatch(value) and not value.isdigit():
        return False
    return _is_password(value, is_prose=True) and not names_another(value)


def _is_passphrase(value: str) -> bool:
    """Return True for words with a number that are not a rule such as `at-least-8-characters`."""
    if not any(map(str.isdigit, value)) or _RULE.search(value) or _PLAIN_VALUE.fullmatch(value):
        return False
    return _is_password(value, is_prose=False) and not names_another(value)


def _is_striking(value: str) -> bool:
    """Return True for a value that is a password without a sign or verb before it: it has characters of all classes."""
    return (
        _MIXED.match(value) is not None
        and not value.isalnum()
        and not _is_words(value)
        and not _CODE_SIGN.search(value)
        and _is_phrase_value(value)
    )


def _is_words(value: str) -> bool:
    """Return True for words that may end in numbers."""
    return all(map(_WORD.fullmatch, re.split(r"[-_./]", value)))


def _has_owner(before: str) -> bool:
    """Return True when the text before `pass` says whose password it is, or makes it a constant such as `X_PASS`."""
    if _OWNER_OF_PASS.search(before):
        return True
    return before.endswith("_") and before.isupper() and not _COUNT_OF_PASS.search(before)


def _is_value_of_pass(value: str) -> bool:
    """Return True for a password that resembles neither words and numbers nor a version."""
    words = re.split(r"[-_./:+,]", value)
    is_word = all(part.isdigit() or _WORD.fullmatch(part) for part in words) or _VERSION_NUMBER.fullmatch(value)
    return not is_word and _is_password(value, is_prose=True)


def _marks_secret(name: _Name, lowered: str, place: int) -> bool:
    """Return True when the text before the ending makes it the name of a secret."""
    before = max(0, place - _MAX_NAME_PREFIX)
    if name.after is not None and not name.after.search(lowered, before, place):
        return False
    return name.not_after is None or not name.not_after.search(lowered, before, place)


def _assigned(name: _Name, match: re.Match[str]) -> Iterator[Secret]:
    value, is_quoted = match["value"], match["quote"] is not None
    if not is_quoted:
        if not _is_on_line(match):
            return
        value = _NEXT_FIELD.split(value, 1)[0].rstrip(_AFTER_VALUE)
    if name.is_password:
        holds = _is_password(value, is_prose=not is_quoted and match["sign"] in (None, ":", "："))
        holds = holds or (name.ending == "passphrase" and _is_passphrase(value))
    else:
        holds = _is_key(value, is_quoted=is_quoted, is_weak=name.is_weak)
    if holds and not _names_another(name, value, is_quoted=is_quoted):
        start = match.start("value")
        yield Secret(name.kind, start, start + len(value))


def _is_on_line(match: re.Match[str]) -> bool:
    """Return True unless an unquoted value on a later line is code: `password:`, then only the value, is a password."""
    text, start, end = match.string, match.start("value"), match.end("value")
    before = text[match.start() : start]
    if "\n" not in before:
        return True
    is_alone = text[end : end + 1] in ("", "\n", "\r") and text[end - 1] != ":" and text[start] not in "+-"
    return is_alone and match["sign"] in (None, ":") and ")" not in before and "]" not in before


def names_another(value: str) -> bool:
    """Return True for the name of a variable or secret rather than its value, and for the location of one."""
    return _names_another(_NAMES[0], value, is_quoted=False)


def _names_another(name: _Name, value: str, *, is_quoted: bool) -> bool:
    """Return True for a placeholder, a location, or the name of a variable that holds the secret."""
    if _PLACEHOLDER.fullmatch(value) or _VARIABLE.fullmatch(value) or _ELSEWHERE.match(value):
        return True
    if is_quoted:
        return False
    return bool(_CODE.match(value)) or (value.isidentifier() and _is_variable(name, value))


def _is_variable(name: _Name, value: str) -> bool:
    """Return True for an identifier such as `old_token2`; False for one such as `hunter2token9`, unless it names
    what the name before it does (`password=user1password`)."""
    if len(value) >= _MAX_VARIABLE and "_" not in value and any(map(str.isdigit, value)):
        return False
    stem = value.lower().rstrip(_VERSION)
    for ending in _ENDINGS:
        if stem.endswith(ending):
            before = stem[: -len(ending)]
            is_same = name.is_password and ending in _PASSWORD_NAMES
            return is_same or not before[-1:].isdigit() or bool(_TERM.fullmatch(before))
    return False


def _is_password(value: str, *, is_prose: bool) -> bool:
    if not MIN_PASSWORD <= len(value) <= MAX_PASSWORD or " " in value:
        return False
    if (term := _TERM.match(value)) and not value[term.end() : term.end() + 1].isalnum():
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not has_letter:
        return value.isdigit()
    if not (has_digit or _SYMBOL.search(value)):
        return False
    # In prose, "at-least-8-characters" is a rule and not a password; "Tulip-Gate-42" is one.
    parts = re.split(r"[-_./]", value)
    if not is_prose or len(parts) <= 2 or not all(map(_WORD.fullmatch, parts)):
        return True
    return _MIXED.match(value) is not None and not any(map(value.__contains__, "./")) and not _RULE.search(value)


def _is_key(value: str, *, is_quoted: bool, is_weak: bool) -> bool:
    if is_weak and _HASH_OR_UUID.fullmatch(value):
        return False
    return " " not in value and _is_random(value, MIN_RANDOM_QUOTED if is_quoted else MIN_RANDOM)


def _is_random(value: str, least: int) -> bool:
    """Return True when the value does not look like words and numbers."""
    if len(value) < least or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    if _CLASS_NAME.fullmatch(value):
        return False
    return not all(map(_WORD.fullmatch, re.split(r"[-_./:+]", value))) or len(_SYMBOL.findall(value)) > 1


def merge(text: str, found: Iterable[Secret]) -> list[Secret]:
    """Add repeated occurrences, merge overlaps, and drop matches inside replacements."""
    marks = [match.span() for match in MARK.finditer(text)]
    ends = [end for _, end in marks]

    def is_outside(one: Secret) -> bool:
        next_mark = bisect_right(ends, one.start)
        return next_mark == len(marks) or one.end <= marks[next_mark][0]

    outside = [one for one in found if is_outside(one)]
    kinds = {text[one.start : one.end]: one.kind for one in reversed(outside)}
    for value, kind in kinds.items():
        if len(value) >= MIN_REPEATED:
            place = text.find(value)
            while place >= 0:
                outside.append(Secret(kind, place, place + len(value)))
                place = text.find(value, place + len(value))
    merged: list[Secret] = []
    for one in sorted(outside, key=lambda one: (one.start, -one.end)):
        if merged and one.start < merged[-1].end:
            last = merged.pop()
            one = Secret(last.kind, last.start, max(last.end, one.end))
        merged.append(one)
    return merged
