"""What an answer is made of: parts of files, sentences that name them, and how both fit into a budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.excerpts import Extract, Extractor
from scrubjay.code_index.models import Span
from scrubjay.code_index.service import CodeService, Loaded, changed_files
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import Conflict

# Of a definition no more lines than these are shown, and so few around a use in a longer one.
LONGEST = 40
AROUND = 2
MOST_EVIDENCE = 20
MOST_NAMED = 6
# What an entry of evidence takes beside its texts: the names of its fields, numbers, the id of the content.
ENTRY_CHARACTERS = 300
# No more than this share of a budget goes to the sentences.
SENTENCES_SHARE = 0.4


def printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def tokens_of(text: str | int) -> int:
    """About how many tokens of a language model a text, or so many characters, take."""
    return -(-(text if isinstance(text, int) else len(text)) // 4)


class Item(NamedTuple):
    """Something that a sentence names, with the parts of files that say it."""

    text: str
    pieces: tuple[int, ...]


class Sentence(NamedTuple):
    """What is said. One without items says what there is not."""

    begin: str
    items: Sequence[Item] = ()
    more: int = 0
    """How many items there are beside these."""


@dataclass(slots=True)
class Piece:
    """Lines of a file that say something."""

    file: int
    first: int
    last: int
    relevance: float
    symbol: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A part of a file, as it is shown."""

    file: IndexedFile
    relevance: float
    """From 0 to 1."""
    extract: Extract
    symbol: str
    """The definition that it is in; empty when it is in none."""
    stale: bool = False
    """Whether the file has changed since it was indexed."""


