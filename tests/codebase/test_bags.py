"""Words and meanings that are counted for all parts at once are those of each part by itself."""

import random
import threading
from collections import Counter

import numpy as np
import pytest

from recollect.codebase.bags import WORTH_OF_NAMES, Bag, Bags
from recollect.codebase.words import words_of
from recollect.inference.static_model import Table
from recollect.storage.derived.token_segments import MOST_COUNTED, token

TEXTS = [
    "def load_user(self, userID: int) -> User:\n    return self.cache[userID] or HTTPServer2().get(userID)\n",
    "",
    "  \n\t",
    "größe = prüfe_straße(größe)  # übrige 東京都\n",
    "x\x0cy \x00 z",
    "same same same " * 100,
    "__init__ _private a1b2 SHOUTING_CASE " + "z" * 200,
]
NAMES = [("load_user",), (), (), ("größe", "prüfe_straße"), (), ("same",), ("impl Reader for File", "__init__")]


def words(bag: Bag, row: int) -> dict[int, int]:
    here = slice(int(bag.starts[row]), int(bag.starts[row + 1]))
    return dict(zip(bag.words[here].tolist(), bag.counts[here].tolist(), strict=True))


def expected(text: str, names: tuple[str, ...]) -> dict[int, int]:
    counted = Counter(token(word) for word in words_of(text))
    for name in names:
        for word in words_of(name):
            counted[token(word)] += WORTH_OF_NAMES
    return {word: min(count, MOST_COUNTED) for word, count in counted.items()}


def test_each_part_has_its_words_as_often_as_they_are_there_and_more_of_what_it_defines():
    bag = Bags().counted(TEXTS, NAMES)
    assert [words(bag, row) for row in range(len(TEXTS))] == list(map(expected, TEXTS, NAMES))
    assert max(map(max, (words(bag, 5).values(), [0]))) == MOST_COUNTED


def test_the_meaning_of_a_part_is_what_the_model_makes_of_it():
    vectors = Bags().counted(TEXTS, NAMES).vectors.astype(np.float32)
    found = Table().encode([text.replace("[", " ") for text in TEXTS])
    for text, vector, wanted in zip(TEXTS, vectors, found, strict=True):
        if not wanted or "\x0c" in text:  # there the model also reads what nobody sees
            continue
        assert vector @ np.frombuffer(wanted, "<f2").astype(np.float32) == pytest.approx(1, abs=2e-3), text
    assert not vectors[1].any()
    assert not vectors[2].any()


def test_what_a_part_comes_to_does_not_depend_on_what_was_counted_before():
    bags, alone = Bags(), Bags()
    chance = random.Random(1)
    for _ in range(5):
        others = ["".join(chance.choices("abcXYZ_ .(", k=200)) for _ in range(9)]
        bags.counted(others, [()] * len(others))
    for one, other in zip(bags.counted(TEXTS, NAMES), alone.counted(TEXTS, NAMES), strict=True):
        assert one.tobytes() == other.tobytes()


def test_many_parts_are_counted_as_a_few_are():
    many = TEXTS * 20
    bag, few = Bags().counted(many, NAMES * 20), Bags().counted(TEXTS, NAMES)
    assert [words(bag, row) for row in range(len(many))] == [words(few, row) for row in range(len(TEXTS))] * 20
    assert np.allclose(bag.vectors.astype(np.float32), np.tile(few.vectors.astype(np.float32), (20, 1)), atol=2e-3)


def test_nothing_has_no_words():
    bag = Bags().counted([], [])
    assert [len(array) for array in bag] == [1, 0, 0, 0]


def test_two_threads_may_count_at_the_same_time():
    bags, failures = Bags(), list[BaseException]()

    def count(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(30):
                text = " ".join("".join(chance.choices("abcdefgh_", k=8)) for _ in range(300))
                assert words(bags.counted([text], [()]), 0) == expected(text, ())
        except BaseException as error:  # a thread's own are lost
            failures.append(error)

    threads = [threading.Thread(target=count, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
