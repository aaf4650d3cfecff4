"""Split the turns of a session into utterances: sentences, clauses and list items, with what introduces them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrubjay.core.lazy_regex import lazy_pattern
from scrubjay.search_index.terms import significant_terms

# A clause after a semicolon is an utterance of its own in sentences longer than this: one of both may not hold later.
MIN_SPLIT_LENGTH = 90
MAX_LENGTH = 280

FENCED = lazy_pattern(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_LINK = lazy_pattern(r"!?\[([^\]]+)\]\([^)]*\)")
_TAG = lazy_pattern(
    r"</?(?:a|b|i|u|s|p|br|hr|em|strong|small|mark|del|ins|code|pre|kbd|span|div|details|summary|sub|sup|ul|ol|li|img|h[1-6]|"
    r"table|thead|tbody|tr|td|th)(?:\s[^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
_EMPHASIS = lazy_pattern(r"\*\*|__|(?<![\w*])\*(?=\w)|(?<=[\w.!?])\*(?![\w*])")
_HEADING = lazy_pattern(r"^\s*#{1,6}\s+(.+?)\s*#*$|^\s*\*\*([^*]{2,80}?)\*\*:?\s*$")
_ITEM = lazy_pattern(r"^\s*(?:[-*+\u2022\u2013]|\(?\d{1,2}[.)])\s+(\[[ xX]\]\s+)?(.*)$")
_ROW = lazy_pattern(r"^\s*\|(.+?)\|?\s*$")
_RULER = lazy_pattern(r"^\s*\|?[\s:|-]*-{2,}[\s:|-]*$")
_RESULT_LINE = lazy_pattern(
    r"\b\d+ (?:passed|failed|tests?|checks?|errors?|warnings?|examples|failures|skipped)\b|\bsuccessful(?:ly)?\b|"
    r"^\W*(?:OK|PASS(?:ED)?|FAIL(?:ED|URE)?|SUCCESS)\b",
)
MAX_OUTPUT_LINES, MAX_OUTPUT_LINE = 3, 120
_QUOTED = lazy_pattern(r"^\s*>+\s?")
# "Still open:" at the end of a line introduces the next block; "Open: the badge" is the label of its sentence.
_INTRODUCTION = lazy_pattern(r"(?:^|(?<=[.!?]\s))([^.!?]{2,90}):\s*$")
_LABEL = lazy_pattern(r"^([^\W\d_][\w'\u2019 /-]{1,30}?):\s+(?=\S)")
MAX_LABEL_WORDS = 4
MIN_INTRODUCTION_WORDS = 5
_SENTENCE_END = lazy_pattern(
    r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[`]*[^\W\d_a-z])|(?<=[.!?])\s+(?=[`\d])|(?<=[\u3002\uff01\uff1f])"
)
# People write chat messages without capitals.
_CHAT_SENTENCE_END = lazy_pattern(
    r"(?<=[^\W\d_]{2}[.!?])[\"'\u2019)]*\s+(?=\w)|(?<=\d[!?])\s+|(?<=[.!?][.!?])\s+|(?<=[\u3002\uff01\uff1f])"
)
_ABBREVIATED = lazy_pattern(r"\b(?:e\.g|i\.e|etc|vs|cf|Dr|Mr|Mrs|Ms|No|approx|incl|resp|bzw|z\.B|d\.h|ca)\.$")
_SEMICOLON = lazy_pattern(r";\s+(?=\S)")
OPEN_BOX, DONE_BOX = "open", "done"


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence, a clause or a list item of a prompt or a response."""

    turn: int
    position: int
    """Place in the session."""
    text: str
    by_user: bool
    lead: str
    """The heading or introduction of its block, or its own label; empty without one."""
    is_item: bool
    line: int
    """Line within its text: utterances of one paragraph share it."""
    sentence: int
    """Sentence within its text: clauses of one sentence share it."""
    terms: frozenset[str]

    @property
    def words(self) -> int:
        return len(self.text.split())


class _Sentence(NamedTuple):
    lead: str
    text: str
    is_item: bool
    line: int


