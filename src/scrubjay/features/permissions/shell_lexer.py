"""Split shell text into simple commands, as bash, zsh and fish would read it.

Where the three shells disagree, or the text is incomplete, the script has a `problem`: its commands are those of the
most likely reading, which is not enough to allow anything. Substitutions, subshells, here-documents and the
bodies of loops and functions are part of the list of commands.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from scrubjay.core.lazy_regex import lazy_pattern

MAX_DEPTH = 20


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text, for tables of names."""
    return frozenset(text.split())


# Words before a command that change nothing about which command runs; the second line is of fish and zsh.
_KEYWORDS = split_words(
    "if then elif else fi while until do done esac { } ! "
    "begin end and or not always"
)  # fmt: skip
_PLAIN = lazy_pattern(r"[^\s'\"\\$`(){}<>;&|*?\[\x00-\x1f\x7f]+")
_BLANK = lazy_pattern(r"(?:[ \t]|\\\n)+")
_REDIRECT = lazy_pattern(r"\d*(?:&>>?|<<<|<<-?|<>|<&|>>|>\||>&|[<>])")
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_LITERAL_BRACES = lazy_pattern(r"\{(?!\.\.)(?:(?!\.\.)[\w.^~@-])*\}")
# In zsh, signs before the name change how the value is split: `$=x`, `$~x`, `$^x`, `$+x`, `$#x`.
_VARIABLE = lazy_pattern(r"\$(?:[=~^+#]*[A-Za-z_]\w*|[0-9@*#?$!-])")
# `${...}` up to its operator, if it neither assigns nor evaluates: other forms (`${x@P}`, `${!x}`, `${x[y]}`, `${x:y}`,
# `${ command; }`) run the commands that a value contains.
_PARAMETER = lazy_pattern(
    r"\$\{#?(?:[A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[(?:[@*]|\d+)\])?"
    r"(?=\}|:?[-+?]|[#%/^,]|:\s*-?\d+(?::\s*-?\d+)?\}|@[QEULuAaKk]\})"
)
# A subscript of zsh or fish that is not evaluated as arithmetic, which can run commands.
_SUBSCRIPT = lazy_pattern(r"\[[\d\s,.*@+-]*\]")
_DOUBLE_QUOTED = lazy_pattern(r"[^\"\\$`]+")
_ARITHMETIC = lazy_pattern(r"\$\(\([\d\s+*/%-]*\)\)")
# Escapes that fish decodes and the other shells do not.
_FISH_ESCAPES = frozenset("abcefnrtuvxUX01234567")
# Words after which a keyword begins a command: `time if ...`, `coproc NAME while ...`.
_PREFIXES = frozenset(("time", "coproc"))
_MAX_PREFIX = 3
# The rest of these commands is data: a list of values or patterns.
_HEADERS = frozenset(("for", "foreach", "select", "case", "switch", "function"))
_COMMENT_RISKS = lazy_pattern(r"[;&|`]|\$\(")


@dataclass(slots=True)
class ShellWord:
    """One word after quotes and escapes are removed."""

    text: str
    """The value; of a dynamic word, the beginning that is known."""
    raw: str = ""
    """The word as written."""
    dynamic: bool = False
    """True if the shell computes a part of it."""
    wild: bool = False
    """True if it may become any number of words, or an option."""

    @property
    def is_option(self) -> bool:
        return self.text.startswith("-") and len(self.text) > 1


@dataclass(slots=True)
class Redirect:
    """A redirection of input or output."""

    operator: str
    target: ShellWord


@dataclass(slots=True)
class ShellCommand:
    """One simple command."""

    words: list[ShellWord] = field(default_factory=list[ShellWord])
    assignments: list[ShellWord] = field(default_factory=list[ShellWord])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    is_piped: bool = False
    """True if its standard input is the output of another command."""
    input_text: ShellWord | None = None
    """Its here-document or here-string."""
    is_text: bool = False
    """True for `"$(cat <<'EOF' ...)"`, which is only a way to write a text."""


