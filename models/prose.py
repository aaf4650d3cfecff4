"""Training pairs from prose: READMEs, WordNet, public-domain books, small talk, and questions generated from them."""

import random
import re
import string
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models.archives import Archive
from models.harvest import PackageText
from models.markup import paragraphs

# (group, question side, answer side): pairs of one group are each other's hard negatives.
GroupedPair = tuple[str, str, str]

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# Typical beginnings of questions. Search queries often have none, hence the empty ones.
_QUESTION_STARTS = (
    "", "", "", "what is", "what are", "what was", "how is", "how do you", "how does it", "why is", "why did",
    "when is", "when did", "where is", "where are", "who", "which", "is there", "can I", "show me",
)  # fmt: skip
_QUESTIONS_ABOUT = (
    "{}", "{}'s", "{} and", "Has {}", "Did {}", "Does {} like", "What did {} tell about", "What has {} done with",
    "What was {}'s", "Which of {}'s", "Where was {}", "Where does {} keep", "When has {}", "When was {}'s",
    "Who told {} of", "Why does {}", "How did {} find", "How long did {}", "How often does {}",
)  # fmt: skip
# This many of the most frequent words do not distinguish a sentence.
_COMMON_WORDS = 150
_SENTENCES_PER_GROUP = 64
_MAX_BOOK_PAIRS = 30_000
_MAX_SENTENCE_QUESTIONS = 120_000
_MAX_SPEAKER_QUESTIONS = 80_000


@dataclass(slots=True)
class Prose:
    """Training pairs by kind, development pairs by kind, and the sentences that questions are generated from."""

    pairs: dict[str, list[GroupedPair]] = field(default_factory=dict[str, list[GroupedPair]])
    development: dict[str, list[GroupedPair]] = field(default_factory=dict[str, list[GroupedPair]])
    sentences: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def is_sampled(text: str, parts: int) -> bool:
    """Return True for a fixed 1/`parts` sample of texts, the same on every machine and in every run."""
    return zlib.crc32(text.encode()) % parts == 0


def gather(
    readmes: Iterable[PackageText], wordnet: Archive, books: Sequence[Archive], talk: Archive, names: Sequence[str]
) -> Prose:
    prose = Prose()
    order = random.Random(0)
    _add_readmes(prose, readmes)
    _add_wordnet(prose, wordnet, order)
    _add_books(prose, books)
    _add_talk(prose, talk)
    for kind, most in {"halves": 700, "headings": 500, "books": 700, "glosses": 700}.items():
        order.shuffle(prose.development[kind])
        del prose.development[kind][most:]
    order.shuffle(prose.pairs["books"])
    del prose.pairs["books"][_MAX_BOOK_PAIRS:]
    _add_questions(prose, names, order)
    return prose


def _add_readmes(prose: Prose, readmes: Iterable[PackageText]) -> None:
    training: tuple[list[GroupedPair], list[GroupedPair]] = ([], [])
    development: tuple[list[GroupedPair], list[GroupedPair]] = ([], [])
    sentences: list[str] = []
    seen: set[str] = set()
    for text in readmes:
        aside = is_sampled(text.package, 14)
        if aside and not text.readme:
            continue
        headings, halves = development if aside else training
        taken = 0
        for heading, paragraph in paragraphs(text.text):
            if paragraph in seen:
                continue
            seen.add(paragraph)
            taken += 1
            if taken > (25 if aside else 60):
                break
            if heading:
                headings.append((text.package, heading, " ".join(paragraph.split()[:120])))
            if len(paragraph.split()) >= 18:
                halves.append((text.package, *split_paragraph(paragraph)))
            if not aside:
                sentences += [s for s in _SENTENCE_END.split(paragraph)[:4] if 5 <= len(s.split()) <= 40]
    prose.pairs["headings"], prose.pairs["halves"] = training
    prose.development["headings"], prose.development["halves"] = development
    prose.sentences["readmes"] = sentences


def split_paragraph(paragraph: str) -> tuple[str, str]:
    """Return the first sentence and the rest, or two halves when either has fewer than five words."""
    first, *others = _SENTENCE_END.split(paragraph)
    rest = " ".join(others)
    if len(first.split()) >= 5 and len(rest.split()) >= 5:
        return first, rest
    words = paragraph.split()
    middle = len(words) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


def _add_wordnet(prose: Prose, wordnet: Archive, order: random.Random) -> None:
    lemmas: list[GroupedPair] = []
    examples: list[GroupedPair] = []
    aside: list[GroupedPair] = []
    sentences: list[str] = []
    for _, text in wordnet.files(r"/wordnet/data\.(?:noun|verb|adj|adv)$"):
        for line in text.splitlines():
            if line.startswith(" "):
                continue
            synset = parse_synset(line)
            name = synset.words[0]
            # Without sampling, names of people, places and species would be a third of the glosses.
            if name[0].isupper() and order.random() < 0.7:
                continue
            if len(synset.definition.split()) >= 3:
                lemmas.append((synset.topic, ", ".join(synset.words[:4]), synset.definition))
                sentences.append(synset.definition)
            headed = f"{name}: {synset.definition}" if len(name) > 2 else synset.definition
            if is_sampled(name + synset.definition, 45):
                aside += [
                    (synset.topic, headed, example) for example in synset.examples[:1] if len(example.split()) >= 4
                ]
                continue
            for example in synset.examples[:2]:
                if len(example.split()) >= 3:
                    examples.append((synset.topic, headed, example))
                    sentences.append(example)
    prose.pairs["lemmas"], prose.pairs["glosses"] = lemmas, examples
    prose.development["glosses"] = aside
    prose.sentences["wordnet"] = sentences


