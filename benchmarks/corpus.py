"""A made-up memory of any size that behaves like a real one: Zipf's words, topics, sessions, speakers, rare names.

The same rows come out on every machine, and a smaller corpus is the beginning of a larger one. Function words come from
frames; what the frames are filled with is drawn, so that common, telling and unique words occur as in real text.
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
"""Rows are made in chunks of this size, each from a seed of its own."""

RARE_CATEGORY = "incident"
RARE_SHARE = 0.01
CATEGORIES = ("fact", "decision", "preference", "event", "task", "question", "observation")

FIELDS = 40
TOPICS = 400
WORDS_OF_A_FIELD = 400
WORDS_OF_A_TOPIC = 250
SESSION_LENGTH = 40
SPEAKERS = ("Ada", "Boris", "Chen", "Dalia", "Emeka", "Freya", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena")
TAGS = ("urgent", "draft", "customer", "internal", "legal", "release", "support", "travel", "health", "money")
START = datetime(2020, 1, 6, 9, 0, tzinfo=UTC)

# The most frequent words of the vocabulary stand in the frames already.
_COMMONEST = 150
# Where a word of a memory comes from: its topic, the topic's field, all words, or names and numbers seen hardly twice.
_SOURCES = np.array([0.45, 0.20, 0.27, 0.08])
# So many words are held back: questions made of them match no text, only vectors.
_HELD_BACK_ONE_IN = 12

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
"""Looks a row up."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the row whose words it is made of."""

    text: str
    target: int


