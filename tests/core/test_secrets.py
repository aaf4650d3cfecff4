"""Secrets are found, and text that only resembles one is left alone."""

import base64
import json
import string
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.core.secrets import Secret, find_secrets, mask, masked, redacted, secret_kind
from tests.core.secret_cases import gaps_of_masked, with_gaps, without_marks
from tests.core.secret_formats import FORMATS, NO_SECRETS

ALPHANUMERIC = string.ascii_letters + string.digits


def like(alphabet: str, length: int) -> st.SearchStrategy[str]:
    """Return random characters with at least one digit and one letter."""
    return st.text(alphabet, min_size=length - 2, max_size=length - 2).map(lambda text: f"{text[:3]}4{text[3:]}f")


def jwt_of(claims: dict[str, str]) -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, claims]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, "dozjgNryP4J3jVmNHl0w5NXgL0n3I9PlFUP0THsR8U"])


def key_block(label: str, body: str) -> str:
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


WELL_KNOWN: dict[str, st.SearchStrategy[str]] = {
    "aws access key": like(string.ascii_uppercase + string.digits, 15).map(lambda body: f"AKIA{body.upper()}Z"),
    "github token": like(ALPHANUMERIC, 36).map("ghp_{}".format),
    "gitlab token": like(ALPHANUMERIC, 20).map("glpat-{}".format),
    "slack token": like(ALPHANUMERIC, 24).map("xoxb-123456789012-{}".format),
    "stripe key": like(ALPHANUMERIC, 24).map("sk_live_{}".format),
    "google key": like(ALPHANUMERIC, 35).map("AIza{}".format),
    "api key": st.one_of(
        like(ALPHANUMERIC, 48).map("sk-{}".format),
        like(ALPHANUMERIC, 60).map("sk-ant-api03-{}".format),
        like(ALPHANUMERIC, 34).map("hf_{}".format),
    ),
    "scrubjay key": st.tuples(st.sampled_from(["sjk_", "rck_"]), like("0123456789abcdef", 64)).map("".join),
    "npm token": like(ALPHANUMERIC, 36).map("npm_{}".format),
    "jwt": st.fixed_dictionaries({"sub": st.text(string.ascii_letters, min_size=8)}).map(jwt_of),
    "private key": like(ALPHANUMERIC + "+/", 64).map(
        lambda line: key_block("RSA PRIVATE KEY", f"{line}\n" * 12 + line)
    ),
}


def assigned(secret: str) -> list[str]:
    return [
        f"password: {secret}",
        f'DB_PASSWORD="{secret}"',
        f"export PGPASSWORD={secret}",
        f'{{"password": "{secret}"}}',
        json.dumps({"body": json.dumps({"passwd": secret})}),
        f"The password for the staging database is {secret}",
        f"**Password:** {secret}",
        f'password: str = "{secret}"',
        f"mysqldump --password {secret} --all-databases",
        f"Server=db;Uid=sa;Pwd={secret};Encrypt=yes",
        f"postgres://ada:{secret}@db.example.com:5432/app",
    ]


@pytest.mark.parametrize("kind", WELL_KNOWN)
@given(st.data(), st.text(), st.text())
def test_a_secret_with_a_known_format_is_found_in_any_context(
    kind: str, data: st.DataObject, before: str, after: str
) -> None:
    secret = data.draw(WELL_KNOWN[kind])
    text = f"{before}\n{secret}\n{after}"
    start = len(before) + 1
    assert Secret(kind, start, start + len(secret)) in find_secrets(text)
    assert secret not in masked(text)


@given(like(ALPHANUMERIC, 12).map(lambda body: f"q{body}"))
def test_a_password_is_found_next_to_a_name_that_marks_it(secret: str) -> None:
    for text in assigned(secret):
        assert mask(text) == (text.replace(secret, "[secret: password]"), ["password"]), text


def test_a_password_can_contain_a_word_that_marks_secrets() -> None:
    assert mask("password: q0004000KEY0f") == ("password: [secret: password]", ["password"])
    assert mask("password: DB_MAIN2_PASSWORD_V2") == ("password: DB_MAIN2_PASSWORD_V2", [])
    assert mask("password: oauth2_token1") == ("password: oauth2_token1", [])


