"""A synthetic corpus of memories of any size: Zipf-distributed words, topics, sessions, speakers and rare names.

The same rows are generated on every machine, and a smaller corpus is a prefix of a larger one. Sentence frames supply
function words; the other words are drawn at random, so that common, distinctive and unique words occur as in real text.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 20_261_115
CHUNK = 10_000
"""Rows are generated in chunks of this size, each from its own seed."""

RARE_CATEGORY = "incident"
RARE_SHARE = 0.01
CATEGORIES = ("fact", "decision", "preference", "event", "task", "question", "observation")

FIELDS = 40
TOPICS = 400
WORDS_PER_FIELD = 400
WORDS_PER_TOPIC = 250
SESSION_LENGTH = 40
SPEAKERS = ("Ada", "Boris", "Chen", "Dalia", "Emeka", "Freya", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena")
TAGS = ("urgent", "draft", "customer", "internal", "legal", "release", "support", "travel", "health", "money")
START = datetime(2020, 1, 6, 9, 0, tzinfo=UTC)

# The most frequent words of the vocabulary are left to the frames.
_COMMON_WORDS = 150
# Probabilities of the sources of a word: the topic, its field, all words, and names and numbers that are nearly unique.
_SOURCES = np.array([0.45, 0.20, 0.27, 0.08])
# One in this many words is withheld: questions made of withheld words match vectors but no text.
_WITHHELD_ONE_IN = 12

_FRAMES = tuple(
    frame.split()
    for frame in (
        "we _ the _ because the _ was _",
        "I think that _ and _ are _",
        "the _ of the _ is _",
        "you said that the _ would _ with _",
        "it was _ to see _ in the _",
        "they _ their _ after the _",
        "my _ is _ and I _ it",
        "there is a _ _ in the _",
        "please _ the _ before the _ _",
        "he told me about a _ that _ _",
        "she has been _ for the _",
        "our _ should be _ when _ is _",
        "the _ _ does not _",
        "I am going to _ the _ with _",
        "what we _ was a _ _",
        "nobody _ the _ until _",
        "a _ from _ can _ this",
        "the last _ had more _ than the _",
        "let us _ it with _",
        "it depends on the _ and on _",
        "all of the _ were _ by _",
        "if the _ is _ then we _",
        "some _ like _ and _",
        "there were two _ but only one _",
    )
)
_JOINTS = (", and", ", but", ", so", ".", ".", " while", ", which means that", ";")
_QUESTIONS = (
    "what did {speaker} say about the {words}?",
    "when was the {words}?",
    "why did we choose {words}?",
    "who asked about {words} and what came of it?",
    "{words}",
    "do you remember the {words}?",
)


MemoryAt = Callable[[int], dict[str, Any]]
"""Returns the memory of a row."""


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """A question and the row whose words it uses."""

    text: str
    target: int


class Corpus:
    """Generates memories from a vocabulary that is ordered by frequency."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        words = list(dict.fromkeys(word for word in vocabulary if word.isascii() and word.isalpha() and len(word) > 2))
        distinctive = words[_COMMON_WORDS:]
        self._function_words = frozenset(word.lower() for frame in _FRAMES for word in frame) | {*words[:_COMMON_WORDS]}
        self.words = [word for word in distinctive if not _is_withheld(word)]
        """Words of memories besides those of the frames, most common first."""
        used = {*self.words, *words[:_COMMON_WORDS]}
        # The first four letters of "running" and "run" differ, but they share a stem.
        self.withheld = [word for word in distinctive if _is_withheld(word) and word[:3] not in used]
        """Words that occur in no memory, nor does any word with the same beginning."""
        self._words = np.array(self.words)

    def memories(self, chunk: int) -> list[dict[str, Any]]:
        """Return the rows of a chunk as arguments of `remember_many`."""
        random = np.random.default_rng([SEED, chunk])
        made: list[dict[str, Any]] = []
        rare = set(random.choice(CHUNK, int(CHUNK * RARE_SHARE), replace=False).tolist())
        while len(made) < CHUNK:
            made += self._session(random, chunk, len(made), rare)
        return made

    def questions(self, rows: int, count: int, memory_at: MemoryAt) -> list[CorpusQuestion]:
        """Return questions about single rows among the first `rows`, in words of these rows."""
        random = np.random.default_rng([SEED, rows, 1])
        asked: list[CorpusQuestion] = []
        for row in _spread(random, rows, count):
            memory = memory_at(row)
            words = " ".join(self._distinctive_words(random, memory, 2, 5))
            frame = _QUESTIONS[int(random.integers(len(_QUESTIONS)))]
            asked.append(CorpusQuestion(frame.format(speaker=memory["speaker"], words=words), row))
        return asked

    def reworded_questions(
        self, rows: int, count: int, memory_at: MemoryAt, other_word: Callable[[str], str]
    ) -> list[CorpusQuestion]:
        """Return questions whose words occur in no memory, so that only vector search can answer them.

        `other_word` returns the withheld word that is nearest in meaning to a word.
        """
        random = np.random.default_rng([SEED, rows, 2])
        return [
            CorpusQuestion(" ".join(map(other_word, self._distinctive_words(random, memory_at(row), 4, 8))), row)
            for row in _spread(random, rows, count)
        ]

    def _distinctive_words(
        self, random: np.random.Generator, memory: dict[str, Any], least: int, most: int
    ) -> list[str]:
        words = [word.strip(".,;") for word in memory["content"].split()]
        distinctive = list(dict.fromkeys(word for word in words if word.lower() not in self._function_words))
        return random.permutation(distinctive)[: int(random.integers(least, most + 1))].tolist()

    def _session(self, random: np.random.Generator, chunk: int, first: int, rare: set[int]) -> Iterator[dict[str, Any]]:
        """Yield one conversation of two people about one topic."""
        number = chunk * CHUNK + first
        length = min(CHUNK - first, int(random.integers(SESSION_LENGTH // 2, 2 * SESSION_LENGTH)))
        topic = int(TOPICS * random.random() ** 2)
        talkers = random.choice(SPEAKERS, 2, replace=False).tolist()
        tags = random.choice(TAGS, 2, replace=False).tolist()
        began = START + timedelta(minutes=5 * number)
        contents = self._sentences(random, topic, length)
        categories = random.choice(CATEGORIES, length).tolist()
        tagged = random.random(length).tolist()
        for index, content in enumerate(contents):
            row = number + index
            yield {
                "content": content,
                "category": RARE_CATEGORY if first + index in rare else categories[index],
                "speaker": talkers[index % 2],
                "session_id": f"session-{number}",
                "occurred_at": (began + timedelta(minutes=index)).isoformat(),
                "tags": tags[: int(tagged[index] * 3)],
                "metadata": {"row": row},
            }

    def _sentences(self, random: np.random.Generator, topic: int, count: int) -> list[str]:
        lengths = np.clip(random.lognormal(2.95, 0.4, count), 8, 40).astype(int)
        words = self._draw_words(random, topic, 40 * count)
        picks = iter(random.integers(0, 1 << 30, 20 * count).tolist())
        return [self._sentence(int(length), words, picks) for length in lengths]

    def _sentence(self, length: int, words: Iterator[str], picks: Iterator[int]) -> str:
        parts: list[str] = []
        while True:
            frame = _FRAMES[next(picks) % len(_FRAMES)]
            parts += [next(words) if word == "_" else word for word in frame]
            if len(parts) >= length:
                return " ".join(" ".join(parts).split()[:40]) + "."
            parts[-1] += _JOINTS[next(picks) % len(_JOINTS)]

    def _draw_words(self, random: np.random.Generator, topic: int, count: int) -> Iterator[str]:
        sources = random.choice(len(_SOURCES), count, p=_SOURCES)
        quantiles = random.random(count)
        drawn = self._words[np.searchsorted(self._zipf, quantiles)].astype(object)
        for source, own in ((0, self._topics[topic]), (1, self._fields[topic % FIELDS])):
            chosen = np.flatnonzero(sources == source)
            drawn[chosen] = own[np.searchsorted(_zipf_distribution(len(own)), quantiles[chosen])]
        for index in np.flatnonzero(sources == 3).tolist():
            drawn[index] = _rare_name(random, str(drawn[index]), str(drawn[index - 1]))
        return iter(drawn.tolist())

    @cached_property
    def _zipf(self) -> NDArray[np.float64]:
        return _zipf_distribution(len(self._words))

    @cached_property
    def _fields(self) -> list[NDArray[np.object_]]:
        return [self._some_words([SEED, 1, field], WORDS_PER_FIELD) for field in range(FIELDS)]

    @cached_property
    def _topics(self) -> list[NDArray[np.object_]]:
        return [self._some_words([SEED, 2, topic], WORDS_PER_TOPIC) for topic in range(TOPICS)]

    def _some_words(self, seed: list[int], count: int) -> NDArray[np.object_]:
        """Return words of all frequencies in random order: a word that is common in one subject is rare in another."""
        random = np.random.default_rng(seed)
        rarities = random.uniform(np.log(_COMMON_WORDS), np.log(len(self._words)), count)
        return random.permutation(self._words[np.unique(np.exp(rarities).astype(int) - 1)]).astype(object)


def _spread(random: np.random.Generator, rows: int, count: int) -> list[int]:
    return np.sort(random.choice(rows, count, replace=False)).tolist()


def _is_withheld(word: str) -> bool:
    # Decided by the first letters, so that inflected forms are withheld as well.
    return len(word) > 3 and zlib.crc32(word[:4].encode()) % _WITHHELD_ONE_IN == 0


def _zipf_distribution(count: int) -> NDArray[np.float64]:
    """Return the cumulative distribution of word ranks by the Zipf-Mandelbrot law."""
    weights = 1 / (np.arange(count) + 2.7) ** 1.05
    return np.cumsum(weights) / weights.sum()


def _rare_name(random: np.random.Generator, word: str, other: str) -> str:
    """Return a name, number or identifier that occurs in only one or two texts."""
    number = int(random.integers(1, 100_000))
    match int(random.integers(5)):
        case 0:
            return str(number)
        case 1:
            return f"{word[:4].upper()}-{number}"
        case 2:
            return f"{word}_{other}"
        case 3:
            return f"{word}{other.capitalize()}"
        case _:
            return f"{word.capitalize()} {other.capitalize()}"