class Corpus:
    """Makes memories out of a vocabulary whose commonest words come first."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        words = list(dict.fromkeys(word for word in vocabulary if word.isascii() and word.isalpha() and len(word) > 2))
        telling = words[_COMMONEST:]
        self._function_words = frozenset(word.lower() for frame in _FRAMES for word in frame) | {*words[:_COMMONEST]}
        self.words = [word for word in telling if not _held_back(word)]
        """Words that memories have, beside those of the frames; the commonest first."""
        used = {*self.words, *words[:_COMMONEST]}
        # "running" begins unlike "run", but has its stem.
        self.held_back = [word for word in telling if _held_back(word) and word[:3] not in used]
        """Words that no memory has, nor any that begins like them."""
        self._words = np.array(self.words)

    def memories(self, chunk: int) -> list[dict[str, Any]]:
        """The rows of a chunk, as `remember_many` takes them."""
        random = np.random.default_rng([SEED, chunk])
        made: list[dict[str, Any]] = []
        rare = set(random.choice(CHUNK, int(CHUNK * RARE_SHARE), replace=False).tolist())
        while len(made) < CHUNK:
            made += self._session(random, chunk, len(made), rare)
        return made

    def questions(self, rows: int, count: int, memory_at: MemoryAt) -> list[Asked]:
        """Questions about single rows, spread over the first `rows`, in words of these rows."""
        random = np.random.default_rng([SEED, rows, 1])
        asked: list[Asked] = []
        for row in _spread(random, rows, count):
            memory = memory_at(row)
            words = " ".join(self._telling(random, memory, 2, 5))
            frame = _QUESTIONS[int(random.integers(len(_QUESTIONS)))]
            asked.append(Asked(frame.format(speaker=memory["speaker"], words=words), row))
        return asked

    def reworded_questions(
        self, rows: int, count: int, memory_at: MemoryAt, other_word: Callable[[str], str]
    ) -> list[Asked]:
        """Questions of which no memory has a single word: what these find was found by meaning.

        `other_word` names the word of `held_back` that comes nearest to a word.
        """
        random = np.random.default_rng([SEED, rows, 2])
        return [
            Asked(" ".join(map(other_word, self._telling(random, memory_at(row), 4, 8))), row)
            for row in _spread(random, rows, count)
        ]

    def _telling(self, random: np.random.Generator, memory: dict[str, Any], least: int, most: int) -> list[str]:
        words = [word.strip(".,;") for word in memory["content"].split()]
        telling = list(dict.fromkeys(word for word in words if word.lower() not in self._function_words))
        return random.permutation(telling)[: int(random.integers(least, most + 1))].tolist()

    def _session(self, random: np.random.Generator, chunk: int, first: int, rare: set[int]) -> Iterator[dict[str, Any]]:
        """One talk of two people about one topic."""
        number = chunk * CHUNK + first
        length = min(CHUNK - first, int(random.integers(SESSION_LENGTH // 2, 2 * SESSION_LENGTH)))
        topic = int(TOPICS * random.random() ** 2)
        talkers = random.choice(SPEAKERS, 2, replace=False).tolist()
        tags = random.choice(TAGS, 2, replace=False).tolist()
        began = START + timedelta(minutes=5 * number)
        contents = self._sentences(random, topic, length)
        categories = random.choice(CATEGORIES, length).tolist()
        tagged = random.random(length).tolist()
        for place, content in enumerate(contents):
            row = number + place
            yield {
                "content": content,
                "category": RARE_CATEGORY if first + place in rare else categories[place],
                "speaker": talkers[place % 2],
                "session_id": f"session-{number}",
                "occurred_at": (began + timedelta(minutes=place)).isoformat(),
                "tags": tags[: int(tagged[place] * 3)],
                "metadata": {"row": row},
            }

    def _sentences(self, random: np.random.Generator, topic: int, count: int) -> list[str]:
        lengths = np.clip(random.lognormal(2.95, 0.4, count), 8, 40).astype(int)
        words = self._drawn(random, topic, 40 * count)
        picks = iter(random.integers(0, 1 << 30, 20 * count).tolist())
        return [self._sentence(int(length), words, picks) for length in lengths]

    def _sentence(self, length: int, words: Iterator[str], picks: Iterator[int]) -> str:
        said: list[str] = []
        while True:
            frame = _FRAMES[next(picks) % len(_FRAMES)]
            said += [next(words) if word == "_" else word for word in frame]
            if len(said) >= length:
                return " ".join(" ".join(said).split()[:40]) + "."
            said[-1] += _JOINTS[next(picks) % len(_JOINTS)]

    def _drawn(self, random: np.random.Generator, topic: int, count: int) -> Iterator[str]:
        sources = random.choice(len(_SOURCES), count, p=_SOURCES)
        places = random.random(count)
        drawn = self._words[np.searchsorted(self._zipf, places)].astype(object)
        for source, own in ((0, self._topics[topic]), (1, self._fields[topic % FIELDS])):
            chosen = np.flatnonzero(sources == source)
            drawn[chosen] = own[np.searchsorted(_zipf(len(own)), places[chosen])]
        for place in np.flatnonzero(sources == 3).tolist():
            drawn[place] = _unique(random, str(drawn[place]), str(drawn[place - 1]))
        return iter(drawn.tolist())

    @cached_property
    def _zipf(self) -> NDArray[np.float64]:
        return _zipf(len(self._words))

    @cached_property
    def _fields(self) -> list[NDArray[np.object_]]:
        return [self._some_words([SEED, 1, field], WORDS_OF_A_FIELD) for field in range(FIELDS)]

    @cached_property
    def _topics(self) -> list[NDArray[np.object_]]:
        return [self._some_words([SEED, 2, topic], WORDS_OF_A_TOPIC) for topic in range(TOPICS)]

    def _some_words(self, seed: list[int], count: int) -> NDArray[np.object_]:
        """Words of all degrees of rarity in an order of their own: what is common in one subject is rare in another."""
        random = np.random.default_rng(seed)
        rarities = random.uniform(np.log(_COMMONEST), np.log(len(self._words)), count)
        return random.permutation(self._words[np.unique(np.exp(rarities).astype(int) - 1)]).astype(object)


def _spread(random: np.random.Generator, rows: int, count: int) -> list[int]:
    return np.sort(random.choice(rows, count, replace=False)).tolist()


def _held_back(word: str) -> bool:
    # By its beginning, so that no inflection of it is used either.
    return len(word) > 3 and zlib.crc32(word[:4].encode()) % _HELD_BACK_ONE_IN == 0


def _zipf(count: int) -> NDArray[np.float64]:
    """The cumulated chances of words by rank, after Zipf and Mandelbrot."""
    weights = 1 / (np.arange(count) + 2.7) ** 1.05
    return np.cumsum(weights) / weights.sum()


def _unique(random: np.random.Generator, word: str, other: str) -> str:
    """A name, number or identifier such as only one or two texts have."""
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
