from hypothesis import given
from hypothesis import strategies as st

from scrubjay.code_index.secret_masking import May, has_in_arrays, hidden, secrets_in, what_may_be_in
from scrubjay.core.secrets import BEGINNINGS, OTHER_ENDINGS, PASSWORD_ENDINGS, SCHEMES, find_secrets
from scrubjay.native.library import library

TOKEN = b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0" + b"k1L2m3N4o5P6q7R8"
LINE = b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"


def test_secrets_are_overwritten_and_everything_else_stays_where_it_was():
    before = b"# gr\xc3\xb6\xc3\x9fer \xff\xfe\r\ntoken = '%s'\n\x00 rest %s\n"
    assert hidden(before % (TOKEN, TOKEN)) == before % (b"x" * len(TOKEN), b"x" * len(TOKEN))


def test_a_key_of_many_lines_has_as_many_lines_when_it_is_hidden():
    key = b"-----BEGIN PRIVATE KEY-----\r\n" + (LINE + b"\r\n") * 50 + b"-----END PRIVATE KEY-----"
    content = b"a\n" + key + b"\nb\n"
    found = hidden(content)
    assert (len(found), found.count(b"\r\n"), found[:2], found[-3:]) == (len(content), 51, b"a\n", b"\nb\n")
    assert {*found[2:-3]} == {*b"x\r\n"}


def test_what_has_no_secret_is_the_same():
    for content in (b"", b"\xff", b"def f():\n    return password\n", b'token = "{{ token }}"\n'):
        assert hidden(content) is content


BEGUN = [beginning.encode() for beginning in BEGINNINGS]


def test_every_beginning_is_noticed_wherever_it_stands_when_nothing_is_compiled():
    texts = [
        *(b"", b"x", b"sk", b"abc", b"\xff" * 4, b"plain text with keys and shop", b"\x00" * 3_000_000 + BEGUN[0]),
        *(before + own + after for own in BEGUN for before in (b"", b"\xff\n") for after in (b"", b"\xff\x00")),
        *(own[:-1] + b"\n" + own[1:] for own in BEGUN),
    ]
    assert [has_in_arrays(text) for text in texts] == [any(own in text for own in BEGUN) for text in texts]


def assert_nothing_is_left_out(written: str) -> None:
    """What a first look takes for impossible is not found by who looks closer."""
    content = written.encode("utf-8", "surrogateescape")
    text = content.decode("utf-8", "surrogateescape")
    may, found = what_may_be_in(content), find_secrets(text)
    assert secrets_in(content) == found, text
    assert not found or (may and find_secrets(text, has_beginning=May.HAVE_FORM in may) == found), text


# Secrets of all kinds: what they are told by, and what may stand around it.
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
AFTER_A_NAME = st.tuples(
    *map(st.sampled_from, (BEFORE, NAMED, ENDS, CLOSE, SIGNS, VALUES, ["", '"', "'", " ", "\n"]))
).map("".join)


@given(st.lists(st.one_of(AFTER_A_NAME, PARTS, st.text(max_size=4)), max_size=6).map("".join))
def test_what_may_hold_a_secret_is_never_left_out(text: str):
    assert_nothing_is_left_out(text)


def test_each_name_and_each_form_is_looked_at_closer():
    for form in FORMS:
        for around in ("%s", "'%s'", "x%s", "_%s", "1%s1", "é%sé", "(%s)\n", "--%s--"):
            assert_nothing_is_left_out(around % form)
    for name in NAMED:
        for sign in SIGNS:
            for value in VALUES:
                assert_nothing_is_left_out(f"{name}{sign}{value}")


def test_a_first_look_is_enough_for_most_code():
    for content in (
        b"def f(key, token):\n    return key[token]\n",
        b"password = forms.CharField()\n",
        b"task-list, risk-free",
    ):
        assert not what_may_be_in(content) or what_may_be_in(content) is May.HAVE_NAME
    assert what_may_be_in(b"key = cache.get(token)  # the secret is out") == (May(0) if library() else May.HAVE_NAME)


def test_one_letter_beyond_ascii_has_a_small_letter_within_it():
    def has_plain_small(code: int) -> bool:
        small = chr(code).lower()
        return len(small) == 1 and small.isascii()

    assert [chr(code) for code in range(128, 0x110000) if has_plain_small(code)] == ["\u212a"]