@dataclass(frozen=True, slots=True)
class Synset:
    """A WordNet synset: its words, definition and examples, and the number of its lexicographer file (`topic`)."""

    topic: str
    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]


def parse_synset(line: str) -> Synset:
    fields, gloss = line.split(" | ", 1)
    parts = fields.split()
    count = int(parts[3], 16)
    words = tuple(word.partition("(")[0].replace("_", " ") for word in parts[4 : 4 + 2 * count : 2])
    definition, *quoted = gloss.split('"')
    return Synset(parts[1], words, definition.strip(" ;"), tuple(quoted[::2]))


def _add_books(prose: Prose, books: Sequence[Archive]) -> None:
    pairs: list[GroupedPair] = []
    aside: list[GroupedPair] = []
    sentences: list[str] = []
    for book in books:
        for path, text in book.files(r"/data/.*\.txt$"):
            year = re.search(r"\d{4}", path)
            in_development = year is not None and year[0].endswith("7")
            for paragraph in re.split(r"\n\s*\n", text):
                split = _SENTENCE_END.split(" ".join(paragraph.split()))
                for first, second in zip(split[::2], split[1::2], strict=False):
                    if 6 <= len(first.split()) <= 60 and 6 <= len(second.split()) <= 60:
                        (aside if in_development else pairs).append((path, first, second))
                if not in_development:
                    sentences += [sentence for sentence in split if 5 <= len(sentence.split()) <= 40]
    prose.pairs["books"], prose.development["books"], prose.sentences["books"] = pairs, aside, sentences


def _add_talk(prose: Prose, talk: Archive) -> None:
    prose.pairs["talk"], prose.development["talk"] = [], []
    for path, text in talk.files(r"/english/.*\.yml$"):
        for prompt, reply in exchanges(text):
            if len(prompt.split()) >= 2 and len(reply.split()) >= 2:
                split = prose.development if is_sampled(prompt, 3) else prose.pairs
                split["talk"].append((path, prompt, reply))


def exchanges(corpus: str) -> Iterator[tuple[str, str]]:
    """Yield (prompt, reply) pairs of a chatterbot corpus: `- - text` starts a conversation, `  - text` continues it."""
    previous = ""
    for line in corpus.splitlines():
        turn = re.match(r"(- |  )- (.+)", line)
        if turn is None:
            continue
        sentence = turn[2].strip().strip("'\"")
        if turn[1] == "  " and previous:
            yield previous, sentence
        previous = sentence


def first_names(source: str) -> list[str]:
    """Return the first names in the source of Faker's person provider: every quoted name before `last_names`."""
    return sorted(set(re.findall(r'"([A-Z][a-z]+)"', source.partition("last_names")[0])))


def common_words(sentences: Iterable[str]) -> frozenset[str]:
    """Return the `_COMMON_WORDS` most frequent words."""
    counted = Counter(word for sentence in sentences for word in sentence.lower().split())
    return frozenset(word for word, _ in counted.most_common(_COMMON_WORDS))


def _add_questions(prose: Prose, names: Sequence[str], order: random.Random) -> None:
    sentences = [sentence for kind in ("readmes", "wordnet", "books") for sentence in prose.sentences[kind]]
    order.shuffle(sentences)
    prose.pairs["sentences"] = [
        ("sentences", f"{order.choice(_QUESTION_STARTS)} {sentence}", sentence)
        for sentence in sentences[:_MAX_SENTENCE_QUESTIONS]
    ]
    spoken = prose.sentences["books"] + prose.sentences["wordnet"]
    spoken += 3 * [answer for _, _, answer in prose.pairs["talk"]]
    spoken += order.sample(prose.sentences["readmes"], min(15_000, len(prose.sentences["readmes"])))
    spoken = [sentence for sentence in spoken if 5 <= len(sentence.split()) <= 40]
    order.shuffle(spoken)
    common = common_words(spoken)
    prose.pairs["speakers"] = []
    for start in range(0, min(len(spoken), _MAX_SPEAKER_QUESTIONS), _SENTENCES_PER_GROUP):
        speakers = order.sample(names, order.choice([2, 2, 4, 8]))
        for sentence in spoken[start : start + _SENTENCES_PER_GROUP]:
            prose.pairs["speakers"].append(make_question(sentence, order.choice(speakers), str(start), common, order))
    unseen = [answer for kind in ("books", "talk", "glosses") for _, _, answer in prose.development[kind][:300]]
    speakers = order.sample(names, 12)
    prose.development["speakers"] = [
        make_question(sentence, order.choice(speakers), "aside", common, order)
        for sentence in dict.fromkeys(unseen)
        if len(sentence.split()) >= 4
    ]


def make_question(sentence: str, speaker: str, group: str, common: frozenset[str], order: random.Random) -> GroupedPair:
    """Return a question with the speaker's name and one to four distinctive words, and the speaker's sentence."""
    words = [word.strip(string.punctuation) for word in sentence.split()]
    distinctive = [word for word in words if len(word) > 2 and word.lower() not in common]
    picked = sorted(order.sample(range(len(distinctive)), min(len(distinctive), order.randint(1, 4))))
    start = order.choice(_QUESTIONS_ABOUT).format(speaker)
    return group, f"{start} {' '.join(distinctive[number] for number in picked)}?", f"{speaker}: {sentence}"