@dataclass(slots=True)
class Script:
    """The simple commands of a text."""

    commands: list[ShellCommand] = field(default_factory=list[ShellCommand])
    problem: str | None = None
    """Why the text cannot be read with certainty."""
    inner_texts: set[str] = field(default_factory=set[str])
    """The script texts in arguments that were read already."""


def parse_script(text: str, depth: int = 0) -> Script:
    """Return the simple commands of shell text, those in substitutions included."""
    script = Script()
    if depth > MAX_DEPTH:
        script.problem = "it is nested too deeply"
    else:
        _Parser(text, script, depth).parse(None)
    return script


def parse_substitutions(word: ShellWord, depth: int = 0) -> Script:
    """Return the commands of the substitutions in a word that a shell evaluates again, without their problems."""
    script = Script()
    if depth <= MAX_DEPTH and ("$(" in word.text or "`" in word.text):
        parser = _Parser(f'{word.text}"', script, depth)
        parser.double_quoted(ShellWord(""), is_document=True)
        script.problem = None
    return script


class _Parser:
    """A recursive descent parser; `script` collects the result."""

    def __init__(self, text: str, script: Script, depth: int) -> None:
        self._text = text
        self._place = 0
        self._script = script
        self._depth = depth
        self._waiting: list[tuple[ShellCommand, str, bool, bool]] = []

    def parse(self, closer: str | None) -> None:
        """Parse commands up to `closer`, or to the end of the text."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail("it is nested too deeply")
            self._place = len(self._text)
            return
        _CommandList(self, closer).parse()
        self._depth -= 1

    # -- access of `_CommandList` --------------------------------------------------------------------------

    def peek(self, length: int = 1) -> str:
        return self._text[self._place : self._place + length]

    def advance(self, length: int) -> None:
        self._place += length

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Return and skip what matches here, or None."""
        match = pattern.match(self._text, self._place)
        if match is None:
            return None
        self._place = match.end()
        return match[0]

    def fail(self, problem: str) -> None:
        """Note why the text cannot be read with certainty; the first reason stays."""
        self._script.problem = self._script.problem or problem

    def add(self, command: ShellCommand) -> None:
        self._script.commands.append(command)

    def skip_comment(self) -> None:
        end = self._text.find("\n", self._place)
        end = len(self._text) if end < 0 else end
        if _COMMENT_RISKS.search(self._text, self._place, end):
            self.fail("a comment contains operators, and an interactive shell may run them")
        self._place = end

    def expect_here_document(self, command: ShellCommand, operator: str) -> None:
        """Note the delimiter of a here-document, whose text begins in the next line."""
        self.take(_BLANK)
        delimiter = self.word()
        if delimiter is None or delimiter.dynamic or "\\\n" in delimiter.raw:
            self.fail("a here-document has no certain end")
            return
        is_quoted = delimiter.raw != delimiter.text
        self._waiting.append((command, delimiter.text, operator.endswith("-"), is_quoted))

    def read_here_documents(self) -> None:
        """Read the texts of all here-documents of the line that has ended."""
        waiting, self._waiting = self._waiting, []
        for command, delimiter, is_indented, is_quoted in waiting:
            lines: list[str] = []
            joined = ""
            while self._place < len(self._text):
                end = self._text.find("\n", self._place)
                end = len(self._text) if end < 0 else end
                line = self._text[self._place : end]
                self._place = end + 1
                unindented = line.lstrip("\t") if is_indented else line
                is_end = unindented == delimiter
                if unindented.startswith(delimiter) and ")" in unindented:
                    self.fail("shells disagree on where a here-document ends")
                if not is_quoted:
                    is_continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
                    joined += unindented[:-1] if is_continued else unindented
                    if not is_continued and (joined == delimiter) != is_end:
                        self.fail("a line of a here-document is continued at its end")
                    joined = joined if is_continued else ""
                if is_end:
                    break
                lines.append(line)
            else:
                self.fail("a here-document has no end")
            self._place = min(self._place, len(self._text))
            body = "\n".join(lines)
            word = ShellWord(body, body)
            if not is_quoted:
                inner = _Parser(f'{body}"', self._script, self._depth)
                inner.double_quoted(word, is_document=True)
            command.input_text = word

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    # -- words ---------------------------------------------------------------------------------------------

    def word(self) -> ShellWord | None:
        """Return the word that begins here; None if there is none."""
        start, word, depth = self._place, ShellWord(""), 0
        while self._place < len(self._text):
            if plain := self.take(_PLAIN):
                self._append(word, plain)
                continue
            letter = self._text[self._place]
            if letter in " \t\n<>;&|()":
                if letter in "<>" and self.peek(2) in ("<(", ">("):
                    self.substitution(word)
                    continue
                break
            match letter:
                case "'":
                    self._single_quoted(word)
                case '"':
                    self._place += 1
                    self.double_quoted(word)
                case "\\":
                    self._escape(word)
                case "$":
                    self._dollar(word, is_quoted=False)
                case "`":
                    self._backticks(word)
                case "{":
                    if braces := self.take(_LITERAL_BRACES):
                        self._append(word, braces)
                        continue
                    depth += 1
                    self._expand(word, is_wild=word.dynamic or not word.text or word.text.startswith("-"))
                    self._place += 1
                case "}":
                    depth -= 1
                    self._append(word, "}")
                    self._place += 1
                case "*" | "?" | "[":
                    self._expand_glob(word)
                case _:
                    self.fail("it contains a control character")
                    self._append(word, letter)
                    self._place += 1
        if self._place == start:
            return None
        word.raw = self._text[start : self._place]
        if word.raw in ("[", "[[", "{", "}"):
            return ShellWord(word.raw, word.raw)
        if depth != 0:
            self.fail("a brace is not closed")
        if word.dynamic and (not word.text or word.text.startswith("-")):
            word.wild = True
        return word

    def substitution(self, word: ShellWord, *, is_quoted: bool = False) -> None:
        """Parse `$(`, `<(` or `>(` up to its end."""
        start, first = self._place, len(self._script.commands)
        waiting, self._waiting = self._waiting, []
        self._place += 2
        self.parse(")")
        if self._waiting or (waiting and "\n" in self._text[start : self._place]):
            self.fail("shells disagree on where a here-document begins")
        self._waiting = waiting
        if is_quoted and (text := _printed_text(self._script.commands[first:])) is not None:
            self._append(word, text)
        else:
            self._expand(word, is_wild=True)

    def double_quoted(self, word: ShellWord, *, is_document: bool = False) -> None:
        """Append the text up to the closing quote."""
        if is_document:
            word.text = ""
        while self._place < len(self._text):
            if plain := self.take(_DOUBLE_QUOTED):
                self._append(word, plain)
                continue
            match self._text[self._place]:
                case '"':
                    if not is_document or self._place == len(self._text) - 1:
                        self._place += 1
                        return
                    self._append(word, '"')
                    self._place += 1
                case "\\":
                    follower = self._text[self._place + 1 : self._place + 2]
                    is_escape = follower in ("$", "`", "\\", "\n") or (follower == '"' and not is_document)
                    self._append(word, ("" if follower == "\n" else follower) if is_escape else "\\" + follower)
                    self._place += 2
                    if is_document and self._place >= len(self._text):
                        return
                case "$":
                    self._dollar(word, is_quoted=True)
                case _:
                    self._backticks(word)
        if not is_document:
            self.fail("a quote is not closed")

    def _single_quoted(self, word: ShellWord) -> None:
        end = self._text.find("'", self._place + 1)
        if end < 0:
            self.fail("a quote is not closed")
            end = len(self._text)
        quoted = self._text[self._place + 1 : end]
        if quoted.endswith("\\"):
            self.fail("shells disagree on where a quoted text ends")
        self._append(word, quoted)
        self._place = end + 1

    def _escape(self, word: ShellWord) -> None:
        follower = self._text[self._place + 1 : self._place + 2]
        if not follower:
            self.fail("the last character is an escape")
        elif follower in _FISH_ESCAPES or (follower.isspace() and self.peek(3)[2:] == "#"):
            self.fail("shells disagree on an escaped character")
        self._append(word, "" if follower == "\n" else follower)
        self._place += 2

    def _dollar(self, word: ShellWord, *, is_quoted: bool) -> None:
        if self.take(_ARITHMETIC):
            self._expand(word, is_wild=True)
        elif variable := self.take(_VARIABLE):
            self._expand(word, is_wild=not is_quoted or variable[1] in "@=~^+")
            if self.peek() == "[" and not self.take(_SUBSCRIPT):
                self.fail("a subscript can run commands")
            elif self.peek(2) == "\\\n":
                self.fail("a line break stands within an expansion")
        elif self.peek(2) == "$(":
            if self.peek(3) == "$((":
                self.fail("arithmetic can run commands")
            self.substitution(word, is_quoted=is_quoted)
        elif self.peek(2) == "${":
            if not self.take(_PARAMETER):
                self.fail("an expansion of this form can run commands")
                self._place += 2
            self._parameter()
            self._expand(word, is_wild=True)
        elif self.peek(2) == "$'" and not is_quoted:
            self.fail("shells disagree on $'...'")
            match = self.take(_ANSI_QUOTED)
            if match is None or "\\" in match:
                self._expand(word, is_wild=True)
                self._place += 0 if match else 2
            else:
                self._append(word, match[2:-1])
        else:
            if self.peek(2) == "$[" or (self.peek(2) == '$"' and not is_quoted):
                self.fail('shells disagree on $[...] and on $"..."')
            elif self.peek(3) == "$\\\n":
                self.fail("a line break stands within an expansion")
            self._append(word, "$")
            self._place += 1

    def _parameter(self) -> None:
        """Skip the rest of `${...}`; the commands in it are part of the script."""
        inner = ShellWord("")
        self._depth += 1
        while self._place < len(self._text) and self._depth <= MAX_DEPTH:
            match self._text[self._place]:
                case "}":
                    self._place += 1
                    self._depth -= 1
                    return
                case "\\":
                    self._place += 2
                case "$":
                    self._dollar(inner, is_quoted=True)
                case "`":
                    self._backticks(inner)
                case "'" | '"' | "(":
                    self.fail("an expansion contains quotes or parentheses")
                    self._place += 1
                case _:
                    self._place += 1
        self.fail("an expansion is not closed")

    def _backticks(self, word: ShellWord) -> None:
        match = self.take(_BACKTICKS)
        if match is None:
            self.fail("a backtick is not closed")
            self._place += 1
        else:
            if '\\"' in match:
                self.fail("shells disagree on escaped quotes between backticks")
            inner = parse_script(_BACKTICK_ESCAPE.sub(r"\1", match[1:-1]), self._depth + 1)
            self._script.commands += inner.commands
            if inner.problem:
                self.fail(inner.problem)
        self._expand(word, is_wild=True)

    def _expand_glob(self, word: ShellWord) -> None:
        if word.text == "~":
            self.fail("zsh runs a function for ~[...]")
        self._expand(word, is_wild=False)
        self._place += 1

    @staticmethod
    def _expand(word: ShellWord, *, is_wild: bool) -> None:
        """Note that the shell computes the next part of the word."""
        word.dynamic = True
        word.wild = word.wild or is_wild

    @staticmethod
    def _append(word: ShellWord, text: str) -> None:
        if not word.dynamic:
            word.text += text


