"""Words and meanings that are counted for all parts at once are those of each part by itself."""

import random
import re
import threading
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.code_index.facts.words import name_words, words_of
from scrubjay.code_index.term_counts import native_counter as compiled_module
from scrubjay.code_index.term_counts.counter import Bags
from scrubjay.code_index.term_counts.models import WORTH_OF_NAMES, Bag, parted
from scrubjay.models.static_model import Table
from scrubjay.native.library import library
from scrubjay.search_index.token_segments import MOST_COUNTED, token

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


@pytest.fixture(params=[True, False], ids=["compiled", "in arrays"])
def make(request: pytest.FixtureRequest) -> Callable[[], Bags]:
    return lambda: Bags(compiled=request.param)


Make = Callable[[], Bags]


def words(bag: Bag, row: int) -> dict[int, int]:
    here = slice(int(bag.starts[row]), int(bag.starts[row + 1]))
    return dict(zip(bag.words[here].tolist(), bag.counts[here].tolist(), strict=True))


def expected(text: str, names: tuple[str, ...]) -> dict[int, int]:
    counted = Counter(token(word) for word in words_of(text))
    for name in names:
        for word in words_of(name):
            counted[token(word)] += WORTH_OF_NAMES
    return {word: min(count, MOST_COUNTED) for word, count in counted.items()}


def test_each_part_has_its_words_as_often_as_they_are_there_and_more_of_what_it_defines(make: Make):
    bag = make().counted(TEXTS, NAMES)
    assert [words(bag, row) for row in range(len(TEXTS))] == list(map(expected, TEXTS, NAMES))
    assert max(map(max, (words(bag, 5).values(), [0]))) == MOST_COUNTED


def test_the_meaning_of_a_part_is_what_the_model_makes_of_it(make: Make):
    vectors = make().counted(TEXTS, NAMES).vectors.astype(np.float32)
    found = Table().encode([text.replace("[", " ") for text in TEXTS])
    for text, vector, wanted in zip(TEXTS, vectors, found, strict=True):
        if not wanted or "\x0c" in text:  # there the model also reads what nobody sees
            continue
        assert vector @ np.frombuffer(wanted, "<f2").astype(np.float32) == pytest.approx(1, abs=2e-3), text
    assert not vectors[1].any()
    assert not vectors[2].any()


def test_what_a_part_comes_to_does_not_depend_on_what_was_counted_before(make: Make):
    bags, alone = make(), make()
    chance = random.Random(1)
    for _ in range(5):
        others = ["".join(chance.choices("abcXYZ_ .(", k=200)) for _ in range(9)]
        bags.counted(others, [()] * len(others))
    for one, other in zip(bags.counted(TEXTS, NAMES), alone.counted(TEXTS, NAMES), strict=True):
        assert one.tobytes() == other.tobytes()


def test_many_parts_are_counted_as_a_few_are(make: Make):
    many = TEXTS * 20
    bag, few = make().counted(many, NAMES * 20), make().counted(TEXTS, NAMES)
    assert [words(bag, row) for row in range(len(many))] == [words(few, row) for row in range(len(TEXTS))] * 20
    assert np.allclose(bag.vectors.astype(np.float32), np.tile(few.vectors.astype(np.float32), (20, 1)), atol=2e-3)


def test_nothing_has_no_words(make: Make):
    bag = make().counted([], [])
    assert [len(array) for array in bag] == [1, 0, 0, 0]
    assert len(make().meanings([])) == len(make().wholes([])) == 0


def test_the_compiled_part_is_there_where_there_is_a_compiler():
    assert library() is not None


# Letters, digits and signs of all kinds, and what is odd in all ways that matter to who reads it.
LETTERS = list("abcxyzABCXYZ019__  \n\t()[].,:=-'\"\x00\x7féß東京\u0301“…🎉İ")
PIECES = ["HTTPServer", "getURLFor2", "self", "größe", "naïve_Bayes", "x" * 101, "Y" * 128, "z" * 129, "running", "###"]


