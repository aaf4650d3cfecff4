"""Secrets in source files are masked in place, and the quick scan misses none."""

from hypothesis import given
from hypothesis import strategies as st

from scrubjay.code_index.secret_masking import (
    SecretKinds,
    has_secret_prefix,
    mask_secrets,
    possible_secrets,
    secrets_in,
)
from scrubjay.core.secret_phrases import GATES, OTHER_GATES
from scrubjay.core.secrets import BEGINNINGS, OTHER_ENDINGS, PASSWORD_ENDINGS, SCHEMES, find_secrets
from scrubjay.native.library import library
from tests.core.secret_cases import without_marks
from tests.core.secret_formats import FORMATS

EVERY_KIND = int(SecretKinds.BY_FORM | SecretKinds.BY_NAME | SecretKinds.BY_OTHER_FORM)
TOKEN = b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0" + b"k1L2m3N4o5P6q7R8"
LINE = b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


def test_masking_a_secret_changes_no_other_byte():
    before = b"# gr\xc3\xb6\xc3\x9fer \xff\xfe\r\ntoken = '%s'\n\x00 rest %s\n"
    assert mask_secrets(before % (TOKEN, TOKEN)) == before % (b"x" * len(TOKEN), b"x" * len(TOKEN))


def test_a_masked_key_keeps_its_line_ends():
    key = b"-----BEGIN PRIVATE KEY-----\r\n" + (LINE + b"\r\n") * 50 + b"-----END PRIVATE KEY-----"
    content = b"a\n" + key + b"\nb\n"
    found = mask_secrets(content)
    assert (len(found), found.count(b"\r\n"), found[:2], found[-3:]) == (len(content), 51, b"a\n", b"\nb\n")
    assert {*found[2:-3]} == {*b"x\r\n"}


def test_content_without_secrets_is_returned_unchanged():
    for content in (b"", b"\xff", b"def f():\n    return password\n", b'token = "{{ token }}"\n'):
        assert mask_secrets(content) is content


PREFIXES = [beginning.encode() for beginning in BEGINNINGS]


def test_every_prefix_is_found_at_any_position_without_the_native_library():
    texts = [
        *(b"", b"x", b"sk", b"abc", b"\xff" * 4, b"plain text with keys and shop", b"\x00" * 3_000_000 + PREFIXES[0]),
        *(
            before + prefix + after
            for prefix in PREFIXES
            for before in (b"", b"\xff\n")
            for after in (b"", b"\xff\x00")
        ),
        *(prefix[:-1] + b"\n" + prefix[1:] for prefix in PREFIXES),
    ]
    assert [has_secret_prefix(text) for text in texts] == [any(prefix in text for prefix in PREFIXES) for text in texts]


def assert_scan_misses_nothing(written: str) -> None:
    """Check that the quick scan excludes no secret that the full search finds."""
    content = written.encode("utf-8", "surrogateescape")
    text = content.decode("utf-8", "surrogateescape")
    may, found = possible_secrets(content), find_secrets(text)
    assert secrets_in(content) == found, text
    assert not found or (may and find_secrets(text, kinds=int(may)) == found), text
    unscanned = f"{text}\n\ud800"  # the accelerator takes no half of a surrogate pair, so that Python checks
    assert find_secrets(unscanned) == find_secrets(unscanned, kinds=EVERY_KIND), text


