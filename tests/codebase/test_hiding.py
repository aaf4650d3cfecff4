from recollect.codebase.hiding import hidden

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
