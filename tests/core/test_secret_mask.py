"""The secret mask, measured: how many secrets of realistic texts it finds, and how many other texts it damages."""

from collections.abc import Iterator

import pytest

from scrubjay.code_index.secret_masking import SecretKinds, possible_secrets
from scrubjay.core.command_secrets import masked_command
from scrubjay.core.secrets import find_secrets, masked
from tests.core.secret_cases import gaps_of_masked, with_gaps, without_marks
from tests.core.secret_mask import HELD_OUT, TUNED, Case, Half

EVERY_KIND = int(SecretKinds.BY_FORM | SecretKinds.BY_NAME | SecretKinds.BY_OTHER_FORM)
NOT_UNICODE = "\ud800"
"""A text with this is not scanned by the accelerator."""
MOST_MISSED, MOST_DAMAGED = 0.05, 0.01


def masked_case(case: Case) -> str:
    text = without_marks(case.text)
    return f"$ {masked_command(text[2:])}" if case.is_command else masked(text)


def missed(half: Half) -> Iterator[str]:
    """Yield the texts in which a secret is left, or in which something else is masked."""
    return (case.text for case in half.secrets if gaps_of_masked(masked_case(case)) != with_gaps(case.text))


def damaged(half: Half) -> Iterator[str]:
    return (case.text for case in half.no_secrets if masked_case(case) != case.text)


def test_the_set_has_200_texts_of_each_kind() -> None:
    assert [len(TUNED.secrets) + len(HELD_OUT.secrets), len(TUNED.no_secrets) + len(HELD_OUT.no_secrets)] == [200, 200]
    assert len({case.text for half in (TUNED, HELD_OUT) for kind in half for case in kind}) == 400


@pytest.mark.parametrize("half", [TUNED, HELD_OUT], ids=["tuned", "held out"])
def test_95_of_100_secrets_are_masked_and_at_most_1_of_100_other_texts_is_changed(half: Half) -> None:
    failures = [*missed(half)], [*damaged(half)]
    assert len(failures[0]) <= MOST_MISSED * len(half.secrets), failures
    assert len(failures[1]) <= MOST_DAMAGED * len(half.no_secrets), failures


def test_no_quick_check_excludes_a_secret_of_the_set() -> None:
    for half in (TUNED, HELD_OUT):
        for case in (*half.secrets, *half.no_secrets):
            text = without_marks(case.text)
            for variant in (text, text.upper(), text.replace(" ", "\u00a0"), f"x{text}", f"é {text} é"):
                found = find_secrets(variant, kinds=EVERY_KIND)
                assert find_secrets(variant, kinds=int(possible_secrets(variant.encode()))) == found, variant
                for checked in (variant, f"{variant} {NOT_UNICODE}"):
                    assert find_secrets(checked) == find_secrets(checked, kinds=EVERY_KIND), variant


@pytest.mark.parametrize(
    "text",
    [
        "def login(user, password):\n+async def login2(user):\n",
        "+    def check(password):\n+async def run(x):\n-    pass1\n",
        "password is 12 characters, kennwort ist 8-stellig, mot de passe : 12 caractères",
        "Passwort vom Router steht auf Zettel-2",
        "The password to the vault: ask Ada (room 12-B)",
        "password (str): The password1 of the user",
        "the password moved from vault-2 to vault-3",
        "password from version2.1 to version2.2",
        "class sk-circle12 sk-cube9 and sk-learn; disk-abc123 and task-x1y2z3",
        "palabra clave: python3; la clave es version2",
        "密码长度为8-64个字符，密码：请输入8位以上密码",
        'form.password("Enter 8 characters")',
        "A DSN is https://KEY@o1.ingest.sentry.io/2 or https://ada@example.com/2",
        "password: |\n  first line 1\n  second line 2\n",
    ],
)
def test_words_about_passwords_are_kept(text: str) -> None:
    assert masked(text) == text


def test_the_parameters_after_a_key_in_a_url_are_kept() -> None:
    assert masked("GET /v1?api_key=a1b2c3d4e5f6g7h8i9&page=2&size=50") == "GET /v1?api_key=[secret: key]&page=2&size=50"


@pytest.mark.parametrize(
    "text",
    [
        "The superuser password on db-1 was changed to «Qz8!vTop».",
        "the password was reset to «Qz8!vTop»",
        "creds for the printer: admin / «Pr1nt-Me!»",
        "mot de passe FTP : «Ch4mpagne»",
        '  - name: REDIS_PASSWORD\n    value: "«r3dis-Carp»"\n',
        '{"name": "DB_PASSWORD", "value": "«r3dis-Carp»"}',
        "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256",
        "password: |\n    «tulip-Gate-42»\nuser: ada",
        "+  api_key: >-\n+    «a1B2c3D4e5F6g7H8i9»\n",
        'ds.setPassword("«w3b-Driver!»"); ds.getPassword("w3b-Driver?")',
        "password是«Abc12345»，token：«abcD1234efgh5678xyz9»",
    ],
)
def test_only_the_value_is_masked(text: str) -> None:
    plain = without_marks(text)
    assert gaps_of_masked(masked(plain)) == with_gaps(text)
    assert possible_secrets(plain.encode()) or masked(plain) == plain


def test_both_passwords_of_a_change_are_masked() -> None:
    changed = "We changed the password from [secret: password] to [secret: password]."
    assert masked("We changed the password from Tulip-77x to Orchid-88y.") == changed