def split_utterances(prompts_and_responses: Sequence[tuple[str, str]]) -> list[Utterance]:
    """Return the utterances of a session in their order; code blocks and tables are left out."""
    found: list[Utterance] = []
    for turn, texts in enumerate(prompts_and_responses):
        for by_user, text in zip((True, False), texts, strict=True):
            for number, sentence in enumerate(_sentences(text, is_chat=by_user)):
                for clause in _clauses(sentence.text):
                    found.append(
                        Utterance(
                            turn=turn,
                            position=len(found),
                            text=clause,
                            by_user=by_user,
                            lead=_label(sentence.text) or sentence.lead,
                            is_item=sentence.is_item,
                            line=sentence.line,
                            sentence=number,
                            terms=frozenset(significant_terms(clause)),
                        )
                    )
    return found


def _clauses(sentence: str) -> list[str]:
    if len(sentence) <= MIN_SPLIT_LENGTH:
        return [sentence]
    return [clause.strip() for clause in _SEMICOLON.split(sentence) if clause.strip()]


def _label(sentence: str) -> str:
    label = _LABEL.match(sentence)
    return label[1] if label and len(label[1].split()) <= MAX_LABEL_WORDS else ""


def _sentences(text: str, *, is_chat: bool) -> Iterator[_Sentence]:
    """Yield the sentences and list items of a text, each with the heading or introduction above its block."""
    lead, of_heading, in_list = "", False, False
    lines = _LINK.sub(r"\1", FENCED.sub(_output, text)).split("\n")
    for number, line in enumerate(lines):
        if not line.strip() or _RULER.match(line):
            continue
        if row := _ROW.match(line):
            if (cells := _cells(row[1])) and not _is_header(lines, number):
                yield _Sentence(lead, cells, True, number)
            continue
        if heading := _HEADING.match(line):
            lead, of_heading, in_list = (heading[1] or heading[2]).strip(" :*"), True, False
            continue
        plain = _EMPHASIS.sub("", _TAG.sub("", _QUOTED.sub("", line)))
        if item := _ITEM.match(plain):
            box, body = (item[1] or "").strip().lower(), item[2].strip()
            own = {"[ ]": OPEN_BOX, "[x]": DONE_BOX}.get(box, lead)
            in_list = True
            yield from (_Sentence(own, sentence, True, number) for sentence in _split(body, is_chat=is_chat))
            continue
        if in_list and not line.startswith((" ", "\t")):
            in_list = False
            lead = lead if of_heading else ""
        if introduction := _INTRODUCTION.search(plain):
            # A long introduction says something itself: "The export works again for these customers:".
            is_long = len(introduction[1].split()) >= MIN_INTRODUCTION_WORDS
            before = plain if is_long else plain[: introduction.start(1)]
            yield from (_Sentence("", sentence, False, number) for sentence in _split(before, is_chat=is_chat))
            lead, of_heading = introduction[1].strip(), False
            continue
        yield from (_Sentence(lead, sentence, False, number) for sentence in _split(plain, is_chat=is_chat))
        if not of_heading and not in_list:
            lead = ""


def _output(fenced: re.Match[str]) -> str:
    """Return the lines of a code block that report a result, such as "214 passed in 31 s"."""
    lines = fenced.group().split("\n")[1:]
    kept = [line.strip(" =-#>*") for line in lines if len(line) <= MAX_OUTPUT_LINE and _RESULT_LINE.search(line)]
    return "\n".join(["", *kept[-MAX_OUTPUT_LINES:], ""])


def _cells(row: str) -> str:
    """Return a row of a table as "name: value, value"."""
    name, *values = [_EMPHASIS.sub("", cell).strip() for cell in row.split("|")]
    return f"{name}: {', '.join(filter(None, values))}" if name and any(values) else ""


def _is_header(lines: Sequence[str], number: int) -> bool:
    return number + 1 < len(lines) and _RULER.match(lines[number + 1]) is not None


def _split(text: str, *, is_chat: bool) -> list[str]:
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        sentence = " ".join(piece.split())
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] = f"{found[-1]} {sentence}"
        elif sentence:
            found.append(sentence)
    if is_chat:
        found = [piece.strip() for sentence in found for piece in _CHAT_SENTENCE_END.split(sentence) if piece.strip()]
    return found