def _printed_text(commands: Sequence[ShellCommand]) -> str | None:
    """Return what the commands of a substitution print if they are one `cat` of a here-document; agents write so."""
    if len(commands) != 1:
        return None
    (command,) = commands
    is_cat = [word.raw for word in command.words] == ["cat"] and not command.assignments and not command.redirects
    if not is_cat or command.is_piped or command.input_text is None or command.input_text.dynamic:
        return None
    command.is_text = True
    return command.input_text.text.rstrip("\n")


_ANSI_QUOTED = lazy_pattern(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_BACKTICKS = lazy_pattern(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_BACKTICK_ESCAPE = lazy_pattern(r"\\([`\\$])")


class _CommandList:
    """A list of commands with the separators between them."""

    def __init__(self, parser: _Parser, closer: str | None) -> None:
        self._parser = parser
        self._closer = closer
        self._command = ShellCommand()
        self._is_header = False

    def parse(self) -> None:
        parser = self._parser
        while parser.peek():
            parser.take(_BLANK)
            letter = parser.peek()
            if letter == self._closer and letter:
                parser.advance(1)
                self._finish()
                return
            if not letter:
                break
            if letter == "#":
                parser.skip_comment()
            elif letter in "\n;&|" and parser.peek(2) != "&>":
                self._separate()
            elif parser.peek(2) not in ("<(", ">(") and (operator := parser.take(_REDIRECT)):
                self._redirect(operator)
            elif letter == "(":
                self._parenthesis()
            elif letter == ")":
                parser.fail("a parenthesis is not opened")
                parser.advance(1)
                self._finish()
            elif word := parser.word():
                if parser.peek() in ("<", ">") and _DESCRIPTOR_VARIABLE.fullmatch(word.raw):
                    parser.fail("shells disagree on a variable for a file descriptor")
                else:
                    self._add(word)
        if self._closer is not None:
            parser.fail("a parenthesis is not closed")
        if parser.is_waiting:
            parser.fail("a here-document has no end")
        self._finish()

    def _separate(self) -> None:
        operator = self._parser.take(_SEPARATOR) or ""
        is_pipe = operator in ("|", "|&", "&|")
        self._finish()
        self._command.is_piped = is_pipe and operator != "&|"
        if operator == "\n":
            self._parser.read_here_documents()

    def _redirect(self, operator: str) -> None:
        operator = operator.lstrip("0123456789")
        if operator in ("<<", "<<-"):
            self._parser.expect_here_document(self._command, operator)
            return
        self._parser.take(_BLANK)
        target = self._parser.word()
        if target is None:
            self._parser.fail("a redirection has no target")
            target = ShellWord("")
        if operator == "<<<":
            self._command.input_text = target
        else:
            self._command.redirects.append(Redirect(operator, target))

    def _parenthesis(self) -> None:
        """Parse a subshell; elsewhere parentheses mean something else in each shell."""
        if self._command.words or self._command.assignments or self._parser.peek(2) == "((":
            self._parser.fail("parentheses mean something else in each shell")
            self._command.words.append(ShellWord("", dynamic=True, wild=True))
        self._parser.advance(1)
        self._finish()
        self._parser.parse(")")

    def _add(self, word: ShellWord) -> None:
        command, parser = self._command, self._parser
        if command.words:
            if word.raw in ("{", "}"):
                parser.fail("a brace stands between words")
                self._finish()
            elif self._begins_command(word):
                self._finish()
            else:
                command.words.append(word)
                if word.raw == "]]" and command.words[0].raw == "[[":
                    self._finish()
        elif not command.assignments and word.raw in _KEYWORDS:
            return
        elif _ASSIGNMENT.match(word.raw):
            command.assignments.append(word)
        else:
            if word.raw == "function":
                parser.fail("it defines a function")
            if word.raw.startswith("!"):
                parser.fail("an interactive shell replaces `!` by an earlier command")
            self._is_header = word.raw in _HEADERS
            command.words.append(word)

    def _begins_command(self, word: ShellWord) -> bool:
        """Return True for the `in` of `case x in`, and for a keyword after `time` or `coproc`."""
        words = self._command.words
        if self._is_header:
            return word.raw == "in" and words[0].raw == "case"
        return word.raw in _KEYWORDS and words[0].raw in _PREFIXES and len(words) <= _MAX_PREFIX

    def _finish(self) -> None:
        """End the current command."""
        command, is_piped = self._command, False
        if self._is_header and (command.redirects or command.input_text):
            self._parser.fail("a list of values has a redirection")
        if not self._is_header and (command.words or command.assignments or command.redirects):
            self._parser.add(command)
        elif self._is_header:
            is_piped = command.is_piped
        self._is_header = False
        self._command = ShellCommand(is_piped=is_piped)


_DESCRIPTOR_VARIABLE = lazy_pattern(r"\{\w+\}")
_SEPARATOR = lazy_pattern(r"\n|;;&|;;|;&|;\||;|&&|&!|&\||&|\|\||\|&|\|")


def words_of(texts: Sequence[str]) -> list[ShellWord]:
    """Return words with these values, as a program receives them."""
    return [ShellWord(text, text) for text in texts]