@given(st.text(st.sampled_from(LETTERS), max_size=40))
def test_what_is_not_plain_is_taken_out_with_the_letters_and_digits_around_it(text: str):
    odd = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*+[^\x00-\x7f][A-Za-z0-9_\x80-\U0010ffff]*+")
    plain, found = parted(text)
    assert (plain, [*found]) == (odd.sub(" ", text), odd.findall(text))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_compiled_comes_to_the_same_as_what_is_counted_in_arrays(seed: int):
    chance = random.Random(seed)

    def text(most: int) -> str:
        return "".join(
            chance.choice(LETTERS if chance.random() < 0.9 else PIECES) for _ in range(chance.randrange(most))
        )

    texts = [text(400) for _ in range(20)]
    names = [[text(12) for _ in range(chance.randrange(4))] for _ in texts]
    compiled, in_arrays = (Bags(compiled=which) for which in (True, False))
    for _ in range(2):
        one, other = compiled.counted(texts, names), in_arrays.counted(texts, names)
        assert one.starts.tolist() == other.starts.tolist()
        assert [words(one, row) for row in range(len(texts))] == [words(other, row) for row in range(len(texts))]
        assert np.allclose(one.vectors.astype(np.float32), other.vectors.astype(np.float32), atol=2e-3)
        assert np.allclose(compiled.meanings(texts), other.vectors, atol=2e-3)
    every = [name for own in names for name in own]
    assert compiled.wholes(every).tolist() == in_arrays.wholes(every).tolist()


@pytest.mark.parametrize("odd", ["", "größe = 1\n"])
def test_parts_of_a_content_are_counted_as_they_are_alone(make: Make, odd: str):
    content = f"def load_user(self):\n    pass\n{odd}class User:\n    userID = 1\n".encode()
    names = ["load_user", "User", "of\ntwo lines", "User", "userID", "nowhere", *([odd.split()[0]] if odd else [])]
    spans, owners = [(0, 21, 1, 1), (21, len(content), 2, 5)], [0, 1, 1, 1, 1, -1, 0]
    texts = [content[start:end].decode() for start, end, _, _ in spans]
    defined = [{name: None for name, own in zip(names, owners, strict=False) if own == i} for i in range(2)]
    bag, wholes = make().counted_in(
        content, np.array(spans, dtype=np.int32), names, np.array(owners[: len(names)], dtype=np.int32)
    )
    for one, other in zip(bag, make().counted(texts, [[*own] for own in defined]), strict=True):
        assert one.tobytes() == other.tobytes()
    assert [words(bag, row) for row in range(2)] == [expected(texts[i], tuple(defined[i])) for i in range(2)]
    assert wholes.tolist() == make().wholes(names).tolist()


def test_the_whole_of_a_name_is_its_last_word(make: Make):
    names = ["load_user", "__init__", "x", "", "größe", "impl Reader for File", "__", "***", "a" * 200, "Straße_2"]
    assert make().wholes(names).tolist() == [token(name_words(name)[-1]) for name in names]


def test_who_knows_too_many_identifiers_starts_anew(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiled_module, "MOST_KNOWN", 10)
    bags = Bags()
    for turn in range(4):
        text = " ".join(f"name{letter}{turn}" for letter in "abcdefghijkl")
        assert words(bags.counted([text], [()]), 0) == expected(text, ())


def test_what_fails_for_want_of_memory_says_so_and_the_next_is_counted(monkeypatch: pytest.MonkeyPatch):
    bags, text = Bags(), "def load_user(self): pass"

    def failing(name: str) -> Callable[[str], str]:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(compiled_module, "stem_of", failing)
        with pytest.raises(MemoryError):
            bags.counted([text], [()])
    assert words(bags.counted([text], [()]), 0) == expected(text, ())


def test_two_threads_may_count_at_the_same_time(make: Make):
    bags, failures = make(), list[BaseException]()

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
