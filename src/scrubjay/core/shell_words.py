"""Split a shell command into simple commands and words, and keep the place of every character.

The reader never fails: it serves the search for secrets, which must also read incomplete commands, other shells and
text that is no command at all. It runs nothing and expands nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_MAX_DEPTH: Final = 20
_EXPANSION: Final = re.compile(r"[A-Za-z_{(@*#?0-9]")


@dataclass(slots=True)
class Word:
    """A word without its quotes."""

    text: str = ""
    places: list[int] = field(default_factory=list[int])
    """Place of each character in the command."""
    expansions: set[int] = field(default_factory=set[int])
    """Characters at which a variable or another command is inserted."""

    def span(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Return the place of a part of the word in the command."""
        last = len(self.text) if end is None else end
        return self.places[start], self.places[last - 1] + 1


@dataclass(slots=True)
class SimpleCommand:
    """A program with its arguments, or assignments only."""

    words: list[Word] = field(default_factory=list[Word])
    here_string: Word | None = None
    """The word after `<<<`, which is the input of the program."""
    reads_from: "SimpleCommand | None" = None
    """The command before it in a pipe."""


def argument_words(arguments: Sequence[str]) -> list[Word]:
    """Return words that no shell reads, as if they were joined with spaces."""
    words: list[Word] = []
    place = 0
    for argument in arguments:
        words.append(Word(argument, [*range(place, place + len(argument))]))
        place += len(argument) + 1
    return words


def read_commands(text: str, opaque: re.Pattern[str], places: Sequence[int] | None = None) -> list[SimpleCommand]:
    """Return the simple commands in a text, including those in `$(…)` and backquotes.

    What matches `opaque` is part of a word, whatever characters it has. `places` replaces the places of the characters.
    """
    reader = _Reader(text, opaque, range(len(text)) if places is None else places)
    reader.read("", 0)
    return [command for command in reader.commands if command.words or command.here_string]


class _Reader:
    def __init__(self, text: str, opaque: re.Pattern[str], places: Sequence[int]) -> None:
        self._text = text
        self._opaque = opaque
        self._places = places
        self._at = 0
        self._word: Word | None = None
        self._command = SimpleCommand()
        self._redirection = ""
        self.commands = [self._command]

    def read(self, closing: str, depth: int) -> None:
        """Read commands up to the closing sign, or to the end."""
        text = self._text
        while self._at < len(text):
            sign = text[self._at]
            if sign == closing:
                self._end_command()
                self._at += 1
                return
            if self._read_opaque():
                continue
            if sign in " \t\r":
                self._end_word()
                self._at += 1
            elif sign in "\n;&|()":
                self._separate(sign)
            elif sign in "<>":
                self._redirect()
            elif sign == "#" and self._word is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            else:
                self._read_part(sign, depth)
        self._end_command()

    def _separate(self, sign: str) -> None:
        is_pipe = sign == "|" and not self._text.startswith("||", self._at)
        if self._text.startswith(("||", "&&", "|&"), self._at):
            self._at += 1
        self._at += 1
        before = self._end_command()
        if is_pipe:
            self._command.reads_from = before

    def _redirect(self) -> None:
        self._end_word()
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in "<>":
            self._at += 1
        if self._text.startswith("(", self._at):  # a process substitution
            return
        if self._text.startswith("&", self._at):  # 2>&1
            self._at += 1
        self._redirection = self._text[start : self._at]

    def _read_part(self, sign: str, depth: int) -> None:
        text = self._text
        if sign == "'" and (end := text.find("'", self._at + 1)) >= 0:
            self._start_word()
            while self._at + 1 < end:
                self._at += 1
                if self._read_opaque():
                    self._at -= 1
                else:
                    self._add()
            self._at = end + 1
        elif sign == '"' and text.find('"', self._at + 1) >= 0:
            self._read_quoted(depth)
        elif sign == "\\" and self._at + 1 < len(text):
            self._at += 1
            if text.startswith(("\n", "\r\n"), self._at):
                self._at += 1 + (text[self._at] == "\r")
            else:
                self._add()
                self._at += 1
        elif not self._read_expansion(sign, depth):
            self._add()
            self._at += 1

    def _read_quoted(self, depth: int) -> None:
        text = self._text
        self._start_word()
        self._at += 1
        while self._at < len(text) and text[self._at] != '"':
            sign = text[self._at]
            if self._read_opaque():
                continue
            if sign == "\\" and text[self._at + 1 : self._at + 2] in ('"', "\\", "$", "`"):
                self._at += 1
                self._add()
                self._at += 1
            elif not self._read_expansion(sign, depth):
                self._add()
                self._at += 1
        self._at += 1

    def _read_expansion(self, sign: str, depth: int) -> bool:
        """Read `$(…)`, a backquoted command or the `$` of a variable; return False for any other sign."""
        text = self._text
        if sign == "$" and text.startswith("$(", self._at) and depth < _MAX_DEPTH:
            self._read_inner(2, ")", depth)
        elif sign == "`" and depth < _MAX_DEPTH and text.find("`", self._at + 1) >= 0:
            self._read_inner(1, "`", depth)
        elif sign == "$" and _EXPANSION.match(text, self._at + 1):
            self._start_word().expansions.add(len(self._start_word().text))
            self._add()
            self._at += 1
        else:
            return False
        return True

    def _read_inner(self, skipped: int, closing: str, depth: int) -> None:
        """Read a command that is inserted into the word; a `$` stands for it there."""
        word = self._start_word()
        word.expansions.add(len(word.text))
        self._add()
        outer, redirection = self._command, self._redirection
        self._word, self._redirection = None, ""
        self._command = SimpleCommand()
        self.commands.append(self._command)
        self._at += skipped
        self.read(closing, depth + 1)
        self._command, self._word, self._redirection = outer, word, redirection

    def _read_opaque(self) -> bool:
        if self._text[self._at] != "[" or not (found := self._opaque.match(self._text, self._at)):
            return False
        while self._at < found.end():
            self._add()
            self._at += 1
        return True

    def _start_word(self) -> Word:
        if self._word is None:
            self._word = Word()
        return self._word

    def _add(self) -> None:
        word = self._start_word()
        word.text += self._text[self._at]
        word.places.append(self._places[self._at])

    def _end_word(self) -> None:
        if self._word is None:
            return
        if self._redirection == "<<<":
            self._command.here_string = self._word
        elif not self._redirection:
            self._command.words.append(self._word)
        self._word, self._redirection = None, ""

    def _end_command(self) -> SimpleCommand:
        self._end_word()
        ended = self._command
        self._redirection = ""
        self._command = SimpleCommand()
        self.commands.append(self._command)
        return ended
