"""400 texts that a memory receives: half of them with secrets, half of them without.

They were written before the rules that they measure. The lines of each file alternate between two halves: rules are
tuned on `TUNED` only, so that `HELD_OUT` shows what they do to other texts.

A line is a text; `\\n` is a line end, and a line that starts with `$ ` is a command. A secret stands between `«` and
`»`. `‹A20›` is replaced by random characters, so that no scanner takes these files for a leak: the letter selects the
alphabet, the number the length.
"""

import random
import re
import string
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER = Path(__file__).parent
_ALPHABETS: Final = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + "234567",
    "W": string.ascii_letters + string.digits + "_-",
    "B": string.ascii_letters + string.digits + "+/",
    "h": "0123456789abcdef",
    "D": string.digits,
}
_RANDOM_PART = re.compile(r"‹(\w)(\d+)›")


class Case(NamedTuple):
    """A text in which each secret stands between `«` and `»`."""

    text: str

    @property
    def is_command(self) -> bool:
        return self.text.startswith("$ ")


class Half(NamedTuple):
    """Half of the texts with secrets, and half of those without."""

    secrets: list[Case]
    no_secrets: list[Case]


def _read(name: str) -> list[Case]:
    lines = (_FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [_case(line) for line in lines if line and not line.startswith("=== ")]


def _case(line: str) -> Case:
    source = random.Random(line)  # the same parts in every run

    def random_part(match: re.Match[str]) -> str:
        alphabet, length = _ALPHABETS[match[1]], int(match[2])
        part = source.choices(alphabet, k=length)
        if length > 4:  # so that it has a digit and a letter, as almost every longer one
            part[2] = "7"
            part[3] = alphabet[0]
        return "".join(part)

    return Case(_RANDOM_PART.sub(random_part, line).replace("\\n", "\n"))


_SECRETS, _NO_SECRETS = _read("secrets.txt"), _read("no_secrets.txt")
TUNED: Final = Half(_SECRETS[::2], _NO_SECRETS[::2])
HELD_OUT: Final = Half(_SECRETS[1::2], _NO_SECRETS[1::2])
