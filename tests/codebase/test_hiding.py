from recollect.codebase.hiding import (
    _has_beginning,  # pyright: ignore[reportPrivateUsage] - only what it saves is seen from outside
    hidden,
)
from recollect.domain.secrets import BEGINNINGS

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


def test_every_beginning_is_noticed_wherever_it_stands():
    for beginning in BEGINNINGS:
        own = beginning.encode()
        assert _has_beginning(own)
        assert _has_beginning(b"\xff\n" * 5000 + own)
        assert _has_beginning(b"\n" + own + b"\n")
        assert not _has_beginning(own[:-1] + b"\n" + own[1:]) or any(
            other.encode() in own[:-1] + b"\n" + own[1:] for other in BEGINNINGS
        )
    assert not any(map(_has_beginning, (b"", b"a", b"ab", b"abc", b"\xff" * 4)))
