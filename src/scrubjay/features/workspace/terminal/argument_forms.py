"""Forms of arguments that a program may take: every option is listed, and what is not listed is refused."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Check = Callable[[Sequence[str]], str | None]
"""Returns the problem with the arguments of a program, or None."""

NUMBER = r"[+-]?\d{1,9}[a-zA-Z]{0,3}"
ANY = r".*"

# A separate word that begins with a dash could be an option to the program, so only a number may.
_SAFE_VALUE = re.compile(r"[^-].*|-\d{1,9}[a-zA-Z]{0,3}|", re.ASCII | re.DOTALL)


def refusal(argument: str) -> str:
    """Return the problem with an argument that is not listed."""
    return f"may not take '{argument[:60]}'"


@dataclass(frozen=True, slots=True)
class OptionForms:
    """The options of a program that reads them as getopt does.

    One-letter options may be combined. Long options must be written in full: an abbreviation can mean another option
    in another version of the program. Example: `OptionForms(flags="la", valued={"w": r"[0-9]+"}, long="all size")`.
    """

    flags: str = ""
    """Letters without a value."""
    valued: Mapping[str, str] = field(default_factory=dict[str, str])
    """Letters with a value, attached or the next word, each with the pattern of the value."""
    long: str = ""
    """Names of options without a value, or with an optional one that is left out; separated by spaces."""
    long_valued: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of options with a required value, after `=` or in the next word."""
    long_optional: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of options whose value is given after `=` only."""
    operands: str | None = ANY
    """Pattern of every other argument; None refuses all."""
    number: bool = False
    """Allow a number as an option, such as `-5`."""

    def __call__(self, arguments: Sequence[str]) -> str | None:
        words = iter(arguments)
        for word in words:
            if word == "--":
                return self._operands_problem(words)
            if not word.startswith("-") or word == "-":
                problem = self._operands_problem([word])
            elif word.startswith("--"):
                problem = self._long_problem(word, words)
            elif self.number and re.fullmatch(r"-\d{1,9}", word, re.ASCII):
                problem = None
            else:
                problem = self._short_problem(word, words)
            if problem is not None:
                return problem
        return None

    def _operands_problem(self, words: Iterator[str] | Sequence[str]) -> str | None:
        for word in words:
            if self.operands is None or word == "-" or not _matches(self.operands, word):
                return refusal(word)
        return None

    def _long_problem(self, word: str, words: Iterator[str]) -> str | None:
        name, has_value, value = word[2:].partition("=")
        if has_value:
            pattern = self.long_valued.get(name) or self.long_optional.get(name)
            return None if pattern is not None and _matches(pattern, value) else refusal(word)
        if name in self.long_valued:
            return _value_problem(word, self.long_valued[name], words)
        return None if name in self.long.split() or name in self.long_optional else refusal(word)

    def _short_problem(self, word: str, words: Iterator[str]) -> str | None:
        for position, letter in enumerate(word[1:], start=1):
            if letter in self.flags:
                continue
            if letter not in self.valued:
                return refusal(word)
            if attached := word[position + 1 :]:
                return None if _matches(self.valued[letter], attached) else refusal(word)
            return _value_problem(word, self.valued[letter], words)
        return None


@dataclass(frozen=True, slots=True)
class WordForms:
    """The options of a program, each a complete word that matches a pattern."""

    words: str
    """Pattern of options without a separate value."""
    valued: str = r"(?!)"
    """Pattern of options whose value is the next word."""
    operands: str | None = ANY

    def __call__(self, arguments: Sequence[str]) -> str | None:
        rest = iter(arguments)
        for word in rest:
            if word == "--":
                problem = next((refusal(other) for other in rest if not self._is_operand(other)), None)
            elif not word.startswith("-"):
                problem = None if self._is_operand(word) else refusal(word)
            elif _matches(self.valued, word):
                problem = _value_problem(word, ANY, rest)
            else:
                problem = None if _matches(self.words, word) else refusal(word)
            if problem is not None:
                return problem
        return None

    def _is_operand(self, word: str) -> bool:
        return self.operands is not None and word != "-" and _matches(self.operands, word)


def exactly(pattern: str) -> Check:
    """Return a check that all arguments match the pattern, in which a space separates two arguments."""
    # Arguments contain no line break, but they can contain spaces: `kill '-1 5'` is one argument.
    whole = re.compile(pattern.replace(" ", "\n"), re.ASCII)

    def check(arguments: Sequence[str]) -> str | None:
        if "" in arguments or whole.fullmatch("\n".join(arguments)) is None:
            return refusal(" ".join(arguments)) if arguments else "needs arguments"
        return None

    return check


def anything(arguments: Sequence[str]) -> str | None:
    """Allow all arguments."""
    return None


def nothing(arguments: Sequence[str]) -> str | None:
    """Allow no arguments."""
    return "may not take arguments" if arguments else None


def _value_problem(option: str, pattern: str, words: Iterator[str]) -> str | None:
    value = next(words, None)
    if value is None:
        return f"needs a value for '{option[:60]}'"
    if _SAFE_VALUE.fullmatch(value) is None or not _matches(pattern, value):
        return refusal(f"{option} {value}")
    return None


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text, re.ASCII | re.DOTALL) is not None