# Secrets of all kinds, the names that mark them, and what may surround them.
RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0" * 2
HEX = "0123456789abcdef" * 4
FORMS = [
    *(beginning + RANDOM[:size] for beginning in BEGINNINGS for size in (8, 20, 36, 60)),
    *(beginning + HEX[:size] for beginning in BEGINNINGS for size in (32, 64)),
    *(beginning + RANDOM.upper()[:size] for beginning in BEGINNINGS for size in (16, 58)),
    *("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh", "SG." + RANDOM[:22] + "." + RANDOM[:43], "xoxb-1-" + RANDOM),
    *("12345678:AA" + RANDOM[:33], "AIza" + RANDOM[:35], "npm_" + RANDOM[:36], "pypi-" + RANDOM[:60]),
    "-----BEGIN RSA PRIVATE KEY-----\n" + RANDOM + "\n-----END RSA PRIVATE KEY-----",
]
NAMED = [*PASSWORD_ENDINGS, *OTHER_ENDINGS, *SCHEMES, *map(str.upper, OTHER_ENDINGS), "ACCESS_\u212aEY", "To\u212aen"]
BEFORE = [
    "",
    "db_",
    "--",
    "-",
    "api ",
    "access_",
    " --db-",
    "next_",
    "\n",
    "x",
    "é",
    "\u00a0-",
    "'",
    "\udc80",
    "auth-",
    "0",
]
ENDS = ["", "s", "_1", "2", "_prod", "-production", "_b64", "\u017f", "_x", "é", "word"]
CLOSE = ["", '"', "'", "`", '\\"', '"]', "**", ")])", "')\n"]
SIGNS = [
    *(
        "=",
        ":",
        ":=",
        "=>",
        "==",
        "===",
        " = ",
        ": ",
        "  :  ",
        "\t=\n",
        " ",
        "    ",
        "\t",
        ": str = ",
        " : Option[a.b] |c=",
    ),
    *(
        " is ",
        " was: ",
        " to ",
        " for ada of x is ",
        " IS:",
        " \u0131s ",
        " in the house of the king was ",
        ":\u00a0",
        " \u2003is ",
        "",
    ),
    *(
        ": |\n  ",
        ": >-\r\n+    ",
        "(",
        "('",
        " is now ",
        " was changed to ",
        " from ",
        "\n  value: '",
        " at home: ",
        " (x): ",
    ),
    *("= **", ": *", "=\\\n", "= (\n   ", "=(", ' = \\"', "://ada:", "://:", "://", "= =", "\x1c:\x1f", ":>"),
]
VALUES = [
    *(
        "hunter2!",
        "123456",
        "s3cr3t",
        "abcdef",
        "Tr0ub4dor&3",
        "'Tr0ub4dor&3'",
        '"hunter2!"',
        "`a!b!c!`",
        '"a b"',
        "été123!",
    ),
    *(
        "pässwört1",
        '"' + RANDOM[:10] + '"',
        RANDOM[:16],
        RANDOM,
        HEX,
        "x" * 4000 + "1",
        "((((((((1a!",
        '"((((((1a',
        "***a1b2c3",
    ),
    *(
        "\tabc123",
        '"\tab1234"',
        "a=b=c=d",
        "<abc123>",
        ",abc123",
        "p@ss@host",
        "abc@host",
        "a@[::1]",
        "\udc801234567",
        "=a1b2c3d4e5",
    ),
]
PARTS = st.one_of(*map(st.sampled_from, (BEFORE, NAMED, ENDS, CLOSE, SIGNS, VALUES, FORMS)))
NAMED_ELSEWHERE = [*NAMED, *GATES, *OTHER_GATES, *map(str.upper, OTHER_GATES), "login: ada / ", "set_password", "pw"]
AFTER_A_NAME = st.tuples(
    *map(st.sampled_from, (BEFORE, NAMED_ELSEWHERE, ENDS, CLOSE, SIGNS, VALUES, ["", '"', "'", " ", "\n"]))
).map("".join)


@given(st.lists(st.one_of(AFTER_A_NAME, PARTS, st.text(max_size=4)), max_size=6).map("".join))
def test_the_quick_scan_misses_no_secret_in_random_text(text: str):
    assert_scan_misses_nothing(text)


def test_the_quick_scan_misses_no_form_and_no_name():
    for form in FORMS:
        for around in ("%s", "'%s'", "x%s", "_%s", "1%s1", "é%sé", "(%s)\n", "--%s--"):
            assert_scan_misses_nothing(around % form)
    for name in NAMED:
        for sign in SIGNS:
            for value in VALUES:
                assert_scan_misses_nothing(f"{name}{sign}{value}")


def test_the_quick_scan_misses_no_secret_in_a_real_format():
    for text in FORMATS:
        assert_scan_misses_nothing(without_marks(text))


def test_the_quick_scan_excludes_secrets_in_most_code():
    for content in (
        b"def f(key, token):\n    return key[token]\n",
        b"password = forms.CharField()\n",
        b"task-list, risk-free",
    ):
        assert not possible_secrets(content) or possible_secrets(content) is SecretKinds.BY_NAME
    assert possible_secrets(b"key = cache.get(token)  # the secret is out") == (
        SecretKinds(0) if library() else SecretKinds.BY_NAME
    )


def test_the_kelvin_sign_is_the_only_other_character_with_an_ascii_lower_case():
    def has_ascii_lower_case(code: int) -> bool:
        lower = chr(code).lower()
        return len(lower) == 1 and lower.isascii()

    assert [chr(code) for code in range(128, 0x110000) if has_ascii_lower_case(code)] == ["\u212a"]