@given(like(ALPHANUMERIC, 22).map(lambda body: f"4a{body}"))
def test_a_random_value_is_found_next_to_a_name_that_marks_it(secret: str) -> None:
    for name, kind in (
        ("api_key", "key"),
        ("client_secret", "secret"),
        ("AccountKey", "key"),
        ("access_token", "token"),
    ):
        for text in (f"{name}={secret};", f"{name}: '{secret}'", f'"{name}": "{secret}",', f"--{name} {secret}"):
            assert mask(text) == (text.replace(secret, f"[secret: {kind}]"), [kind]), text
    for text in (f"Authorization: Bearer {secret}", f"curl -H 'authorization: basic {secret}=='"):
        assert secret not in masked(text), text


@given(st.text(), st.lists(st.one_of(st.text(), *WELL_KNOWN.values(), st.sampled_from(assigned("hunter2x")))))
def test_masking_is_idempotent(text: str, parts: list[str]) -> None:
    once = masked(text.join(parts))
    assert masked(once) == once
    assert find_secrets(once) == []


@given(st.one_of(*WELL_KNOWN.values(), like(ALPHANUMERIC, 12).map(lambda body: f"q{body}")))
def test_a_repeated_secret_is_masked_everywhere(secret: str) -> None:
    text = f"password: {secret} and later again: {secret}. It was {secret}!"
    assert secret not in masked(text)
    assert not [piece for piece in (secret[: len(secret) // 2], secret[len(secret) // 2 :]) if piece in masked(text)]


@given(st.text(), st.one_of(*WELL_KNOWN.values()), st.text())
def test_found_secrets_are_sorted_and_do_not_overlap(before: str, secret: str, after: str) -> None:
    secrets = find_secrets(f"{before} {secret} {after} password: {secret}")
    offsets = [offset for each in secrets for offset in (each.start, each.end)]
    assert offsets == sorted(offsets)
    assert all(each.start < each.end for each in secrets)


@given(st.uuids(), st.binary(min_size=20, max_size=64))
def test_ids_and_hashes_are_not_secrets(identity: uuid.UUID, digest: bytes) -> None:
    for text in (
        f"job {identity} ended",
        f"token: {identity}",
        f"commit {digest.hex()[:40]}",
        f"sha256:{digest.hex()}",
        f"etag={digest.hex()}",
        f"token: {digest.hex()[:40]}",
        f"data:image/png;base64,{base64.b64encode(digest * 8).decode()}",
    ):
        assert find_secrets(text) == [], text


@pytest.mark.parametrize(
    "text",
    [
        "The wifi password is on the fridge.",
        "Passwords are hashed with SHA-256; password: SHA-256",
        "password: must be at least 12 characters",
        "password: at-least-8-chars",
        "The password is base64-encoded and 1Password-managed.",
        "password = get_password(user, 3)",
        'password = os.environ["DB_PASSWORD"]',
        "password=user.password2",
        "password: $DB_PASSWORD2 or ${DB_PASSWORD_2}",
        "password: <your password 1>, or changeme123, or ********",
        'password: "required|min:8"',
        '<input type="password" name="password" placeholder="Enter8">',
        "pwd: /home/ada/project1",
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost/db",
        "postgres://${USER}:${PASS}@localhost/db",
        "https://example.com:8080/a@b?c=1",
        "max_tokens: 4096, token_budget: 500, tokens=128000",
        "next_token: eyJsYXN0X2lkIjoxMjM0NTY3ODkwMTIzNDU2fQ",
        "token = tokenizer.encode(text)[0]",
        "def token(term: str) -> int: ...",
        "token: bert-base-uncased-2024",
        "secret_name: projects/foo/secrets/bar-2",
        "We rotate the API key every 90 days; the token is stored in vault2.",
        "api_key: str | None = None",
        "api_key_env: OPENAI_API_KEY",
        "the key: value store has 128 shards",
        "primary_key=user_4f2a9c81d3b7e650",
        "task-abcdefghijklmnopqrstuvwx1",
        "the sk-learn-style-pipeline-with-many-steps",
        "-----BEGIN PRIVATE KEY----- is how such a file starts",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
        "Bearer token-based-authentication-v2",
        "eyJhbmFseXNpcyI6MX0.not-a-jwt-at-all.because-it-has-no-algorithm",
        "mailto:ada@example.com is where the password reset goes: 10:30",
    ],
)
def test_text_that_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("text", FORMATS)
def test_a_secret_in_a_real_format_is_masked_and_nothing_else(text: str) -> None:
    once = masked(without_marks(text))
    assert gaps_of_masked(once) == with_gaps(text)
    assert masked(once) == once


@pytest.mark.parametrize("text", NO_SECRETS)
def test_code_diffs_lock_files_and_prose_are_left_alone(text: str) -> None:
    assert masked(text) == text


def test_the_name_in_a_replacement_marks_no_other_value() -> None:
    text = "secret=[secret: secret], region=eu2central9zone4x, [secret: access token]= north42xzone4xq7"
    assert masked(text) == text


def test_a_truncated_private_key_is_masked() -> None:
    key = key_block("EC PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\n" + f"{'MIIEpAIBAAKCAQEA' * 4}\n" * 6 + "MIIEpA==")
    assert masked(f"see {key} there") == "see [secret: private key] there"
    assert masked(f"see {key[:300]} there") == "see [secret: private key] there"
    assert masked(json.dumps({"key": key})) == '{"key": "[secret: private key]"}'


@pytest.mark.parametrize(
    "piece",
    [
        *("password ", "password: a", 'password="', "password for ", "token: ", "a:b@://", "eyJaaaaaaaaa.", "sk-"),
        *(
            "key-4a",
            "-----BEGIN PRIVATE KEY-----\n",
            "[secret: jwt]",
            "password: hunter2 ",
            "bearer ",
            "a" * 4000 + "! ",
        ),
    ],
)
def test_no_text_takes_long_to_scan(piece: str) -> None:
    text = f"password: {piece}" * (50_000 // (len(piece) + 10))
    assert masked(masked(text)) == masked(text)  # exponential time would never finish


def test_a_letter_that_lowercases_to_two_does_not_shift_positions() -> None:
    assert masked("İİİ password: hunter2 İ") == "İİİ password: [secret: password] İ"


def test_data_is_redacted_by_name_and_by_content() -> None:
    token = "ghp_" + "a1" * 18
    assert redacted(
        {
            "password": "tulip",
            "db_password_prod": 4711,
            "API-Keys": ["a", None],
            "Authorization": "Bearer abc",
            "token": {"kind": "opaque", "note": "password: hunter2"},
            "tokens": 128,
            "max_tokens": 10,
            "next_token": "abc",
            "secret": None,
            "key": "database",
            "texts": ("plain", f"see {token}"),
            token: 1,
            f"ghp_{'b2' * 18}": 2,
        }
    ) == {
        "password": "[secret: password]",
        "db_password_prod": "[secret: password]",
        "API-Keys": ["[secret: key]", None],
        "Authorization": "[secret: token]",
        "token": {"kind": "opaque", "note": "password: [secret: password]"},
        "tokens": 128,
        "max_tokens": 10,
        "next_token": "abc",
        "secret": None,
        "key": "database",
        "texts": ["plain", "see [secret: github token]"],
        "[secret: github token]": 1,
        "[secret: github token] again": 2,
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(assigned("hunter2x")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["password", "token"]), inner),
    )
)
def test_redacting_is_idempotent(value: Any) -> None:
    once = redacted(value)
    assert redacted(once) == once
    assert "hunter2x" not in json.dumps(once)


def test_a_name_determines_the_kind_of_secret() -> None:
    names = (
        "dbPassword",
        "AWS_SECRET_ACCESS_KEY",
        "access_token_2",
        "client-secret",
        "page_token",
        "tokens",
        "keyboard",
    )
    assert [secret_kind(name) for name in names] == ["password", "key", "token", "secret", None, None, None]
