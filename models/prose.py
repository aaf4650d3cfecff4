"""Prose to learn meaning from: READMEs, WordNet, public-domain books, small talk, and questions made from them."""

import random
import re
import string
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models.archives import Archive
from models.harvest import Text
from models.markup import paragraphs

# (group, question side, answer side): pairs of one group are each other's hard negatives.
GroupedPair = tuple[str, str, str]

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# How people begin a question; a search often has no such words at all.
_QUESTION_STARTS = (
    "", "", "", "what is", "what are", "what was", "how is", "how do you", "how does it", "why is", "why did",
    "when is", "when did", "where is", "where are", "who", "which", "is there", "can I", "show me",
)  # fmt: skip
_QUESTIONS_ABOUT = (
    "{}", "{}'s", "{} and", "Has {}", "Did {}", "Does {} like", "What did {} tell about", "What has {} done with",
    "What was {}'s", "Which of {}'s", "Where was {}", "Where does {} keep", "When has {}", "When was {}'s",
    "Who told {} of", "Why does {}", "How did {} find", "How long did {}", "How often does {}",
)  # fmt: skip
# So many of the most used words tell nothing about a sentence.
_COMMON_WORDS = 150
_SPEAKERS_SHARE = 64
_MOST_BOOK_PAIRS = 30_000
_MOST_SENTENCE_QUESTIONS = 120_000
_MOST_SPEAKER_QUESTIONS = 80_000


@dataclass(slots=True)
class Prose:
    """Pairs to train on by their kind, sentences for made questions, and pairs kept aside for development."""

    pairs: dict[str, list[GroupedPair]] = field(default_factory=dict[str, list[GroupedPair]])
    development: dict[str, list[GroupedPair]] = field(default_factory=dict[str, list[GroupedPair]])
    sentences: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def share(text: str, parts: int) -> bool:
    """Whether a text falls into a fixed one of so many parts: the same on every machine and run."""
    return zlib.crc32(text.encode()) % parts == 0


def gather(
    readmes: Iterable[Text], wordnet: Archive, books: Sequence[Archive], talk: Archive, names: Sequence[str]
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
    del prose.pairs["books"][_MOST_BOOK_PAIRS:]
    _add_questions(prose, names, order)
    return prose


def _add_readmes(prose: Prose, readmes: Iterable[Text]) -> None:
    training: tuple[list[GroupedPair], list[GroupedPair]] = ([], [])
    development: tuple[list[GroupedPair], list[GroupedPair]] = ([], [])
    sentences: list[str] = []
    seen: set[str] = set()
    for text in readmes:
        aside = share(text.package, 14)
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
                halves.append((text.package, *halved(paragraph)))
            if not aside:
                sentences += [s for s in _SENTENCE_END.split(paragraph)[:4] if 5 <= len(s.split()) <= 40]
    prose.pairs["headings"], prose.pairs["halves"] = training
    prose.development["headings"], prose.development["halves"] = development
    prose.sentences["readmes"] = sentences


def halved(paragraph: str) -> tuple[str, str]:
    """The first sentence and the rest, or two halves where either is too short to mean something."""
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
            synset = wordnet_synset(line)
            name = synset.words[0]
            # Names of people, places and species would fill a third of the glosses.
            if name[0].isupper() and order.random() < 0.7:
                continue
            if len(synset.definition.split()) >= 3:
                lemmas.append((synset.topic, ", ".join(synset.words[:4]), synset.definition))
                sentences.append(synset.definition)
            headed = f"{name}: {synset.definition}" if len(name) > 2 else synset.definition
            if share(name + synset.definition, 45):
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
    """One meaning in WordNet: its words, its definition, its examples, and the topic file it belongs to."""

    topic: str
    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]


