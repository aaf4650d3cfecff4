"""Collect the evidence and sentences of an answer, and fit both into a token budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import anyio.to_thread

from scrubjay.code_index.excerpts import Excerpt, ExcerptCutter
from scrubjay.code_index.models import Span
from scrubjay.code_index.service import CodeService, LoadedIndex, changed_files
from scrubjay.code_index.store import IndexedFile
from scrubjay.core.errors import Conflict

# Lines shown of a definition, and lines around a use within a longer one.
MAX_LINES = 40
CONTEXT_LINES = 2
MAX_EVIDENCE = 20
MAX_NAMED_ITEMS = 6
# Size of an evidence entry without its texts: field names, numbers, content id.
ENTRY_CHARACTERS = 300
# Largest share of the budget for sentences.
SENTENCES_SHARE = 0.4


def printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def tokens_of(text: str | int) -> int:
    """Estimate the tokens of a text, or of a number of characters."""
    return -(-(text if isinstance(text, int) else len(text)) // 4)


class Item(NamedTuple):
    """One item of a sentence, with the numbers of the evidence that supports it."""

    text: str
    pieces: tuple[int, ...]


class Sentence(NamedTuple):
    """A sentence of the answer; one without items states an absence."""

    begin: str
    items: Sequence[Item] = ()
    more: int = 0
    """Number of further items that are not listed."""


@dataclass(slots=True)
class EvidenceRange:
    """A range of lines used as evidence."""

    file: int
    first: int
    last: int
    relevance: float
    symbol: int


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """A part of a file as shown in the answer."""

    file: IndexedFile
    relevance: float
    """0 to 1."""
    excerpt: Excerpt
    symbol: str
    """The enclosing definition; empty if there is none."""
    stale: bool = False
    """Whether the file changed since it was indexed."""


class EvidencePool:
    """Collects ranges of evidence. Overlapping ranges are merged."""

    def __init__(self, loaded: LoadedIndex) -> None:
        self._loaded = loaded
        self.pieces: list[EvidenceRange] = []

    def lines(self, file: int, first: int, last: int, relevance: float, symbol: int = -1) -> int:
        """Add lines, and return the number by which items refer to them."""
        for place, piece in enumerate(self.pieces):
            if piece.file == file and piece.first <= first and last <= piece.last:
                piece.relevance = max(piece.relevance, relevance)
                return place
        self.pieces.append(EvidenceRange(file, first, min(last, first + MAX_LINES - 1), relevance, symbol))
        return len(self.pieces) - 1

    def symbol(self, symbol: int, relevance: float) -> int:
        """Add a definition, and return its number."""
        symbols = self._loaded.corpus.symbols
        first, last = symbols.spans[symbol][2:].tolist()
        return self.lines(int(symbols.files[symbol]), first, last, relevance, symbol)

    def use(self, file: int, symbol: int, line: int, relevance: float) -> int:
        """Add a use with its enclosing definition, or with a few lines around it if that is long; return its number."""
        first, last = max(1, line - CONTEXT_LINES), line + CONTEXT_LINES
        if symbol >= 0:
            start, end = self._loaded.corpus.symbols.spans[symbol][2:].tolist()
            first, last = (start, end) if end - start < MAX_LINES else (max(first, start), min(last, end))
        else:
            last = min(last, max(line, int(self._loaded.corpus.lines[file])))
        return self.lines(file, first, last, relevance, symbol)

    async def render(
        self, code: CodeService, sentences: Sequence[Sentence], context_lines: int, token_budget: int
    ) -> "RenderedAnswer":
        """Render the most relevant evidence and the sentences it supports, within the budget."""
        pieces, joined = self._merge()
        # Equally relevant ranges keep the order in which they were added.
        named = list(dict.fromkeys(joined[place] for place in range(len(self.pieces))))
        order = sorted(named, key=lambda place: -pieces[place].relevance)
        whole = RenderedAnswer([], [_render_sentence(sentence, joined) for sentence in sentences])
        left = token_budget - min(int(SENTENCES_SHARE * token_budget), tokens_of(whole.answer))
        contents: dict[int, bytes | None] = {}
        evidence: list[AnswerEvidence] = []
        numbers: dict[int, int] = {}
        truncated = len(order) > MAX_EVIDENCE or any(sentence.more for sentence in sentences)
        changed: set[str] = set()
        for place in order[:MAX_EVIDENCE]:
            piece = pieces[place]
            file = self._loaded.corpus.files[piece.file]
            if piece.file not in contents:
                contents[piece.file] = await _content(code, self._loaded, file)
            content = contents[piece.file]
            if content is None:
                changed.add(printable(file.path))
                continue
            fitting, cut = _fit(content, piece, context_lines, left - tokens_of(self._head(file)))
            truncated = truncated or cut
            if fitting is None:
                continue
            left -= _cost(fitting) + tokens_of(self._head(file))
            name = self._loaded.names.qualified(piece.symbol) if piece.symbol >= 0 else ""
            evidence.append(AnswerEvidence(file, round(min(1.0, piece.relevance), 4), fitting, name))
            numbers[place] = len(evidence)
        now = await anyio.to_thread.run_sync(changed_files, self._loaded, [one.file for one in evidence])
        evidence = [replace(one, stale=one.file.path in now) for one in evidence]
        numbers = {place: numbers[own] for place, own in joined.items() if own in numbers}
        texts: list[str] = []
        left = token_budget - sum(_cost(one.excerpt) + tokens_of(self._head(one.file)) for one in evidence)
        for sentence in sentences:
            text = _render_sentence(sentence, numbers)
            if text and tokens_of(text) <= left:
                left -= tokens_of(text) + 1
                texts.append(text)
            elif text or any(piece not in numbers for item in sentence.items for piece in item.pieces):
                truncated = True
        return RenderedAnswer(evidence, texts, truncated=truncated, changed=sorted(changed))

    def _merge(self) -> tuple[list[EvidenceRange], dict[int, int]]:
        """Merge overlapping ranges, and map each number to its merged range."""
        joined: list[EvidenceRange] = []
        into: dict[int, int] = {}
        for place, piece in sorted(enumerate(self.pieces), key=lambda one: (one[1].file, one[1].first)):
            before = joined[-1] if joined else None
            if (
                before is not None
                and before.file == piece.file
                and piece.first <= before.last
                and max(before.last, piece.last) - before.first < MAX_LINES
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
class RenderedAnswer:
    """The evidence and sentences that fit the budget."""

    evidence: Sequence[AnswerEvidence]
    sentences: Sequence[str]
    truncated: bool = False
    """Whether something was omitted."""
    changed: Sequence[str] = ()
    """Changed files whose indexed content is no longer available."""

    @property
    def answer(self) -> str:
        return " ".join(self.sentences)


def _render_sentence(sentence: Sentence, numbers: Mapping[int, int]) -> str:
    """Return the sentence with the items whose evidence is shown; empty if none is."""
    if not sentence.items:
        return sentence.begin
    kept = [item for item in sentence.items if all(piece in numbers for piece in item.pieces)]
    if not kept:
        return ""
    named = [
        f"{item.text} {''.join(f'[{number}]' for number in dict.fromkeys(numbers[piece] for piece in item.pieces))}"
        for item in kept[:MAX_NAMED_ITEMS]
    ]
    more = sentence.more + len(sentence.items) - len(named)
    if more:
        named.append(f"{more} more")
    joined = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{sentence.begin} {joined}."


async def _content(code: CodeService, loaded: LoadedIndex, file: IndexedFile) -> bytes | None:
    try:
        return await code.content(loaded, file)
    except Conflict:
        return None


def _cost(extract: Excerpt) -> int:
    return tokens_of(len(extract.before) + len(extract.text) + len(extract.after))


def _fit(content: bytes, piece: EvidenceRange, context_lines: int, tokens: int) -> tuple[Excerpt | None, bool]:
    """Return the excerpt that fits, and whether it was cut: context goes first, then lines from the end."""
    lines = content.split(b"\n")
    first, last = piece.first - 1, min(piece.last, len(lines))
    if first >= last:
        return None, False
    start = sum(len(line) + 1 for line in lines[:first])

    def end_of(last: int) -> int:
        return start + sum(len(line) + 1 for line in lines[first:last]) - 1

    extractor = ExcerptCutter(content, start, end_of(last), context_lines)

    def extract(last: int, around: int) -> Excerpt:
        return extractor.extract(Span(start, end_of(last), first + 1, last), around)

    if _cost(whole := extract(last, context_lines)) <= tokens:
        return whole, False
    while last > first:
        if _cost(shorter := extract(last, 0)) <= tokens:
            return shorter, True
        last = first + (last - first) // 2
    return None, True