class Pool:
    """Gathers parts of files. Parts that overlap are shown as one."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.pieces: list[Piece] = []

    def lines(self, file: int, first: int, last: int, relevance: float, symbol: int = -1) -> int:
        """Take these lines; the number by which sentences name them."""
        for place, piece in enumerate(self.pieces):
            if piece.file == file and piece.first <= first and last <= piece.last:
                piece.relevance = max(piece.relevance, relevance)
                return place
        self.pieces.append(Piece(file, first, min(last, first + LONGEST - 1), relevance, symbol))
        return len(self.pieces) - 1

    def symbol(self, symbol: int, relevance: float) -> int:
        """Take a definition."""
        symbols = self._loaded.corpus.symbols
        first, last = symbols.spans[symbol][2:].tolist()
        return self.lines(int(symbols.files[symbol]), first, last, relevance, symbol)

    def use(self, file: int, symbol: int, line: int, relevance: float) -> int:
        """Take a line with the definition that it is in, or if that is long, with a few lines around it."""
        first, last = max(1, line - AROUND), line + AROUND
        if symbol >= 0:
            start, end = self._loaded.corpus.symbols.spans[symbol][2:].tolist()
            first, last = (start, end) if end - start < LONGEST else (max(first, start), min(last, end))
        else:
            last = min(last, max(line, int(self._loaded.corpus.lines[file])))
        return self.lines(file, first, last, relevance, symbol)

    async def shown(
        self, code: CodeService, sentences: Sequence[Sentence], context_lines: int, token_budget: int
    ) -> "Shown":
        """The most relevant parts and what is said of them, within the budget."""
        pieces, joined = self._joined()
        # Of what is as relevant, what was named first comes first.
        named = list(dict.fromkeys(joined[place] for place in range(len(self.pieces))))
        order = sorted(named, key=lambda place: -pieces[place].relevance)
        whole = Shown([], [_rendered(sentence, joined) for sentence in sentences])
        left = token_budget - min(int(SENTENCES_SHARE * token_budget), tokens_of(whole.answer))
        contents: dict[int, bytes | None] = {}
        evidence: list[Evidence] = []
        numbers: dict[int, int] = {}
        truncated = len(order) > MOST_EVIDENCE or any(sentence.more for sentence in sentences)
        changed: set[str] = set()
        for place in order[:MOST_EVIDENCE]:
            piece = pieces[place]
            file = self._loaded.corpus.files[piece.file]
            if piece.file not in contents:
                contents[piece.file] = await _content(code, self._loaded, file)
            content = contents[piece.file]
            if content is None:
                changed.add(printable(file.path))
                continue
            fitting, cut = _fitting(content, piece, context_lines, left - tokens_of(self._head(file)))
            truncated = truncated or cut
            if fitting is None:
                continue
            left -= _cost(fitting) + tokens_of(self._head(file))
            name = self._loaded.names.qualified(piece.symbol) if piece.symbol >= 0 else ""
            evidence.append(Evidence(file, round(min(1.0, piece.relevance), 4), fitting, name))
            numbers[place] = len(evidence)
        now = await anyio.to_thread.run_sync(changed_files, self._loaded, [one.file for one in evidence])
        evidence = [replace(one, stale=one.file.path in now) for one in evidence]
        numbers = {place: numbers[own] for place, own in joined.items() if own in numbers}
        said: list[str] = []
        left = token_budget - sum(_cost(one.extract) + tokens_of(self._head(one.file)) for one in evidence)
        for sentence in sentences:
            text = _rendered(sentence, numbers)
            if text and tokens_of(text) <= left:
                left -= tokens_of(text) + 1
                said.append(text)
            elif text or any(piece not in numbers for item in sentence.items for piece in item.pieces):
                truncated = True
        return Shown(evidence, said, truncated=truncated, changed=sorted(changed))

    def _joined(self) -> tuple[list[Piece], dict[int, int]]:
        """Parts that overlap as one, and which of these each was taken into."""
        joined: list[Piece] = []
        into: dict[int, int] = {}
        for place, piece in sorted(enumerate(self.pieces), key=lambda one: (one[1].file, one[1].first)):
            before = joined[-1] if joined else None
            if (
                before is not None
                and before.file == piece.file
                and piece.first <= before.last
                and max(before.last, piece.last) - before.first < LONGEST
            ):
                if piece.last > before.last:
                    before.symbol = -1
                before.last = max(before.last, piece.last)
                before.relevance = max(before.relevance, piece.relevance)
            else:
                joined.append(replace(piece))
            into[place] = len(joined) - 1
        return joined, into

    def _head(self, file: IndexedFile) -> int:
        return ENTRY_CHARACTERS + 2 * len(file.path) + len(self._loaded.record.root)


@dataclass(frozen=True, slots=True)
class Shown:
    """Evidence, and what is said of it."""

    evidence: Sequence[Evidence]
    said: Sequence[str]
    truncated: bool = False
    """Whether something was left out."""
    changed: Sequence[str] = ()
    """Files that are not as they were indexed, so that nothing of them can be shown."""

    @property
    def answer(self) -> str:
        return " ".join(self.said)


def _rendered(sentence: Sentence, numbers: Mapping[int, int]) -> str:
    """The sentence with what of it has evidence; empty when all that it names was left out."""
    if not sentence.items:
        return sentence.begin
    kept = [item for item in sentence.items if all(piece in numbers for piece in item.pieces)]
    if not kept:
        return ""
    named = [
        f"{item.text} {''.join(f'[{number}]' for number in dict.fromkeys(numbers[piece] for piece in item.pieces))}"
        for item in kept[:MOST_NAMED]
    ]
    more = sentence.more + len(sentence.items) - len(named)
    if more:
        named.append(f"{more} more")
    joined = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{sentence.begin} {joined}."


async def _content(code: CodeService, loaded: Loaded, file: IndexedFile) -> bytes | None:
    try:
        return await code.content(loaded, file)
    except Conflict:
        return None


def _cost(extract: Extract) -> int:
    return tokens_of(len(extract.before) + len(extract.text) + len(extract.after))


def _fitting(content: bytes, piece: Piece, context_lines: int, tokens: int) -> tuple[Extract | None, bool]:
    """These lines with what is around them, or without, or only the first of them; and whether anything was cut."""
    lines = content.split(b"\n")
    first, last = piece.first - 1, min(piece.last, len(lines))
    if first >= last:
        return None, False
    start = sum(len(line) + 1 for line in lines[:first])

    def end_of(last: int) -> int:
        return start + sum(len(line) + 1 for line in lines[first:last]) - 1

    extractor = Extractor(content, start, end_of(last), context_lines)

    def extract(last: int, around: int) -> Extract:
        return extractor.extract(Span(start, end_of(last), first + 1, last), around)

    if _cost(whole := extract(last, context_lines)) <= tokens:
        return whole, False
    while last > first:
        if _cost(shorter := extract(last, 0)) <= tokens:
            return shorter, True
        last = first + (last - first) // 2
    return None, True