def wordnet_synset(line: str) -> Synset:
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
            kept_aside = year is not None and year[0].endswith("7")
            for paragraph in re.split(r"\n\s*\n", text):
                split = _SENTENCE_END.split(" ".join(paragraph.split()))
                for first, second in zip(split[::2], split[1::2], strict=False):
                    if 6 <= len(first.split()) <= 60 and 6 <= len(second.split()) <= 60:
                        (aside if kept_aside else pairs).append((path, first, second))
                if not kept_aside:
                    sentences += [sentence for sentence in split if 5 <= len(sentence.split()) <= 40]
    prose.pairs["books"], prose.development["books"], prose.sentences["books"] = pairs, aside, sentences


def _add_talk(prose: Prose, talk: Archive) -> None:
    prose.pairs["talk"], prose.development["talk"] = [], []
    for path, text in talk.files(r"/english/.*\.yml$"):
        for said, answered in exchanges(text):
            if len(said.split()) >= 2 and len(answered.split()) >= 2:
                kept = prose.development if share(said, 3) else prose.pairs
                kept["talk"].append((path, said, answered))


def exchanges(corpus: str) -> Iterator[tuple[str, str]]:
    """What was said and what was answered: `- - said` opens a conversation, `  - answered` goes on."""
    said = ""
    for line in corpus.splitlines():
        turn = re.match(r"(- |  )- (.+)", line)
        if turn is None:
            continue
        sentence = turn[2].strip().strip("'\"")
        if turn[1] == "  " and said:
            yield said, sentence
        said = sentence


def first_names(source: str) -> list[str]:
    """The first names in a module of names: everything in quotes before the last names begin."""
    return sorted(set(re.findall(r'"([A-Z][a-z]+)"', source.partition("last_names")[0])))


def common_words(sentences: Iterable[str]) -> frozenset[str]:
    """The words that nearly every text uses."""
    counted = Counter(word for sentence in sentences for word in sentence.lower().split())
    return frozenset(word for word, _ in counted.most_common(_COMMON_WORDS))


def _add_questions(prose: Prose, names: Sequence[str], order: random.Random) -> None:
    sentences = [sentence for kind in ("readmes", "wordnet", "books") for sentence in prose.sentences[kind]]
    order.shuffle(sentences)
    prose.pairs["sentences"] = [
        ("sentences", f"{order.choice(_QUESTION_STARTS)} {sentence}", sentence)
        for sentence in sentences[:_MOST_SENTENCE_QUESTIONS]
    ]
    said = prose.sentences["books"] + prose.sentences["wordnet"] + 3 * [answer for _, _, answer in prose.pairs["talk"]]
    said += order.sample(prose.sentences["readmes"], min(15_000, len(prose.sentences["readmes"])))
    said = [sentence for sentence in said if 5 <= len(sentence.split()) <= 40]
    order.shuffle(said)
    common = common_words(said)
    prose.pairs["speakers"] = []
    for start in range(0, min(len(said), _MOST_SPEAKER_QUESTIONS), _SPEAKERS_SHARE):
        speakers = order.sample(names, order.choice([2, 2, 4, 8]))
        for sentence in said[start : start + _SPEAKERS_SHARE]:
            prose.pairs["speakers"].append(question_about(sentence, order.choice(speakers), str(start), common, order))
    unseen = [answer for kind in ("books", "talk", "glosses") for _, _, answer in prose.development[kind][:300]]
    speakers = order.sample(names, 12)
    prose.development["speakers"] = [
        question_about(sentence, order.choice(speakers), "aside", common, order)
        for sentence in dict.fromkeys(unseen)
        if len(sentence.split()) >= 4
    ]


def question_about(
    sentence: str, speaker: str, group: str, common: frozenset[str], order: random.Random
) -> GroupedPair:
    """A question with the speaker's name and a few telling words, and the sentence as that speaker's."""
    words = [word.strip(string.punctuation) for word in sentence.split()]
    telling = [word for word in words if len(word) > 2 and word.lower() not in common]
    picked = sorted(order.sample(range(len(telling)), min(len(telling), order.randint(1, 4))))
    start = order.choice(_QUESTIONS_ABOUT).format(speaker)
    return group, f"{start} {' '.join(telling[number] for number in picked)}?", f"{speaker}: {sentence}"
